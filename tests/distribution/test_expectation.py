"""Means of Python functions."""

import math

import numpy as np
import pytest
from scipy import stats

import gpustats as gs


def test_expect():
    normal, geometric = gs.normal(1.0, 2.0), gs.geometric(0.5)
    assert normal.expect(lambda x: (x - 1) ** 4) == pytest.approx(48, rel=1e-12)
    assert normal.expect(lambda x: 1.0) == pytest.approx(1, rel=1e-13)
    assert normal.expect(np.abs) == pytest.approx(stats.foldnorm(0.5, scale=2).mean(), rel=1e-12)
    assert normal.expect(lambda x: x, lb=1) == pytest.approx(0.5 + 2 / math.sqrt(2 * math.pi), rel=1e-12)
    assert normal.expect(lambda x: x, lb=1, ub=0) == 0
    assert gs.pareto.expect(lambda x: x, 0.5, 1.0) == np.inf
    assert math.isnan(gs.normal.expect(np.cos, 0.0, -1.0))
    assert geometric.expect(lambda k: k * 1.0) == pytest.approx(2, rel=1e-13)
    assert geometric.expect(lambda k: k, lb=1.5, ub=3) == pytest.approx(2 / 4 + 3 / 8, rel=1e-13)
    with pytest.raises(ValueError, match="must be elementwise"):
        normal.expect(lambda x: x[:1])
    with pytest.raises(ValueError, match="one set of parameters"):
        gs.normal.expect(np.cos, [0.0, 1.0], 1.0)
