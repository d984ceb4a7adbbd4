"""PyTensor's side: Ops, a rewrite of graphs, and how code compiled by Numba calls the Ops.

Whoever imports an Op has the rewrite, its form for many sets and Numba's code for it, too: these modules register
themselves with PyTensor.
"""

from . import numba_link, rewriting, sets  # noqa: F401
