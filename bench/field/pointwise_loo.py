"""`python -m bench.field.pointwise_loo`: leave-one-out cross-validation of 2,600,000 rows by 4,000 draws, PyMC's issue 6864.

Recipe: a Gaussian and a logistic model of 17 groups, 2,600,000 rows, and 4,000 draws around the truth; PSIS-LOO with the
Pareto k of each row. A table of the log-likelihoods would take 83 GB.

Source: https://github.com/pymc-devs/pymc/issues/6864 (2023): 2,618,018 rows in 17 groups, whose log-likelihoods take all
of 64 GB and end the process; no time was published. The same in ArviZ: https://github.com/arviz-devs/arviz/issues/2197.

`bench.loo` measures it, beside ArviZ on the first 5,000 rows: ``--n``, ``--draws`` and ``--few`` make it smaller, and an
author of ArviZ runs ``python -m bench.field.pointwise_loo --peer ArviZ --n 1e5``.
"""

from ..loo import main

if __name__ == "__main__":
    raise SystemExit(main())
