"""Transforms that make a density of a density, written in the users' own language, as ``source`` shows."""

from __future__ import annotations

from collections.abc import Collection

from ..density import Density
from ..language.device_function import Argument
from ..rewriting.distribution_functions import tails_at_bound
from ..runtime.types import Values
from .inner import Inner

__all__ = ["Censor", "Hurdle", "LocScale", "Power", "Truncate", "Weighted", "ZeroInflate"]


def _bounds(inner: Inner, lower: Values | None, upper: Values | None) -> tuple[dict[str, Values], list[Argument]]:
    """Bounds of the call, and the parameters that they become."""
    inner.require_scalar()
    bounds = {name: value for name, value in (("lower", lower), ("upper", upper)) if value is not None}
    if not bounds:
        raise ValueError(f"{inner.transform} needs lower, or upper, or both")
    domain = "extended integer" if inner.density.discrete else "real"
    return bounds, [Argument(name, domain, f"{name} bound") for name in bounds]


def _beyond(inner: Inner, bounds: Collection[str]) -> tuple[str, str, str]:
    """C code that declares the tails beyond the bounds, then the tails at the lower and at the upper bound, as arguments."""
    head, tails = "", {"lower": "-INFINITY, 0", "upper": "0, -INFINITY"}
    for side in bounds:
        names = inner.fresh(f"log_cdf_{side}"), inner.fresh(f"log_sf_{side}")
        at = "lower - 1" if inner.density.discrete and side == "lower" else side
        head += tails_at_bound(side, side, inner.number(side), inner.log_cdf(at), inner.log_sf(at), names)
        tails[side] = ", ".join(names)
    return head, tails["lower"], tails["upper"]


def _returns(*cases: tuple[str, str], otherwise: str) -> str:
    """C statements that return the value of the first condition that holds, without those whose condition is empty."""
    return "".join(f"    if ({when}) return {value};\n" for when, value in cases if when) + f"    return {otherwise};\n"


def _confined(bounds: Collection[str]) -> dict[str, str]:
    """Ends of the support between bounds, as formulas of the ends of the inner support."""
    formulas = {"lower": "fmax({}, lower)", "upper": "fmin({}, upper)"}
    return {end: formula if end in bounds else "{}" for end, formula in formulas.items()}


def Truncate(density: Density, lower: Values | None = None, upper: Values | None = None) -> Density:
    """Density confined to [lower, upper], and normalised anew.

    Parameters
    ----------
    density : Density
        Of a single number, with a function ``name_logcdf`` or ``name_logsf`` (better both: each is accurate in its tail).
    lower, upper : array_like, optional
        The bounds, both inclusive; whole numbers for a discrete density. They become the last parameters of the new
        density, with these values as their defaults: a call may leave them out, or give others. An infinite bound is none.

    Returns
    -------
    Density
        nan unless lower < upper (lower <= upper for a discrete density), and where there is no mass between them.

    Raises
    ------
    NotImplementedError
        Where the density has no distribution function.
    ValueError
        Where it is one of vectors, or has a parameter of the name of a bound.

    Notes
    -----
    Between bounds that are close to one another, where the difference of two distribution functions loses digits, the density
    is integrated by quadrature, and of whole numbers summed up if they are fewer than 64.

    Examples
    --------
    >>> import gpustats as gs
    >>> positive = gs.transforms.Truncate(gs.normal, lower=0.0)
    >>> positive
    <gpustats.normal_truncated(x, mu, sigma, lower)>
    >>> round(float(positive.logpdf(1.0, mu=0.0, sigma=1.0)), 6)
    -0.725791
    >>> round(float(positive.logpdf(1.0, mu=0.0, sigma=1.0, lower=0.5)), 6)
    -0.243027
    """
    inner = Inner("Truncate", density)
    bounds, arguments = _bounds(inner, lower, upper)
    x, discrete, mass = inner.x, density.discrete, inner.fresh("log_mass")
    head, below, above = _beyond(inner, bounds)
    too_low = f"{x} < lower" if "lower" in bounds else ""
    too_high = f"{x} > upper" if "upper" in bounds else ""

    def between(a: str, b: str, below_a: str, at_b: str) -> str:
        """Call of the log-probability between two ends; a missing bound cuts nothing off."""
        free = (a == "lower" and a not in bounds) or (b == "upper" and b not in bounds)
        return f"log_cdf_difference({below_a}, {at_b})" if free else inner.log_between(a, b, below_a, at_b)

    head += f"    real {mass} = {between('lower', 'upper', below, above)};\n"
    empty = [(f"!({mass} > -INFINITY)", "NAN")]
    if len(bounds) == 2:
        empty.insert(0, (f"!(lower {'<=' if discrete else '<'} upper)", "NAN"))
    cases = {
        "density": ("-INFINITY", "-INFINITY", inner.log_density()),
        "logcdf": ("-INFINITY", "0", between("lower", x, below, inner.tails(x))),
        "logsf": ("0", "-INFINITY", between(f"{x} + 1" if discrete else x, "upper", inner.tails(x), above)),
    }
    bodies = {
        ending: head + _returns(*empty, (too_low, low), (too_high, high), otherwise=f"{value} - {mass}")
        for ending, (low, high, value) in cases.items()
    }
    bodies |= inner.numbers(**_confined(bounds))
    return inner.transformed("truncated", "confined to an interval", bodies, last=arguments, defaults=bounds)


