"""`gpustats doctor`: what it finds, what it misses, and that its checks can fail."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from thorough import some

import gpustats as gs
from gpustats.commands import doctor, findings, self_test
from gpustats.commands.cli import main
from gpustats.runtime import choose, cuda_wheels, nvrtc

REQUIRES = [
    "numpy>=2",
    "mako",
    'intel-opencl-rt>=2025; ((sys_platform == "linux" and platform_machine == "x86_64") or '
    '(sys_platform == "win32" and platform_machine == "AMD64")) and extra == "cpu"',
    "cuda-bindings<14,>=13; extra == 'cuda13'",
    "nvmath-python>=0.7; extra == 'cuda13'",
    "cuda-bindings<13,>=12.9; extra == 'cuda12'",
    "nvmath-python>=0.7; extra == 'cuda12'",
    "pymc>=5.28; extra == 'pymc'",
    "nutpie>=0.16; extra == 'pymc'",
    "dask[array]; extra == 'dask'",
    "gpustats[cpu,pymc,dask]; extra == 'all'",
]


@pytest.fixture
def runtime():
    return choose.get()


@pytest.fixture
def machine(monkeypatch):
    """A machine with all packages and no GPU; a test takes away, and adds."""
    versions = {"numpy": "2.4.1", "mako": "1.3", "intel-opencl-rt": "2026.0"}
    versions |= {"pymc": "5.28.5", "nutpie": "0.16.1", "dask": "2026.8"}
    monkeypatch.setattr(findings.metadata, "requires", lambda package: REQUIRES)
    monkeypatch.setattr(findings, "version_of", lambda package: versions.get(package, ""))
    monkeypatch.setattr(findings, "cuda_driver", lambda: (None, "there is no libcuda.so.1", []))
    monkeypatch.setattr(findings, "nvidia_card", lambda: False)
    monkeypatch.setattr(findings, "pycuda_fails", lambda: "")
    monkeypatch.setattr(cuda_wheels, "installed", lambda: {n: v for n, v in versions.items() if cuda_wheels._NAME.fullmatch(n)})
    monkeypatch.setattr(cuda_wheels, "library", lambda name: (f"/lib{name}.so", ""))
    monkeypatch.setattr(nvrtc, "least_capability", lambda: 75)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return versions


def lacks(extra):
    return [lack for lack in findings.look().lacks if lack.extra == extra]


WHEELS_13 = {
    "cuda-bindings": "13.5.0", "nvmath-python": "1.0.0",
    "nvidia-cublas": "13.10.0", "nvidia-cuda-nvrtc": "13.5.37", "nvidia-cusolver": "12.4.1",
}  # fmt: skip
WHEELS_12 = {
    "cuda-bindings": "12.9.10", "nvmath-python": "1.0.0",
    "nvidia-cublas-cu12": "12.9.3", "nvidia-cuda-nvrtc-cu12": "12.9.86", "nvidia-cusolver-cu12": "11.7.5",
}  # fmt: skip
UNINSTALL_13 = "pip uninstall -y nvidia-cublas nvidia-cuda-nvrtc nvidia-cusolver"


def with_driver(monkeypatch, version, *cards):
    monkeypatch.setattr(findings, "cuda_driver", lambda: (version, "", list(cards or [("NVIDIA H100", (9, 0))])))


def test_the_report_of_this_machine(runtime, capsys):
    status = main(["doctor", "--json", "--device", runtime.device.id])
    report = json.loads(capsys.readouterr().out)
    assert [(c["check"], c["error"]) for c in report["checks"]] == [(name, "") for name in self_test.CHECKS]
    assert [d["id"] for d in report["devices"]] == [runtime.device.id]
    if findings.requirements():  # else the package is not installed, but imported from a folder
        assert {"what": "numpy", "version": np.__version__, "note": ""} in report["found"]
    assert (status, report["ok"]) == (0, True)


def test_all_that_is_wrong_is_shown(machine, monkeypatch, runtime, capsys):
    del machine["mako"], machine["pymc"]
    outcomes = [doctor.Outcome(runtime.device.id, name, 0.25, "") for name in self_test.CHECKS]
    outcomes[1] = doctor.Outcome(runtime.device.id, "sum with its gradient", 0.5, "AssertionError: 3 is not 4")
    monkeypatch.setattr(doctor, "tested", lambda device: outcomes[:-1])
    assert main(["doctor", "--device", runtime.device.id]) == 1
    shown = capsys.readouterr().out
    assert "missing: mako is not installed\n    pip install --upgrade 'mako'" in shown
    assert "missing for [pymc]: pymc is not installed\n    pip install 'gpustats[pymc]'" in shown
    assert "ok, 0.2 s" in shown and "FAILED" in shown and "not run" in shown
    assert f"{runtime.device.id}: sum with its gradient: AssertionError: 3 is not 4" in shown
    assert shown.endswith("not all is well\n")


def test_no_device(machine, monkeypatch, capsys):
    def backend(name):
        raise ImportError(f"{name} is hidden")

    monkeypatch.setattr(choose, "_backend", backend)
    assert main(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert "nothing was tested\ncuda: cuda is hidden\nopencl: opencl is hidden" in shown
    assert main(["doctor", "--device", "gpu"]) == 1
    shown = capsys.readouterr().out
    assert "nothing was tested\nno device to compute on\n  cuda: cuda is hidden" in shown and "numpy" in shown


def test_simulators_are_tested_only_when_named(machine, monkeypatch, runtime):
    simulator = gs.devices()[0].__class__(**{**vars(runtime.device), "id": "opencl:9", "name": "Oclgrind Simulator"})
    monkeypatch.setattr(choose, "look", lambda: ([simulator, runtime.device], []))
    monkeypatch.setattr(doctor, "tested", lambda device: [])
    assert [device.id for device in doctor.examine().devices] == [runtime.device.id]


def test_a_clean_installation_for_a_cpu_has_nothing_to_complain_of(machine, monkeypatch, tmp_path):
    (tmp_path / "intel-cpu.icd").write_text("/opt/anaconda1anaconda2anaconda3/lib/libintelocl.so")  # as Intel's wheel brings it
    monkeypatch.setattr(findings.icd, "SYSTEM", (tmp_path,))
    monkeypatch.setattr(findings.icd, "intel_runtime", lambda: tmp_path / "libintelocl.so")
    found = findings.look()
    assert not found.lacks
    assert [(f.what, f.note) for f in found.found if not f.version] == []
    monkeypatch.setattr(findings.icd, "intel_runtime", lambda: None)
    assert [f.what for f in findings.look().found if not f.version] == ["OpenCL driver"]


def test_packages(machine):
    assert {lack.extra for lack in findings.look().lacks} <= {"cpu"}  # which is that of the machine of the tests
    machine["numpy"] = "1.26.4"
    (lack,) = lacks("")
    assert (lack.why, lack.cure) == ("numpy 1.26.4 is older than 2", "pip install --upgrade 'numpy>=2'")


@pytest.mark.parametrize("package", some(["scipy", "rich", "pycparser"], 2))
def test_it_tells_of_what_the_command_line_itself_needs(package):
    code = f"""
