"""What local Gaussian processes are compared with: the formulas of Gramacy, Niemi & Weiss (2014) as they stand, in NumPy."""

import numpy as np
from scipy import linalg, special

N, P = 300, 3


def gaussian(r2):
    return np.exp(-r2)


def greedy_design(X, x, candidates, d, g, start, end, correlation=gaussian):
    """The design for the location x by equations (6) and (7), with the inverse of its matrix anew for each point."""

    def k(a, b):
        return correlation(((a[:, None] - b) ** 2 / d).sum(-1))

    design, left = list(candidates[:start]), sorted(candidates[start:])
    while len(design) < end:
        inverse = np.linalg.inv(k(X[design], X[design]) + g * np.eye(len(design)))
        to_candidates, to_x, of_candidates = k(X[design], X[left]), k(X[design], x[None])[:, 0], k(X[left], x[None])[:, 0]
        m = 1 / (1 + g - np.einsum("iz,ij,jz->z", to_candidates, inverse, to_candidates))
        g_j = -m * (inverse @ to_candidates)
        reduction = (to_x @ g_j) ** 2 / m + 2 * (to_x @ g_j) * of_candidates + of_candidates**2 * m
        design.append(left.pop(reduction.argmax()))
    return np.array(design)


def mspe_design(X, y, x, candidates, theta, g, start, end, correlation=gaussian, slope=lambda r2: -np.exp(-r2)):
    """The design for the location x by equations (4) and (5), derivatives by complex steps."""

    def derivative(f):
        return f(theta + 1e-30j).imag / 1e-30

    def k(a, b, theta):
        return correlation(((a[:, None] - b) ** 2).sum(-1) / theta)

    def psi(rows, theta):
        return y[rows] @ np.linalg.solve(k(X[rows], X[rows], theta) + g * np.eye(len(rows)), y[rows])

    def mean_and_variance(rows, at, theta):
        of = k(X[rows], at, theta)
        weights = np.linalg.solve(k(X[rows], X[rows], theta) + g * np.eye(len(rows)), of)
        return y[rows] @ weights, 1 + g - (of * weights).sum(0)

    def slope_of_loglik(rows, theta):
        r2 = ((X[rows, None] - X[rows]) ** 2).sum(-1) / theta
        K, K_slope = correlation(r2) + g * np.eye(len(rows)), -slope(r2) * r2 / theta
        alpha = np.linalg.solve(K, y[rows])
        return (len(rows) * (alpha @ K_slope @ alpha) / (y[rows] @ alpha) - np.trace(np.linalg.solve(K, K_slope))) / 2

    def errors(rows, left):
        j, at = len(rows), X[left]
        F = max(-derivative(lambda t: slope_of_loglik(rows, t)), 0)
        V = mean_and_variance(rows, at, theta)[1] * psi(rows, theta) / (j - 2)
        V_slope = derivative(lambda t: mean_and_variance(rows, at, t)[1] * psi(rows, t) / (j - 2))
        G = F + V_slope**2 / (2 * V**2) + derivative(lambda t: mean_and_variance(rows, at, t)[0]) ** 2 / V
        v = np.array([mean_and_variance([*rows, z], x[None], theta)[1][0] for z in left])
        mean_slope = derivative(lambda t: mean_and_variance(rows, x[None], t)[0])[0]
        return (j + 1) * psi(rows, theta) / (j * (j - 1)) * v + mean_slope**2 / G

    design, left = list(candidates[:start]), sorted(candidates[start:])
    while len(design) < end:
        design.append(left.pop(errors(design, left).argmin()))
    return np.array(design)


def matrix(a, b, d, correlation=gaussian):
    return correlation(((a[:, None] - b) ** 2 / d).sum(-1))


def loglik(Z, y, d, g, correlation=gaussian):
    """The logarithm of equation (3)."""
    n = len(y)
    factor = linalg.cholesky(matrix(Z, Z, d, correlation) + g * np.eye(n), lower=True)
    psi = (linalg.solve_triangular(factor, y, lower=True) ** 2).sum()
    return special.gammaln(n / 2) - n / 2 * np.log(2 * np.pi) - np.log(np.diag(factor)).sum() - n / 2 * np.log(psi / 2)


def student(Z, y, x, d, g, correlation=gaussian):
    """Mean and scale by equations (1) and (2), with the nugget."""
    k = matrix(x[None], Z, d, correlation)[0]
    K = matrix(Z, Z, d, correlation) + g * np.eye(len(y))
    psi = y @ linalg.solve(K, y, assume_a="pos")
    solved = linalg.solve(K, k, assume_a="pos")
    return solved @ y, np.sqrt(psi * (1 + g - solved @ k) / len(y))


def check(p, X, y, XX, correlation=gaussian, rtol=1e-9):
    """The predictions and the likelihood follow from designs, lengthscales and nuggets."""
    for i, x in enumerate(XX):
        Z, responses = X[p.indices[i]], (y - y.mean())[p.indices[i]]
        want = student(Z, responses, x, p.d[i], p.g[i], correlation)
        np.testing.assert_allclose((p.mean[i] - y.mean(), p.scale[i]), want, rtol=rtol, atol=rtol * np.abs(responses).max())
        np.testing.assert_allclose(p.loglik[i], loglik(Z, responses, p.d[i], p.g[i], correlation), rtol=rtol)


def fixed(value):
    return {"start": value, "mle": False}
