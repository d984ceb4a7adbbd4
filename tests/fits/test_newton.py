"""The damped Newton iteration, on functions that are no likelihoods."""

import numpy as np
import pytest

from gpustats.fits import newton
from gpustats.fits.scales import Scales


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_systems_are_solved_together(n, rng):
    a, b = rng.normal(size=(40, n, n)), rng.normal(size=(40, n))
    a = a @ a.swapaxes(1, 2) - np.eye(n) * rng.choice([0.0, 1.0], 40)[:, None, None]
    x, definite = newton.solve(a, b)
    np.testing.assert_array_equal(definite, np.linalg.eigvalsh(a)[:, 0] > 0)
    np.testing.assert_allclose(x[definite], np.linalg.solve(a, b[..., None])[definite, :, 0], rtol=1e-6)


def rosenbrock(points, sets):
    x, y = points.T
    value = (1 - x) ** 2 + 100 * (y - x * x) ** 2
    gradient = np.stack([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)], -1)
    hessian = np.empty((len(x), 2, 2))
    hessian[:, 0, 0], hessian[:, 1, 1] = 2 - 400 * y + 1200 * x * x, 200
    hessian[:, 0, 1] = hessian[:, 1, 0] = -400 * x
    return newton.Objective(value, gradient, hessian, np.broadcast_to(np.diag([100.0, 200.0]), hessian.shape).copy())


def test_from_anywhere(rng):
    start = rng.normal(0, 3, (50, 2))
    found = newton.Searches(rosenbrock, start, rosenbrock(start, np.arange(50)), np.full(2, np.inf), newton.Precision())
    found.run(200)
    assert (found.status == newton.CONVERGED).all()
    np.testing.assert_allclose(found.points, 1, rtol=1e-7)


def test_a_kink_in_one_direction_leaves_the_others_free():
    def kinked(points, sets):
        x, y = points.T
        value = np.abs(x - 2) + 0.5 * (y - 3 * x) ** 2
        inner = y - 3 * x
        gradient = np.stack([np.sign(x - 2) - 3 * inner, inner], -1)
        hessian = np.broadcast_to(np.array([[9.0, -3.0], [-3.0, 1.0]]), (len(x), 2, 2)).copy()
        return newton.Objective(value, gradient, hessian, np.broadcast_to(np.eye(2), hessian.shape).copy())

    start = np.array([[0.0, 0.0], [9.0, -5.0]])
    found = newton.Searches(kinked, start, kinked(start, np.arange(2)), np.full(2, np.inf), newton.Precision())
    found.run(200)
    assert (found.status == newton.AT_KINK).all()
    np.testing.assert_allclose(found.points, [[2, 6], [2, 6]], rtol=1e-7)


def test_scales_and_their_derivatives():
    scales = Scales([{"positive"}, {"unit"}, {"real"}])
    points = np.array([[-700.0, -40.0, 3.0], [0.5, 0.3, -2.0], [5.0, 30.0, 0.0]])
    values, slopes, bends = scales.back(points)
    np.testing.assert_allclose(scales.to(values)[:, [0, 2]], points[:, [0, 2]], rtol=1e-12)
    np.testing.assert_allclose(scales.to(values)[:2], points[:2], rtol=1e-12)
    step = 1e-5
    above, below = scales.back(points + step), scales.back(points - step)
    np.testing.assert_allclose(slopes, (above[0] - below[0]) / (2 * step), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(bends, (above[1] - below[1]) / (2 * step), rtol=1e-8, atol=1e-11)
