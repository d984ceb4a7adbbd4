"""Families of densities of numbers, each of which has all that it is tested against in one place.

A module ``family_*.py`` beside this one has a table ``REFERENCES``, of a `family` for each of its densities.
"""

import numpy as np
from references import Reference, exactly
from references_continuous import draws
from scipy import special


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


class Corrected:
    """A frozen distribution of scipy.stats whose own moments, or entropy, are wrong or not accurate.

    heavy: its means of x^order are infinite from this order on
    entropy: a function that gives the entropy, where its quantiles are wrong, too
    """

    def __init__(self, distribution, heavy=np.inf, entropy=None):
        self.distribution, self.heavy, self.entropy = distribution, heavy, entropy or self._entropy

    def __getattr__(self, name):
        return getattr(self.distribution, name)

    def stats(self, moments):
        with np.errstate(all="ignore"):
            found = np.array(self.distribution.stats(moments))
        each = found if len(moments) > 1 else found[None]
        for i, letter in enumerate(moments):
            each[i] = np.where((letter in "mv") & (self.heavy <= "mv".find(letter) + 1), np.inf, each[i])
        return tuple(each) if len(moments) > 1 else each[0]

    def _entropy(self):
        """The mean of -log(density) over quantiles, by the trapezoidal rule in the logit of their probabilities."""
        s = np.linspace(-45, 45, 4501)[:, None]
        x = np.where(s < 0, self.distribution.ppf(special.expit(s)), self.distribution.isf(special.expit(-s)))
        return -np.sum(self.distribution.logpdf(x) * special.expit(s) * special.expit(-s), 0) * 0.02


class Slow:
    """A frozen distribution whose distribution function takes long: of many numbers it is interpolated between 400 of them."""

    def __init__(self, distribution):
        self.distribution = distribution

    def __getattr__(self, name):
        return getattr(self.distribution, name)

    def cdf(self, x):
        if np.size(x) < 1000:
            return self.distribution.cdf(x)
        points = np.unique(np.quantile(x, np.linspace(0, 1, 400)))
        return np.interp(x, points, self.distribution.cdf(points))
