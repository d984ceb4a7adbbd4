"""Kernels for `pymc.sample_smc` that evaluate all particles at once.

>>> import numpy as np, pymc as pm, gpustats.pymc as gpm
>>> y = np.random.default_rng(1).normal(3.0, 2.0, 1000)
>>> with pm.Model() as model:
...     _ = pm.Normal("y", pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 5), observed=y)
...     fit = pm.sample_smc(200, kernel=gpm.smc.IMH, chains=1, random_seed=1, progressbar=False)
>>> round(float(fit.posterior["mu"].mean()))
3
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError
from pymc.model import Model, modelcontext
from pymc.smc import kernels
from pytensor.compile.mode import Mode

from .many_points.batched import MIN_ROWS, Batched

if TYPE_CHECKING:
    from pytensor.compile.function.types import Function

__all__ = ["HMC", "IMH", "MH", "OfAllParticles"]

#: Quarter of the period of a trajectory in a standard normal distribution, after which a particle is as far as it gets.
QUARTER_PERIOD = np.pi / 2

_MODE_OF_REPLACED = Mode("py", "None")  # for functions of PyMC's kernels that are replaced


class OfAllParticles:
    """Mixin by which a kernel of PyMC's, which asks for one particle after another, evaluates all at once.

    Parameters
    ----------
    *args, **kwargs
        Arguments of the kernel.
    min_rows : int
        Sums over fewer rows are left to PyTensor: see `gpustats.pymc.batched`.
    compile_kwargs : dict, optional
        Options for `pytensor.function`.
    """

    takes_gradients = False

    def __init__(
        self, *args: object, model: Model | None = None, min_rows: int = MIN_ROWS, compile_kwargs: dict[str, Any] | None = None,
        **kwargs: object,
    ):  # fmt: skip
        model = modelcontext(model)
        many, given, totals = Batched(model, min_rows=min_rows), compile_kwargs or {}, (model.varlogp, model.datalogp)
        if self.takes_gradients:
            many.check_gradient()
        super().__init__(*args, model=model, compile_kwargs={"mode": _MODE_OF_REPLACED}, **kwargs)  # type: ignore[call-arg]
        self._functions = [many.compiled(total, gradient=self.takes_gradients, **given) for total in totals]
        self.prior_logp_func, self.likelihood_logp_func = map(_ByParticle, self._functions)

    def set_rng(self, rng: np.random.Generator) -> None:
        """Take random numbers from a generator.

        Random draws within a log-density, as of minibatches, keep theirs.
        """
        self.rng = rng


class IMH(OfAllParticles, kernels.IMH):
    """Independent Metropolis–Hastings, PyMC's default, with all particles evaluated at once."""


class MH(OfAllParticles, kernels.MH):
    """Random-walk Metropolis–Hastings with all particles evaluated at once."""


