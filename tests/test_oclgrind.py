"""Every kernel shape on a simulator that reports stray accesses and races, laid out for CPUs and for GPUs."""

import multiprocessing
from pathlib import Path

import pytest
import simulator
from thorough import THOROUGH

import gpustats as gs

needs_oclgrind = pytest.mark.skipif(
    not any("Oclgrind" in device.name for device in gs.devices()),
    reason="no Oclgrind: pip install 'pyopencl[oclgrind]'",
)
#: Processes of their own, forked from one that has imported what takes long, but has touched no device.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["scipy.stats", "pyopencl.array", "mako.lookup", "pycparser"])


def reports(folder, *arguments):
    """What Oclgrind writes while a check runs."""
    process = PROCESSES.Process(target=simulator.on_oclgrind, args=(folder, *arguments))
    process.start()
    process.join()
    found = (folder / "reports").read_text() if (folder / "reports").exists() else ""
    assert process.exitcode == 0, f"{found[:3000]}\n{(folder / 'output').read_text()[-3000:]}"  # a race may change numbers
    return found


@needs_oclgrind
@pytest.mark.parametrize("layout, dtype", [("gpu", "float32"), pytest.param("cpu", "float64", marks=THOROUGH)])
@pytest.mark.parametrize("name", simulator.find())
def test_no_reports(name, layout, dtype, tmp_path):
    assert reports(tmp_path, name, layout, dtype) == ""


@needs_oclgrind
@pytest.mark.parametrize("mistake, report", [("race", "data race"), ("stray", "Invalid write of size 8")])
def test_mistakes_are_reported(mistake, report, tmp_path):
    assert report in reports(tmp_path, mistake, "cpu", "float64")


def test_every_folder_with_templates_has_checks():
    package, tests = Path(gs.__file__).parent, Path(__file__).parent
    folders = {path.parent.relative_to(package) for path in package.rglob("*.mako")}
    assert folders and not [str(folder) for folder in folders if not (tests / folder / "simulated.py").exists()]