import sys
sys.modules[{package!r}] = None
from gpustats.commands import cli, findings
there = findings.version_of
findings.version_of = lambda name: "" if name == {package!r} else there(name)
findings.metadata.requires = lambda package: ["numpy", {package!r}]
sys.exit(cli.main(["doctor", "--device", "cuda:99"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"missing: {package} is not installed\n    pip install --upgrade '{package}'" in done.stdout


def test_without_its_metadata(machine, monkeypatch):
    def requires(package):
        raise findings.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(findings.metadata, "requires", requires)
    assert any(f.what == "requirements" and "not installed" in f.note for f in findings.look().found)


@pytest.mark.parametrize(
    "system, processor, there", [("linux", "x86_64", True), ("win32", "AMD64", True), ("linux", "aarch64", False)]
)
def test_intels_runtime_is_required_where_it_is_published(system, processor, there, machine, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(findings.platform, "machine", lambda: processor)
    assert ("cpu" in findings.requirements()) == there
    monkeypatch.setattr("gpustats.runtime.opencl_devices.cl_devices", lambda: [])
    monkeypatch.setattr(findings.icd, "intel_runtime", lambda: None)
    (lack,) = lacks("cpu")
    assert ("gpustats[cpu]" if there else "pocl") in lack.cure


def test_a_runtime_that_is_hidden(machine, monkeypatch, tmp_path):
    monkeypatch.setattr("gpustats.runtime.opencl_devices.cl_devices", lambda: [])
    monkeypatch.setattr(findings.icd, "intel_runtime", lambda: tmp_path)
    monkeypatch.setattr(findings.icd, "missing", lambda: None)
    (tmp_path / "gone.icd").write_text(str(tmp_path / "gone.so"))
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    (lack,) = lacks("cpu")
    assert lack.cure == "unset OCL_ICD_VENDORS"
    assert any("gone.so, no such file" in found.note for found in findings.look().found)


@pytest.mark.parametrize(
    "version, capability, extra", [(13000, (9, 0), "cuda13"), (12080, (9, 0), "cuda12"), (13000, (7, 0), "cuda12")]
)
def test_a_driver_without_wheels(version, capability, extra, machine, monkeypatch):
    with_driver(monkeypatch, version, ("a card", capability))
    monkeypatch.setattr(nvrtc, "least_capability", lambda: None)
    (lack,) = lacks(extra)
    assert lack.why == "cuda-bindings is not installed; nvmath-python is not installed"
    assert lack.cure == f"pip install 'gpustats[{extra}]'"


@pytest.mark.parametrize("wheels", [WHEELS_12, WHEELS_13])
@pytest.mark.parametrize("beside", [{}, {"nvidia-cublas-cu12": "12.8.4", "nvidia-cuda-nvrtc-cu12": "12.8.93"}])  # of a PyTorch
def test_what_cuda_needs_is_there(wheels, beside, machine, monkeypatch):
    machine.update(beside | wheels)
    with_driver(monkeypatch, 13000)
    monkeypatch.setattr("gpustats.runtime.opencl_devices.cl_devices", lambda: [])
    for package in ("pymc", "nutpie", "dask", "intel-opencl-rt"):
        del machine[package]
    assert not findings.look().lacks
    assert {"cuda-bindings", "NVRTC", "cuBLAS", "cuSOLVER"} <= {f.what for f in findings.look().found if f.version}


def test_a_driver_that_is_too_old_for_the_wheels(machine, monkeypatch):
    machine.update(WHEELS_13)
    with_driver(monkeypatch, 12080)
    (lack,) = lacks("cuda12")
    assert "the NVIDIA driver serves CUDA 12.8, and the wheels in this environment are of CUDA 13.5" in lack.why
    assert "install a driver of CUDA 13 (580 or later on Linux)" in lack.why
    assert lack.cure == f"{UNINSTALL_13}\npip install 'gpustats[cuda12]'"  # newer libraries would be found first


def test_newer_libraries_beside_the_bindings(machine, monkeypatch):
    machine.update(WHEELS_13 | WHEELS_12)
    with_driver(monkeypatch, 13000)
    assert not lacks("cuda13")  # this driver serves what is loaded
    with_driver(monkeypatch, 12080)
    (lack,) = lacks("cuda12")
    assert "cuda-bindings 12.9.10 is of CUDA 12, and libraries of CUDA 13 would be loaded (nvidia-cublas 13.10.0" in lack.why
    assert lack.cure == f"{UNINSTALL_13}\npip install 'gpustats[cuda12]'"


def test_libraries_older_than_the_bindings(machine, monkeypatch):
    machine.update(WHEELS_12 | {"cuda-bindings": "13.5.0"})
    with_driver(monkeypatch, 13000)
    (lack,) = lacks("cuda13")
    assert "cuda-bindings 13.5.0 is of CUDA 13, and libraries of CUDA 12 would be loaded" in lack.why
    assert lack.cure == "pip install 'gpustats[cuda13]'"


def test_a_library_that_is_missing(machine, monkeypatch):
    machine.update(WHEELS_13)
    with_driver(monkeypatch, 13000)
    monkeypatch.setattr(cuda_wheels, "library", lambda name: ("", "No such file") if name == "cublas" else ("/lib.so", ""))
    (lack,) = lacks("cuda13")
    assert (lack.why, lack.cure) == ("cuBLAS is not found: No such file", "pip install 'gpustats[cuda13]'")


def test_devices_that_are_too_old(machine, monkeypatch):
    machine.update(WHEELS_13)
    with_driver(monkeypatch, 13000, ("Tesla V100", (7, 0)))
    (lack,) = lacks("cuda12")
    assert "Tesla V100 has compute capability 7.0, and the NVRTC in this environment compiles for 7.5 or later" in lack.why
    assert lack.cure == f"{UNINSTALL_13}\npip install 'gpustats[cuda12]'"
    with_driver(monkeypatch, 13000, ("Tesla K80", (3, 7)))
    (lack,) = lacks("cuda13")
    assert lack.why == "Tesla K80 has compute capability 3.7, and gpustats needs 5.0 or later: use NVIDIA's OpenCL driver"
    assert "pip" not in lack.cure


def test_a_driver_without_a_device(machine, monkeypatch):
    monkeypatch.setattr(findings, "cuda_driver", lambda: (13000, "", []))
    assert not lacks("cuda13")  # libcuda.so.1 may be there for other programs
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    (lack,) = lacks("cuda13")
    assert lack.why.startswith("the NVIDIA driver, which serves CUDA 13.0, finds no device: unset CUDA_VISIBLE_DEVICES")


def test_pycuda_is_optional(machine, monkeypatch):
    assert not any("PyCUDA" in found.what for found in findings.look().found)
    machine["pycuda"] = "2026.1"
    monkeypatch.setattr(findings, "pycuda_fails", lambda: "libcurand.so.10: cannot open shared object file")
    (found,) = [found for found in findings.look().found if "PyCUDA" in found.what]
    assert (found.version, found.note) == ("", "libcurand.so.10: cannot open shared object file") and not lacks("cuda13")


def test_a_gpu_without_its_driver(machine, monkeypatch, tmp_path):
    for number, (vendor, kind) in enumerate([("0x8086", "0x030000"), ("0x10de", "0x020700"), ("0x10de", "0x030200")]):
        card = tmp_path / f"0000:00:{number:02}.0"
        card.mkdir()
        (card / "vendor").write_text(f"{vendor}\n")
        (card / "class").write_text(f"{kind}\n")
    monkeypatch.undo()
    monkeypatch.setattr(findings, "PCI_DEVICES", tmp_path)
    assert findings.nvidia_card()
    shutil.rmtree(card)  # a network adapter is left, and a graphics processor of Intel's
    assert not findings.nvidia_card()
    monkeypatch.setattr(findings, "PCI_DEVICES", tmp_path / "missing")
    assert not findings.nvidia_card()
    monkeypatch.setattr(findings, "nvidia_card", lambda: True)
    monkeypatch.setattr(findings, "cuda_driver", lambda: (None, "there is no libcuda.so.1", []))
    (lack,) = lacks("cuda13")
    assert "there is no libcuda.so.1" in lack.why and "docker run --gpus all" in lack.why


def test_the_driver_and_its_devices(monkeypatch):
    class Library:
        status = 0

        def cuInit(self, flags):
            return self.status

        def cuDriverGetVersion(self, pointer):
            pointer._obj.value = 13010
            return 0

        def cuDeviceGetCount(self, pointer):
            pointer._obj.value = 1
            return 0

        def cuDeviceGet(self, pointer, number):
            pointer._obj.value = 40 + number

        def cuDeviceGetName(self, buffer, length, device):
            buffer.value = b"NVIDIA %d" % device.value

        def cuDeviceGetAttribute(self, pointer, attribute, device):
            pointer._obj.value = {75: 8, 76: 6}[attribute]

    monkeypatch.setattr(findings.ctypes, "CDLL", lambda name: Library())
    assert findings.cuda_driver() == (13010, "", [("NVIDIA 40", (8, 6))])
    Library.status = 100
    assert findings.cuda_driver() == (13010, "", [])
    Library.status = 999
    version, why, _ = findings.cuda_driver()
    assert version is None and why.endswith("CUDA's error 999")


@pytest.fixture
def python(tmp_path, monkeypatch):
    """What runs the checks, in the place of Python: a line of the shell."""
    if sys.platform == "win32":
        pytest.skip("needs a shell")

    def write(line):
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\necho '{json.dumps(first)}'\necho noise\n{line}\n")
        program.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(program))

    first = {"check": next(iter(self_test.CHECKS)), "seconds": 0.5, "error": ""}
    return write


def test_a_crash_is_that_of_the_check_that_follows(python):
    python("kill -SEGV $$")
    passed, crashed = doctor.tested("cuda:0")
    assert (passed.check, passed.error) == (list(self_test.CHECKS)[0], "")
    assert (crashed.check, crashed.error) == (list(self_test.CHECKS)[1], "the process was ended by SIGSEGV")


def test_a_process_that_ends_early_or_never(python):
    python("echo why >&2; exit 3")
    assert list(doctor.tested("cuda:0"))[1].error == "the process ended with status 3; why"
    python("exec sleep 60")
    assert list(doctor.tested("cuda:0", limit=0.5))[1].error == "not done after 0.5 s"


@pytest.mark.parametrize("check", self_test.CHECKS)
def test_the_checks_hold_in_float32_too(check, runtime):
    self_test.CHECKS[check]("float32")


@pytest.mark.parametrize(
    "check, owner, name, wrong",
    [
        ("table of a density", "gamma", "logpdf", lambda right: right * (1 + 1e-8)),
        ("sum with its gradient", "normal", "loglik_and_grad", lambda right: (right[0], right[1] | {"mu": 0.0})),
        ("draws with a seed", "gamma", "rvs", lambda right: right * 1.1),
        ("Cholesky factor", "linalg", "cholesky", lambda right: right.T),
    ],
)
def test_the_checks_can_fail(check, owner, name, wrong, monkeypatch, runtime):
    owner = getattr(gs, owner)
    right = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *args, **kwargs: wrong(right(*args, **kwargs)))
    with pytest.raises(AssertionError):
        self_test.CHECKS[check]("float64")