def Censor(density: Density, lower: Values | None = None, upper: Values | None = None) -> Density:
    """Density of observations, where values beyond a bound were recorded as the bound.

    At `lower` it is the probability of a value up to there, at `upper` of one from there on, between them the density
    itself, and outside of them 0, as in ``pymc.Censored``.

    Parameters
    ----------
    density : Density
        Of a single number, with a function ``name_logcdf`` or ``name_logsf`` (better both: each is accurate in its tail).
    lower, upper : array_like, optional
        The bounds; whole numbers for a discrete density. They become the last parameters of the new density, with these
        values as their defaults: a call may leave them out, or give others, for example one for each observation. An
        infinite bound is none.

    Returns
    -------
    Density
        nan unless lower < upper.

    Raises
    ------
    NotImplementedError
        Where the density has no distribution function.
    ValueError
        Where it is one of vectors, or has a parameter of the name of a bound.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> lifetime = gs.transforms.Censor(gs.weibull, upper=10.0)  # the study ended after 10 years
    >>> lifetime.logpdf(np.array([2.5, 7.0, 10.0]), alpha=2.0, beta=9.0).round(4)
    array([-2.8622, -2.3603, -1.2346])
    """
    inner = Inner("Censor", density)
    bounds, arguments = _bounds(inner, lower, upper)
    x = inner.x
    invalid = ("!(lower < upper)" if len(bounds) == 2 else "", "NAN")
    low, high = ("lower" in bounds, "upper" in bounds)
    too_low, too_high = f"{x} < lower" * low, f"{x} > upper" * high
    from_upper = inner.log_sf("upper - 1" if density.discrete else "upper")
    # Where all of the support lies beyond a bound, the derivative is 0, and not one at the end of the support.
    at_lower = (f"{x} == lower" * low, f"lower >= {inner.number('upper')} ? 0 : {inner.log_cdf('lower')}")
    at_upper = (f"{x} == upper" * high, f"upper <= {inner.number('lower')} ? 0 : {from_upper}")
    bodies = {
        "density": _returns(
            invalid, (too_low, "-INFINITY"), (too_high, "-INFINITY"), at_lower, at_upper, otherwise=inner.log_density()
        ),
        "logcdf": _returns(invalid, (too_low, "-INFINITY"), (f"{x} >= upper" * high, "0"), otherwise=inner.log_cdf(x)),
        "logsf": _returns(invalid, (too_low, "0"), (f"{x} >= upper" * high, "-INFINITY"), otherwise=inner.log_sf(x)),
    }
    confined = "fmax({}, lower)" if low else "{}"
    bodies |= inner.numbers(**_confined(bounds))
    bodies |= inner.quantiles(f"fmin({confined}, upper)" if high else confined)
    if drawn := inner.sample():
        drawn = f"fmax({drawn}, lower)" if low else drawn
        bodies["sample"] = _returns(invalid, otherwise=f"fmin({drawn}, upper)" if high else drawn)
    return inner.transformed(
        "censored", "recorded between bounds only", bodies, last=arguments, defaults=bounds,
        domain="integer" if density.discrete else "real",
    )  # fmt: skip


