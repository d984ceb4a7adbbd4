"""The benches of the fields: their data, their scores, and each of them at a small size."""

import importlib
import json

import numpy as np
import pytest
from scipy import integrate, stats
from thorough import THOROUGH

from bench.field import grids, heaton

PROCESSES = ["heaton", "matern_fields", "stan_glm"]


def test_processes_on_grids_have_their_covariance():
    shape, spacing, covariance = (5, 7), (0.2, 0.1), grids.matern(1.5, 1.3, 0.4)
    found = np.fft.ifft2(grids.eigenvalues(shape, spacing, covariance)).real[:5, :7]
    y, x = (h * places for h, places in zip(spacing, np.indices(shape)))
    np.testing.assert_allclose(found, covariance(np.hypot(y, x)), rtol=1e-8, atol=1e-8)
    draw = grids.drawn((300, 300), (0.5, 0.5), covariance, np.random.default_rng(1))
    for step in (0, 1):
        product = np.mean(draw[step:, step:] * draw[: 300 - step, : 300 - step])
        assert product == pytest.approx(float(covariance(step * 0.5**0.5)), abs=0.03)


def test_a_covariance_that_reaches_too_far_is_refused():
    with pytest.raises(ValueError, match="reaches too far for a grid of"):
        grids.drawn((4, 4), (1.0, 1.0), grids.matern(1.5, 1.0, 1e3), np.random.default_rng(1))


def test_scores_are_those_of_normal_predictions():
    truth, mean, sd = np.array([0.3, 2.0, -4.0]), np.array([0.0, 1.5, 0.0]), np.array([1.0, 0.5, 2.0])
    normal = stats.norm(mean, sd)
    low, high = normal.interval(0.95)
    found = grids.scores(truth, mean, sd, low, high)
    steps = np.linspace(-30, 30, 200_001)
    squares = [(stats.norm(m, s).cdf(steps) - (steps >= t)) ** 2 for m, s, t in zip(mean, sd, truth)]
    assert found["crps"] == pytest.approx(np.mean(integrate.trapezoid(squares, steps)), abs=1e-3)
    assert found["coverage"] == pytest.approx(2 / 3)
    assert found["interval_score"] == pytest.approx(np.mean(high - low) + 40 * (low[2] - truth[2]) / 3)


def test_the_study_s_files_are_read(tmp_path):
    path = tmp_path / "sat.csv"
    path.write_text('"Lon","Lat","MaskTemp","TrueTemp"\n-95.9,37,NA,43\n-95.8,37,44,44\n-95.7,37,NA,NA\n-95.6,36,41.5,41.5\n')
    data = heaton.read(path)
    assert data.y.tolist() == [44, 41.5] and data.x.tolist() == [[-95.8, 37], [-95.6, 36]]
    assert data.truth.tolist() == [43] and data.new.tolist() == [[-95.9, 37]]


def test_data_that_are_drawn_have_the_study_s_shares():
    data = heaton.simulated(100)
    assert len(data.y) + len(data.truth) == 6000 and len(data.y) == pytest.approx(6000 * 105_569 / 150_000, abs=1)
    assert abs(np.mean(data.y) - heaton.MEAN) < 4 * heaton.VARIANCE**0.5


@THOROUGH
@pytest.mark.parametrize("name", PROCESSES)
def test_a_bench_at_a_small_size(name, tmp_path):
    assert importlib.import_module(f"bench.field.{name}").main(["--quick", "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.glob("*.json")
    rows = json.loads(path.read_text())["rows"]
    assert rows and all("error" not in row for row in rows)
    if "coverage" in rows[0]:
        assert all(0.85 < row["coverage"] <= 1 for row in rows)


@THOROUGH
def test_eight_schools_have_the_means_of_posteriordb(tmp_path):
    posteriordb = pytest.importorskip("bench.field.posteriordb")
    pytest.importorskip("nutpie")
    assert posteriordb.main(["--draws", "500", "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.glob("*.json")
    (row,) = json.loads(path.read_text())["rows"]
    assert row["n_means"] == 10 and row["z"] < 4.5


@THOROUGH
def test_groups_are_sampled_in_all_ways(tmp_path):
    for module in ("jax", "numpyro", "nutpie"):
        pytest.importorskip(module)
    bench = pytest.importorskip("bench.field.hierarchical_logistic")
    assert bench.main(["--quick", "--peer", "gpustats in NumPyro", "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.glob("*.json")
    rows = json.loads(path.read_text())["rows"]
    assert [row["peer"] for row in rows] == ["gpustats", "gpustats in NumPyro"]
    assert all(row["gradient_us"] > 0 and row["steps"] >= 1 and row["sampling_s"] > 0 for row in rows)
