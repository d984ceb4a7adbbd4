"""GLMs with random effects: which terms of a linear predictor are random, and how such a model is fitted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..mixed.estimates import MixedEstimates
from .data import Named
from .family import INTERCEPT
from .generalised import generalised_fit
from .linear import linear_fit
from .problem import GLMProblem


def random_terms(names: str | Collection[str], terms: Sequence[Named], n_groups: int | None) -> tuple[str, ...]:
    """Names of random terms; ValueError where there are no such groups."""
    given = (names,) if isinstance(names, str) else tuple(names)
    known = [t.name for t in terms] or [INTERCEPT] * (n_groups is not None)
    for name in given:
        if name not in known:
            raise ValueError(
                f"random has {name!r}, and the GLM has groups for {', '.join(known) or 'none'}: random effects are those of "
                "groups={'name': …}, or of groups without a name, which are of 'alpha'"
            )
    return tuple(n for n in known if n in given)


def fit_mixed(
    glm: Any, plain: GLMProblem, random: tuple[str, ...], reml: bool | None, start: Mapping[str, Any] | None,
    fixed: Mapping[str, Any] | None, bounds: Mapping[str, Any] | None, priors: Mapping[str, Any] | None,
    max_iterations: int, progress: bool,
) -> MixedEstimates:  # fmt: skip
    """Estimates of a GLM whose terms `random` are random effects; `plain` is the one without. See `Fitting.fit`."""
    plain.check()
    given = (dict(start or {}), {**plain.known, **(fixed or {})}, dict(bounds or {}), dict(priors or {}))
    if glm._family.normal:
        return linear_fit(glm, plain, random, reml is None or reml, *given, max_iterations, progress)
    if reml:
        raise ValueError(f"reml=True is of linear models, whose observations are normal, not of {glm._family.density.name}")
    return generalised_fit(glm, plain, random, *given, max_iterations, progress)
