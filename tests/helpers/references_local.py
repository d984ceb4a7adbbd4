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


def joint_design(X, references, candidates, d, g, start, end):
    """The design for several references: the variances at them, after each candidate has been added, as they are defined."""

    def variances(rows):
        solved = np.linalg.solve(matrix(X[rows], X[rows], d) + g * np.eye(len(rows)), k := matrix(X[rows], references, d))
        return (1 - (k * solved).sum(0)).sum()

    design, left = list(candidates[:start]), sorted(candidates[start:])
    while len(design) < end:
        design.append(left.pop(np.argmin([variances([*design, z]) for z in left])))
    return np.array(design)


def mspe(X, y, references, candidates, theta, g, correlation=gaussian, slope=lambda r2: -np.exp(-r2), least=0.0):
    """The mean-squared prediction errors by equations (4) and (5), over references on average, derivatives by complex steps.

    `least`: the part of the expected information that the observed one is at least.
    """

    def derivative(f):
        return f(theta + 1e-30j).imag / 1e-30

    def k(a, b, theta):
        return correlation(((a[:, None] - b) ** 2).sum(-1) / theta)

    def weights(of, at, theta):
        return np.linalg.solve(k(of, of, theta) + g * np.eye(len(of)), k(of, at, theta))

    def variance(of, at, theta):
        return 1 + g - (k(of, at, theta) * weights(of, at, theta)).sum(0)

    def mean(at, theta):
        return y @ weights(X, at, theta)

    def psi(theta):
        return y @ np.linalg.solve(k(X, X, theta) + g * np.eye(j), y)

    def matrix_and_slope(theta):
        r2 = ((X[:, None] - X) ** 2).sum(-1) / theta
        return correlation(r2) + g * np.eye(j), -slope(r2) * r2 / theta

    def slope_of_loglik(theta):
        K, K_slope = matrix_and_slope(theta)
        alpha = np.linalg.solve(K, y)
        return (j * (alpha @ K_slope @ alpha) / (y @ alpha) - np.trace(np.linalg.solve(K, K_slope))) / 2

    j = len(X)
    C = np.linalg.solve(*matrix_and_slope(theta))
    F = max(-derivative(slope_of_loglik), least * (np.trace(C @ C) - np.trace(C) ** 2 / j) / 2)
    V = variance(X, candidates, theta) * psi(theta) / (j - 2)
    V_slope = derivative(lambda t: variance(X, candidates, t) * psi(t) / (j - 2))
    G = F + V_slope**2 / (2 * V**2) + derivative(lambda t: mean(candidates, t)) ** 2 / V
    left = np.array([variance(np.r_[X, z[None]], references, theta).mean() for z in candidates])
    mean_slopes = derivative(lambda t: mean(references, t))
    return (j + 1) * psi(theta) / (j * (j - 1)) * left + (mean_slopes**2).mean() / G


def mspe_design(X, y, x, candidates, theta, g, start, end, *correlation):
    """The design for the location x whose every point makes `mspe` there smallest."""
    design, left = list(candidates[:start]), sorted(candidates[start:])
    while len(design) < end:
        design.append(left.pop(mspe(X[design], y[design], x[None], X[left], theta, g, *correlation).argmin()))
    return np.array(design)


def matrix(a, b, d, correlation=gaussian):
    return correlation(((a[:, None] - b) ** 2 / d).sum(-1))


def loglik(Z, y, d, g, correlation=gaussian):
    """The logarithm of equation (3)."""
    n = len(y)
    factor = linalg.cholesky(matrix(Z, Z, d, correlation) + g * np.eye(n), lower=True)
    psi = (linalg.solve_triangular(factor, y, lower=True) ** 2).sum()
    return special.gammaln(n / 2) - n / 2 * np.log(2 * np.pi) - np.log(np.diag(factor)).sum() - n / 2 * np.log(psi / 2)


def student(Z, y, x, d, g, correlation=gaussian, noise=True):
    """Mean and scale by equations (1) and (2), with the nugget or, of the process, without it."""
    k = matrix(x[None], Z, d, correlation)[0]
    K = matrix(Z, Z, d, correlation) + g * np.eye(len(y))
    psi = y @ linalg.solve(K, y, assume_a="pos")
    solved = linalg.solve(K, k, assume_a="pos")
    return solved @ y, np.sqrt(psi * (1 + noise * g - solved @ k) / len(y))


def joint_student(Z, y, references, d, g, noise=True):
    """Means and scale matrix by equations (1) and (2) at several references."""
    k, K = matrix(references, Z, d), matrix(Z, Z, d) + g * np.eye(len(y))
    process = matrix(references, references, d) - k @ np.linalg.solve(K, k.T)
    psi = y @ np.linalg.solve(K, y)
    return k @ np.linalg.solve(K, y), psi / len(y) * (process + noise * g * np.eye(len(k)))


def check(p, X, y, XX, correlation=gaussian, rtol=1e-9):
    """The predictions and the likelihood follow from designs, lengthscales and nuggets."""
    for i, x in enumerate(XX):
        Z, responses = X[p.indices[i]], (y - y.mean())[p.indices[i]]
        want = student(Z, responses, x, p.d[i], p.g[i], correlation, p.noise)
        np.testing.assert_allclose((p.mean[i] - y.mean(), p.scale[i]), want, rtol=rtol, atol=rtol * np.abs(responses).max())
        np.testing.assert_allclose(p.loglik[i], loglik(Z, responses, p.d[i], p.g[i], correlation), rtol=rtol)