class HMC(OfAllParticles, kernels.SMC_KERNEL):
    """Hamiltonian Monte Carlo with all particles evaluated at once, values and gradients in one launch.

    In more than about ten dimensions particles forget where they were in a few trajectories, where those of `MH` and `IMH` need
    hundreds of steps. Trajectories run in coordinates in which the particles of a stage have unit covariance, for about a
    quarter of a normal distribution's period; the step size follows the acceptance rate. (Buchholz, Chopin & Jacob, 2021,
    Adaptive tuning of Hamiltonian Monte Carlo within sequential Monte Carlo, Bayesian Analysis 16:745-771.)

    Parameters
    ----------
    *args, **kwargs
        Arguments of PyMC's kernels, and of `OfAllParticles`.
    target_accept : float
        The acceptance rate that the step size is tuned for, between 0 and 1.
    correlation_threshold : float
        Trajectories follow one another in a stage while the correlations of most variables with the stage's start decrease by
        more than this.
    """

    takes_gradients = True
    stats_dtypes_shapes = kernels.MH.stats_dtypes_shapes

    def __init__(self, *args: object, target_accept: float = 0.8, correlation_threshold: float = 0.01, **kwargs: Any):
        if not 0 < target_accept < 1:
            raise ValueError(f"target_accept is {target_accept}; it is an acceptance rate between 0 and 1")
        self.target_accept, self.correlation_threshold = target_accept, correlation_threshold
        super().__init__(*args, **kwargs)

    def setup_kernel(self) -> None:
        # The mean of equal numbers differs from them by rounding, so that they seem to have a spread.
        equal = iter((self.tempered_posterior == self.tempered_posterior[0]).all(0))
        if alike := [name for name, (_, size) in self.var_info.items() if any([next(equal) for _ in range(size)])]:
            raise ValueError(
                f"all particles begin at the same {', '.join(alike)}, as PyMC lets them where a variable has an initval: "
                "leave it out, or give sample_smc a start with draws of the prior"
            )
        dim = self.tempered_posterior.shape[1]
        self.step_size, self.n_steps, self.acceptance = dim**-0.25, 0, np.zeros(self.draws)

    def tune(self) -> None:
        """Find coordinates in which the particles have unit covariance."""
        covariance = np.atleast_2d(np.cov(self.tempered_posterior, ddof=0, rowvar=False))
        if not np.isfinite(covariance).all():
            raise ValueError("the covariance of the particles is not finite: `draws` may be too small")
        variances = np.diag(covariance)
        if len(variances) < self.draws / 2:
            try:
                self._factor = np.linalg.cholesky(covariance)
                return
            except LinAlgError:
                pass  # the variances alone, as where there are too few particles
        self._factor = np.diag(np.sqrt(np.where(variances > 0, variances, 1.0)))

    def mutate(self) -> None:
        """Move all particles along trajectories, until they have forgotten where they were."""
        start, before, rates = kernels.Pearson(self.tempered_posterior), 2.0, []
        prior, likelihood, slope = self._evaluate(self.tempered_posterior)
        while True:
            rates.append(self._trajectory(prior, likelihood, slope))
            self.step_size *= np.exp(rates[-1].mean() - self.target_accept)
            correlation = start.get(self.tempered_posterior)
            if not np.mean(before - correlation > self.correlation_threshold) > 0.9:
                break
            before = correlation
        self.n_steps, self.acceptance = len(rates), np.mean(rates, axis=0)

    def _evaluate(self, particles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log-densities of the prior and the data, and the gradient of the tempered posterior in the stage's coordinates."""
        (prior, of_prior), (likelihood, of_likelihood) = (term(particles) for term in self._functions)
        return prior, likelihood, (of_prior + self.beta * of_likelihood) @ self._factor

    def _trajectory(self, prior: np.ndarray, likelihood: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Acceptance rates of one trajectory of each particle.

        The arrays are those of the particles, before and after.
        """
        momentum = self.rng.normal(size=slope.shape)
        steps = max(1, round(self.rng.uniform(0.5, 1.5) * QUARTER_PERIOD / self.step_size))
        sizes = self.step_size * self.rng.uniform(0.9, 1.1, (self.draws, 1))
        energy = prior + self.beta * likelihood - 0.5 * (momentum**2).sum(1)
        position, terms = self.tempered_posterior, (prior, likelihood, slope)
        with np.errstate(over="ignore", invalid="ignore"):  # a trajectory that diverges is refused
            for _ in range(steps):
                momentum += 0.5 * sizes * terms[2]
                position = position + (sizes * momentum) @ self._factor.T
                terms = self._evaluate(position)
                momentum += 0.5 * sizes * terms[2]
            gain = terms[0] + self.beta * terms[1] - 0.5 * (momentum**2).sum(1) - energy
        rate = np.where(np.isnan(gain), 0.0, np.exp(np.minimum(gain, 0.0)))
        accepted = self.rng.random(self.draws) < rate
        for array, new in zip((self.tempered_posterior, prior, likelihood, slope), (position, *terms), strict=True):
            array[accepted] = new[accepted]
        self.prior_logp, self.likelihood_logp = prior, likelihood
        self.tempered_posterior_logp = prior + self.beta * likelihood
        return rate

    def sample_stats(self) -> dict[str, object]:
        return {
            "log_marginal_likelihood": self.log_marginal_likelihood if self.beta == 1 else np.nan, "beta": self.beta,
            "mean_accept_rate": self.acceptance.mean(), "mean_proposal_scale": self.step_size,
        }  # fmt: skip

    def sample_settings(self) -> dict[str, object]:
        return {
            "_n_draws": self.draws, "threshold": self.threshold, "_n_tune": self.n_steps,
            "correlation_threshold": self.correlation_threshold,
        }  # fmt: skip


class _ByParticle:
    """Log-density of one particle, known for all rows of an array once a row was asked for.

    `function` takes particles (C, d) and returns log-densities (C,), and perhaps more.
    """

    def __init__(self, function: Function):
        self._function = function
        self._particles, self._values, self._next = np.empty((0, 0)), np.empty(0), 0

    def __call__(self, particle: np.ndarray) -> np.ndarray:
        if not self._is_next(particle):
            self._evaluate(_rows_with(particle))
        if not self._is_next(particle):  # it is not the first of them
            self._evaluate(particle[None])
        self._next += 1
        return self._values[self._next - 1]

    def _evaluate(self, particles: np.ndarray) -> None:
        self._particles, self._next = np.array(particles, np.float64), 0
        self._values, *_ = self._function(self._particles)

    def _is_next(self, particle: np.ndarray) -> bool:
        return self._next < len(self._particles) and np.array_equal(self._particles[self._next], particle)

    def copy(self, **kwargs: object) -> _ByParticle:
        return _ByParticle(self._function.copy())


def _rows_with(particle: np.ndarray) -> np.ndarray:
    """Array of which a particle is a row, if it is one."""
    whole = particle.base
    if isinstance(whole, np.ndarray) and particle.size and not whole.size % particle.size:
        return whole.reshape(-1, particle.size)
    return particle[None]
