"""Densities at extreme parameters: what their functions say is compared with one another, and mpmath judges what differs.

`parameters` makes sets of parameters of the domains, `batch` evaluates a density's functions at thousands of them in one
launch, and each of the `properties` tells what cannot be right. What is suspicious goes to the `judge`. It knows the right
value from the references of the tests, or by executing the density's own text with mpmath's numbers (`executed`), and how
much of an error the rounding of the inputs explains. `shrink` makes small what is wrong, `session` shows it.
`python -m tests.sweep --help`.
"""

import sys
from pathlib import Path

HELPERS = str(Path(__file__).parents[1] / "helpers")
if HELPERS not in sys.path:
    sys.path.insert(0, HELPERS)
