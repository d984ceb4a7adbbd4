"""Families of densities of numbers, each of which has all that it is tested against in one place.

A module ``family_*.py`` beside this one has a table ``REFERENCES``, of a `family` for each of its densities.
"""

from references import Reference, exactly
from references_continuous import draws


def family(
    logpdf, tails, parameters, ends, extreme, invalid, theirs=None, observations=None, drawn=(), scipy=True, **options
):
    """The reference of a density of a number.

    logpdf, tails: functions of mpmath numbers: see `Reference`
    theirs: scipy.stats' distribution of our parameters, from which observations are drawn where `observations` is not given
    scipy: whether `theirs` is scipy.stats' own, and right
    """
    if observations is None:
        observations = draws(theirs)
    return Reference(
        exactly(logpdf), parameters, observations, extreme, invalid, tails=tails, ends=ends, theirs=theirs, drawn=drawn,
        scipy=(lambda x, *p: _log_density(theirs(*p), x)) if scipy and theirs else None, **options,
    )  # fmt: skip


def _log_density(theirs, x):
    return theirs.logpmf(x) if hasattr(theirs.dist, "logpmf") else theirs.logpdf(x)
