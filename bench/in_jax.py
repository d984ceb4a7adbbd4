"""Log-posteriors written in JAX alone, as its own users would for speed, at the points of `gpustats.pymc.batched`.

Sums by group are products with one-hot columns, or sums of sorted segments where groups are many (`bench.jax_groups`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import jax_groups

LOG_2 = float(np.log(2))


def logistic(y: np.ndarray, X: np.ndarray) -> Callable[[Any], Any]:
    import jax.numpy as jnp

    y, X = jnp.asarray(y, float), jnp.asarray(X)

    def log_posterior(point: Any) -> Any:
        eta = point[0] + X @ point[1:]
        return jnp.sum(y * eta - jnp.logaddexp(0.0, eta)) + _normal(point, 0.0, 1.0)

    return log_posterior


def hierarchical(y: np.ndarray, x: np.ndarray, group: np.ndarray) -> Callable[[Any], Any]:
    import jax
    import jax.numpy as jnp

    data = jax_groups.arranged({"y": y, "x": x, "group": group}, ["group"], "one-hot")
    y, x, group = jax.tree.map(jnp.asarray, tuple(data.values()))

    def log_posterior(point: Any) -> Any:
        mean, log_spread, a, slope, log_sigma = point[0], point[1], point[2:-2], point[-2], point[-1]
        priors = _normal(mean, 0.0, 2.0) + _half_normal(log_spread, 1.0) + _normal(slope, 0.0, 1.0)
        priors += _half_normal(log_sigma, 1.0)
        return priors + _normal(a, mean, jnp.exp(log_spread)) + _normal(y, group.of(a) + slope * x, jnp.exp(log_sigma))

    return log_posterior


def mixture(y: np.ndarray) -> Callable[[Any], Any]:
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp

    y = jnp.asarray(y)[:, None]

    def log_posterior(point: Any) -> Any:
        rest, steps, log_sigma = point[:2], point[2:5], point[5:]
        parts = jnp.append(rest, -rest.sum())  # PyMC's simplex: the last is minus the sum of the others
        log_w = parts - logsumexp(parts)
        mu, sigma = jnp.cumsum(jnp.append(steps[0], jnp.exp(steps[1:]))), jnp.exp(log_sigma)
        z = (y - mu) / sigma
        terms = logsumexp(log_w - 0.5 * z * z - log_sigma - 0.5 * np.log(2 * np.pi), axis=1)
        jacobian = 3 * jnp.log(jnp.exp(log_w).prod() ** (1 / 3)) + np.log(3) + steps[1:].sum()
        return jnp.sum(terms) + LOG_2 + jacobian + _normal(mu, 0.0, 5.0) + _half_normal(log_sigma, 2.0)

    return log_posterior


def item_response(y: np.ndarray, person: np.ndarray, item: np.ndarray) -> Callable[[Any], Any]:
    import jax
    import jax.numpy as jnp

    n_people = int(person.max()) + 1
    data = jax_groups.arranged({"y": y.astype(float), "person": person, "item": item}, ["person", "item"], "segments")
    y, person, item = jax.tree.map(jnp.asarray, tuple(data.values()))

    def log_posterior(point: Any) -> Any:
        ability, difficulty = point[:n_people], point[n_people:]
        eta = person.of(ability) - item.of(difficulty)
        return jnp.sum(y * eta - jnp.logaddexp(0.0, eta)) + _normal(ability, 0.0, 1.0) + _normal(difficulty, 0.0, 2.0)

    return log_posterior


def student_t(y: np.ndarray) -> Callable[[Any], Any]:
    import jax.numpy as jnp
    from jax.scipy.stats import gamma, t

    y = jnp.asarray(y)

    def log_posterior(point: Any) -> Any:
        nu, sigma = jnp.exp(point[0]), jnp.exp(point[2])
        priors = gamma.logpdf(nu, 2.0, scale=10.0) + point[0] + _normal(point[1], 0.0, 10.0) + _half_normal(point[2], 5.0)
        return priors + jnp.sum(t.logpdf(y, nu, point[1], sigma))

    return log_posterior


def _normal(x: Any, mean: Any, sd: Any) -> Any:
    import jax.numpy as jnp

    z = (x - mean) / sd
    return jnp.sum(-0.5 * z * z - jnp.log(sd) - 0.5 * np.log(2 * np.pi))


def _half_normal(log_x: Any, sd: float) -> Any:
    """Density of the logarithm."""
    import jax.numpy as jnp

    return _normal(jnp.exp(log_x), 0.0, sd) + jnp.sum(LOG_2 + log_x)
