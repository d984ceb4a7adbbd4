"""`python -m bench.field.sparse`: a logistic regression of 100,000 × 5,000 whose design is 0.2 % full, PyMC's issue 1157.

Recipe: 10 entries in each of 100,000 rows, coefficients from N(0, 0.1): the log-likelihood with its gradient. Besides
that, a hundred times as many rows of 100,000 columns, as designs of click logs and item responses have them.

Source: https://github.com/pymc-devs/pymc/issues/1157 (2016): such a design, of ones, takes 13 MB, and its model for a
while 4 GB, those of the dense one. No time was published.

`bench.sparse` measures it, beside SciPy, JAX (BCOO, and sums of sorted segments) and CuPy; ``--quick`` is a thousandth of
it. An author of CuPy runs ``python -m bench.field.sparse --peer CuPy --only "100,000 × 5,000"``.
"""

from ..sparse import main

if __name__ == "__main__":
    raise SystemExit(main())
