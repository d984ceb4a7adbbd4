"""Vecchia's approximation with dense matrices of NumPy."""

import numpy as np


def loglik(K, residual, order, neighbours):
    """The sum of the log-densities of `residual`, each given those of its neighbours, whose covariance matrix is K.

    `neighbours` has for each row those before it, -1 where there are fewer.
    """
    total = 0.0
    for i in order:
        c = neighbours[i][neighbours[i] >= 0]
        weights = np.linalg.solve(K[np.ix_(c, c)], K[c, i])
        variance = K[i, i] - weights @ K[c, i]
        total -= 0.5 * (np.log(2 * np.pi * variance) + (residual[i] - weights @ residual[c]) ** 2 / variance)
    return total


def earlier(x, order, m):
    """For each row of x the m nearest of those before it in an order, nearest first: (n, m)."""
    found = np.full((len(x), m), -1)
    for k, i in enumerate(order):
        before = order[:k]
        nearest = before[np.argsort(((x[before] - x[i]) ** 2).sum(1), kind="stable")[:m]]
        found[i, : len(nearest)] = nearest
    return found


def predictions(K, residual, across, prior, nearest):
    """Means and variances of new points given their nearest observations; `across`: covariances with all of these."""
    means, variances = [], []
    for k, own, c in zip(across, prior, nearest, strict=True):
        weights = np.linalg.solve(K[np.ix_(c, c)], k[c])
        means.append(weights @ residual[c])
        variances.append(own - weights @ k[c])
    return np.array(means), np.array(variances)
