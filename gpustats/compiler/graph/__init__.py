"""PyTensor's side: Ops, a rewrite of graphs, and how code compiled by Numba calls the Ops.

Whoever imports an Op has the rewrite and Numba's code for it too: these two modules register themselves with PyTensor.
"""

from . import numba_link, rewriting  # noqa: F401
