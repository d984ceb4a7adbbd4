"""Every kernel shape on a simulator that reports stray accesses and races, laid out for CPUs and for GPUs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gpustats as gs

pytestmark = pytest.mark.skipif(
    not any("Oclgrind" in device.name for device in gs.devices()),
    reason="no Oclgrind: pip install 'pyopencl[oclgrind]'",
)
SCRIPT = Path(__file__).with_name("oclgrind_shapes.py")
SHAPES = [
    "scalar", "many_blocks", "vectors", "elliptical", "elliptical_large", "gradients", "elliptical_gradients",
    "mixture", "samples", "gather", "discrete_draws", "label_statistics", "glm", "linalg_blocked", "linalg_small",
    "linalg_triangles", "covariance", "local_nearest", "local_design", "local_fit",
]  # fmt: skip


def reports(tmp_path, *arguments):
    """What Oclgrind writes while the script runs."""
    log = tmp_path / "log"
    checks = {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_LOG": str(log)}
    search = os.pathsep.join([str(SCRIPT.parents[1]), str(SCRIPT.with_name("helpers")), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": search, "GPUSTATS_CACHE_DIR": str(tmp_path / "cache"), **checks}
    done = subprocess.run([sys.executable, SCRIPT, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr[-3000:]
    return log.read_text()


@pytest.mark.parametrize("layouts,dtype", [("cpu", "float64"), ("gpu", "float32")])
@pytest.mark.parametrize("shapes", SHAPES)
def test_no_reports(shapes, layouts, dtype, tmp_path):
    assert reports(tmp_path, layouts, shapes, dtype) == ""


@pytest.mark.parametrize("mistake, report", [("race", "data race"), ("stray", "Invalid write of size 8")])
def test_mistakes_are_reported(mistake, report, tmp_path):
    assert report in reports(tmp_path, "cpu", mistake, "float64")
