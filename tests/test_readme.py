"""What the README says is so, and it stays short."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import gpustats as gs

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECONDS = {"µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0}
MEASURED = {  # file in bench/results -> the work whose times the README tells
    "densities-nvidia-h200-cuda": "student_t Σ+∇, N=1e7 f64",
    "glm-nvidia-h200-cuda": "Σ+∇, N=1e6 k=200 f64",
    "field-hierarchical-logistic-nvidia-h200-cuda": "900 groups, N=100,000, 1,000 + 2,000 draws",
    "densities-amd-epyc-opencl": "gamma N×K, N=1e6 K=8 f64",
}


def test_it_is_read_in_two_minutes():
    assert len(README.splitlines()) <= 150


def test_its_example_runs():
    """With few data, beside SciPy."""
    (block,) = re.findall(r"```python\n(.*?)```", README, re.S)
    names = {}
    exec(block.replace("1_000_000", "1_000"), names)
    x, lik = names["x"], names["lik"]
    expected = stats.nbinom.logpmf(x, 2.0, 2.0 / 5.0).sum()
    np.testing.assert_allclose(lik(3.0, 2.0), expected, rtol=1e-12)
    np.testing.assert_allclose(gs.densities["visits"].loglik(x, 3.0, 2.0), expected, rtol=1e-12)
    value, slopes = lik.value_and_grad(3.0, 2.0)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(slopes["mu"], (x / 3.0 - (x + 2.0) / 5.0).sum(), rtol=1e-9)


@pytest.mark.parametrize("name", MEASURED)
def test_its_times_are_those_of_the_files(name):
    """Each time of the row that links to a file is in that file, to its three digits."""
    (row,) = (line for line in README.splitlines() if f"bench/results/{name}.json" in line)
    _, ours, theirs, device, _ = (cell.strip() for cell in row.strip("|").split("|"))
    told = {"gpustats": ours} | dict(re.fullmatch(r"(.+) (\S+ \S+)", cell).groups() for cell in theirs.split(", "))
    file = json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text(encoding="utf-8"))
    assert file["devices"][0]["name"] in device
    rows = (row for row in file["rows"] if row["work"] == MEASURED[name])
    measured = {row["peer"].removesuffix(", by hand").replace(", float32", " (float32)"): row for row in rows}
    for peer, time in told.items():
        number, unit = time.split()
        row = measured[peer]
        seconds = row[row["time"]] * SECONDS[row["time"].rpartition("_")[2]]
        assert float(number) * SECONDS[unit] == pytest.approx(seconds, rel=5e-3)
