"""`python -m bench.field.lagp`: a million points of the borehole function by local Gaussian processes.

Recipe: N points of a Latin hypercube of 8 columns with the responses of the borehole function, and as many others to
predict, each by a design of its own, of 60 of the 5,772 nearest points for N = 1,024,000, fewer for fewer.

Source: Gramacy, Niemi & Weiss (2014), Massively parallel approximate Gaussian process regression, SIAM/ASA Journal on
Uncertainty Quantification 2, 564-584, table 1: 2,790 s on 96 nodes with 1,536 cores, 13,694 s on 5 nodes with 10 GPUs and
80 cores, mean squared errors of 0.26 and 0.27.

`bench.local_gp` measures it; ``--n 4000`` makes it smaller. An author of laGP runs there, in R,
``aGP(X, Z, XX, start = 6, end = 60, close = 5772, method = "alc", omp.threads = 16)``.
"""

from ..local_gp import main

if __name__ == "__main__":
    raise SystemExit(main())