def LocScale(density: Density) -> Density:
    """Density of ``loc + scale * z`` where z has the given density.

    Parameters
    ----------
    density : Density
        Continuous, of a single number.

    Returns
    -------
    Density
        With the further parameters ``loc`` (real) and ``scale`` (positive).

    Examples
    --------
    >>> import gpustats as gs
    >>> shifted = gs.transforms.LocScale(gs.gamma)  # the three-parameter gamma distribution
    >>> shifted
    <gpustats.gamma_loc_scale(x, alpha, beta, loc, scale)>
    >>> round(float(shifted.logpdf(3.0, alpha=2.0, beta=1.0, loc=1.0, scale=2.0)), 6)
    -1.693147
    """
    inner = Inner("LocScale", density)
    inner.require_scalar()
    if density.discrete:
        raise inner.refuse("a continuous density")
    z = f"({inner.x} - loc) * (1 / scale)"
    bodies = {"density": f"    return {inner.log_density(z)} - log(scale);\n"}
    if inner.has_tails:
        bodies |= {"logcdf": f"    return {inner.log_cdf(z)};\n", "logsf": f"    return {inner.log_sf(z)};\n"}
    bodies |= inner.stretched("loc", "scale")
    last = [Argument("loc", "real", "location"), Argument("scale", "positive", "scale")]
    return inner.transformed("loc_scale", "moved and stretched", bodies, domain="real", last=last)


def ZeroInflate(density: Density) -> Density:
    """A mixture of zeros and of draws from a discrete density.

    Parameters
    ----------
    density : Density
        Discrete, of a single number.

    Returns
    -------
    Density
        With a further first parameter ``psi`` in [0, 1], the proportion of draws from `density`, as in PyMC.

    Examples
    --------
    >>> import gpustats as gs
    >>> beds = gs.transforms.ZeroInflate(gs.beta_binomial)
    >>> beds
    <gpustats.beta_binomial_zero_inflated(x, psi, alpha, beta, n)>
    >>> round(float(beds.pmf(0, psi=0.75, n=3, alpha=1.0, beta=1.0)), 6)
    0.4375
    """
    inner = Inner("ZeroInflate", density)
    inner.require_scalar()
    if not density.discrete:
        raise inner.refuse("a discrete density")
    x = inner.x

    def mixed(zeros: str, value: str, otherwise: str) -> str:
        """C statement for a mixture of zeros and counts: where `zeros` holds, the zeros count, too."""
        return f"    return {zeros} ? logaddexp(log1p(-psi), log(psi) + {value}) : log(psi) + {otherwise};\n"

    bodies = {"density": mixed(f"{x} == 0", inner.log_density("0"), inner.log_density())}
    if inner.has_tails:
        bodies["logcdf"] = mixed(f"{x} >= 0", inner.log_cdf(x), inner.log_cdf(x))
        bodies["logsf"] = mixed(f"{x} < 0", inner.log_sf(x), inner.log_sf(x))
    if drawn := inner.sample():
        bodies["sample"] = f"    if (uniform({inner.stream}) >= psi) return 0;\n    return {drawn};\n"
    bodies |= inner.numbers(mean="psi * {}", lower="fmin((real)0, {})", upper="fmax((real)0, {})")
    if (mean := inner.number("mean")) and (var := inner.number("var")):
        bodies["var"] = f"    return psi * ({var} + (1 - psi) * {mean} * {mean});\n"
    return _with_zeros(inner, "zero_inflated", "with further zeros", bodies)