def fixed(value):
    return {"start": value, "mle": False}


#: Joint predictions of laGP 1.5-9, `laGP(…, start=6, end=12, close=40, g=1e-3, lite=FALSE)`; the first six rows of a design
#: are in no order.
_X = [
    [0.129, 0.499], [0.601, 0.029], [0.148, 0.928], [0.07, 0.13], [0.948, 0.622], [0.369, 0.511], [0.663, 0.275],
    [0.138, 0.788],
    [0.67, 0.512], [0.817, 0.549], [0.981, 0.205], [0.554, 0.484], [0.353, 0.592], [0.235, 0.802], [0.867, 0.129],
    [0.467, 0.277],
    [0.083, 0.896], [0.43, 0.148], [0.673, 0.202], [0.901, 0.217], [0.033, 0.201], [0.346, 0.469], [0.906, 0.697],
    [0.339, 0.017],
    [0.16, 0.996], [0.46, 0.691], [0.055, 0.034], [0.846, 0.588], [0.309, 0.317], [0.089, 0.173], [0.025, 0.839],
    [0.466, 0.127],
    [0.739, 0.196], [0.062, 0.598], [0.896, 0.027], [0.805, 0.19], [0.093, 0.018], [0.293, 0.727], [0.493, 0.853],
    [0.217, 0.315],
    [0.258, 0.978], [0.941, 0.341], [0.436, 0.314], [0.747, 0.04], [0.067, 0.404], [0.245, 0.845], [0.742, 0.546],
    [0.661, 0.692],
    [0.781, 0.928], [0.15, 0.626], [0.144, 0.443], [0.786, 0.895], [0.759, 0.035], [0.359, 0.163], [0.999, 0.144],
    [0.244, 0.357],
    [0.061, 0.87], [0.636, 0.16], [0.498, 0.079], [0.611, 0.232],
]  # fmt: skip
_Y = [
    0.8373, 0.1489, 1.5189, 0.3544, -0.6197, 1.2276, -0.075, 1.2579, 0.0736, -0.5166, -0.9329, 0.5546,
    1.3027, 1.5818, -0.9248, 0.8103, 1.2169, 0.8852, -0.1645, -0.9111, 0.2024, 1.1933, -0.5122, 0.9828,
    1.6868, 1.2122, 0.2709, -0.5351, 1.0934, 0.4219, 0.8272, 0.746, -0.4655, 0.6742, -0.9853, -0.7513,
    0.489, 1.5381, 1.3904, 1.0261, 1.901, -0.876, 0.9279, -0.5464, 0.5028, 1.6589, -0.2367, 0.2861,
    0.1665, 1.0586, 0.8582, 0.0824, -0.5943, 1.0179, -0.9334, 1.0729, 1.0591, -0.0218, 0.6094, 0.1304,
]  # fmt: skip
_REFERENCES = [[0.31, 0.42], [0.36, 0.47], [0.43, 0.49], [0.5, 0.55]]


def _lagp(separable, estimate, design, mean, scale, d_found):
    """A case, with the upper triangle of the scale matrix."""
    full = np.zeros((4, 4))
    full[np.triu_indices(4)] = scale
    full += np.triu(full, 1).T
    name = f"{'separable' if separable else 'isotropic'}, {'estimated' if estimate else 'fixed'}"
    return dict(case=name, X=_X, y=_Y, references=_REFERENCES, d=0.4, separable=separable, estimate=estimate,
    design=design,
                mean=mean, scale=full, d_found=d_found)  # fmt: skip


LAGP = [
    _lagp(False, False, [5, 21, 55, 11, 28, 12, 25, 37, 29, 46, 32, 50],
          [1.16951976911, 1.18063634402, 1.05253723107, 0.875760838464],
          [0.00139989382688, 0.000278059953344, 0.000182164594745, 8.24726155886e-06, 0.00139563965065,
           0.000297650379628, 0.000157561642387, 0.00147638729032, 0.000360857479209, 0.00163608844058], 0.4),
    _lagp(False, True, [5, 21, 55, 11, 28, 12, 25, 37, 29, 46, 32, 50],
          [1.17413976226, 1.18462520298, 1.05442002003, 0.870838790824],
          [0.000994957262587, 0.000223625489834, 0.000133564978915, -3.37954241422e-05, 0.000983629249013,
           0.000228463700668, 8.18642839882e-05, 0.00104273509747, 0.000258811844631, 0.00121283552397], 0.30186423),
    _lagp(True, False, [5, 21, 55, 11, 28, 12, 25, 37, 29, 46, 32, 50],
          [1.16951976911, 1.18063634401, 1.05253723107, 0.875760838461],
          [0.00139989382696, 0.000278059953217, 0.000182164594661, 8.24726135682e-06, 0.00139563965055,
           0.00029765037957, 0.000157561642216, 0.00147638729028, 0.000360857479067, 0.00163608844045], [0.4, 0.4]),
    _lagp(True, True, [5, 21, 55, 11, 28, 12, 25, 37, 29, 46, 32, 50],
          [1.17764914636, 1.19481044703, 1.06114367723, 0.873277774841],
          [0.00122235809491, 0.000208123922694, 0.000130571827801, 1.45008315058e-05, 0.00122547645772,
           0.000249446201798, 0.000133385642537, 0.00134705365031, 0.000325474445701, 0.00143715903462],
           [0.281656288146, 2.48507985821]),
]  # fmt: skip
