"""`python -m bench.field.gibbs`: a sweep of the Gibbs sampler of a Gaussian mixture, for which gpustats of 2011 was written.

Recipe: N = 1,000,000 observations of d = 15 numbers, K = 64 components with covariances of their own; a sweep draws
labels, counts, means and scatter matrices on the device, and weights, means and covariances on the host. float32, as it
was then, and float64.

Source: Suchard, Wang, Chan, Frelinger, Cron & West (2010), Understanding GPU programming for statistical computation:
studies in massively parallel massive mixtures, Journal of Computational and Graphical Statistics 19, 419-438: flow
cytometry. Its speed-ups are those over CPUs of its time, which compare with nothing that runs today.

`bench.gibbs` measures it, beside NumPy, JAX (one-hot, and segments) and PyTorch; ``--n``, ``--dim`` and ``--components``
make it smaller. An author of JAX runs ``python -m bench.field.gibbs --peer JAX``.
"""

from ..gibbs import main

if __name__ == "__main__":
    raise SystemExit(main())