def Hurdle(density: Density) -> Density:
    """A mixture of zeros and of draws from a density that are not zero.

    Parameters
    ----------
    density : Density
        Density of a single nonnegative number.

    Returns
    -------
    Density
        With a further first parameter ``psi`` in [0, 1], the proportion of draws from `density`, as in PyMC. Those of a
        discrete one are conditional on not being zero.

    Examples
    --------
    >>> import gpustats as gs
    >>> visits = gs.transforms.Hurdle(gs.poisson)
    >>> visits
    <gpustats.poisson_hurdle(x, psi, mu)>
    >>> visits.pmf([0, 1, 2], psi=0.75, mu=1.0).round(6)
    array([0.25    , 0.436483, 0.218241])
    """
    inner = Inner("Hurdle", density)
    inner.require_scalar()
    x, observed = inner.x, inner.definition.arguments[0]
    if not observed.words & {"positive", "nonnegative", "unit"}:
        raise inner.refuse("a density of nonnegative numbers")
    known = f" - log1mexp({inner.log_density('0')})" if density.discrete else ""  # that a draw is not zero
    bodies = {"density": f"    return {x} == 0 ? log1p(-psi) : log(psi) + {inner.log_density()}{known};\n"}
    if inner.has_tails:
        positive = f"log_cdf_difference({inner.tails('0')}, {inner.tails(x)})" if density.discrete else inner.log_cdf(x)
        bodies["logcdf"] = _returns(
            (f"{x} < 0", "-INFINITY"), otherwise=f"logaddexp(log1p(-psi), log(psi) + {positive}{known})"
        )
        bodies["logsf"] = _returns((f"{x} < 0", "0"), otherwise=f"log(psi) + {inner.log_sf(x)}{known}")
    share = f"(psi / -expm1({inner.log_density('0')}))" if density.discrete else "psi"
    bodies |= inner.numbers(mean=share + " * {}", upper="{}")
    if (mean := inner.number("mean")) and (var := inner.number("var")):
        bodies["var"] = f"    return {share} * ({var} + (1 - {share}) * {mean} * {mean});\n"
    if not density.discrete and (drawn := inner.sample()):
        bodies["sample"] = f"    if (uniform({inner.stream}) >= psi) return 0;\n    return {drawn};\n"
    return _with_zeros(inner, "hurdle", "with zeros of their own", bodies)


def _with_zeros(inner: Inner, suffix: str, description: str, bodies: dict[str, str]) -> Density:
    """Density of draws of the inner one, of which `psi` is the proportion, and of zeros."""
    domain = inner.definition.arguments[0].domain.replace("positive", "nonnegative")
    first = [Argument("psi", "unit", f"proportion of {inner.density.name} draws")]
    return inner.transformed(suffix, description, bodies, domain=domain, first=first)


def Weighted(density: Density) -> Density:
    """A log-density multiplied by a weight: how often an observation counts in a sum.

    Parameters
    ----------
    density : Density
        Density of numbers or of vectors.

    Returns
    -------
    Density
        With a further last parameter ``weight`` (nonnegative). Not normalised. Where the weight is 0 the value is 0, also
        where the density is.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> weighted = gs.transforms.Weighted(gs.normal)
    >>> round(weighted.loglik(np.array([1.0, 2.0]), 0.0, 1.0, weight=np.array([3.0, 0.0])), 6)
    -4.256816
    """
    return _multiplied("Weighted", density, "weighted", "with a weight", "weight")


def Power(density: Density) -> Density:
    """A density raised to a power, for tempering.

    Parameters
    ----------
    density : Density
        Density of numbers or of vectors.

    Returns
    -------
    Density
        With a further last parameter ``power`` (nonnegative). Not normalised. Where the power is 0 the value is 1, also
        where the density is 0.

    Examples
    --------
    >>> import gpustats as gs
    >>> tempered = gs.transforms.Power(gs.exponential)
    >>> round(float(tempered.logpdf(3.0, lam=1.0, power=0.5)), 6)
    -1.5
    """
    return _multiplied("Power", density, "power", "raised to a power", "power")


def _multiplied(transform: str, density: Density, suffix: str, description: str, parameter: str) -> Density:
    inner = Inner(transform, density)
    domain = "vector" if density.definition.arguments[0].rank else "real"
    body = f"    return weighted({parameter}, {inner.log_density()});\n"
    last = [Argument(parameter, "nonnegative", parameter)]
    bodies = {"density": body} | ({} if domain == "vector" else inner.numbers(lower="{}", upper="{}"))
    return inner.transformed(suffix, description, bodies, domain=domain, last=last)
