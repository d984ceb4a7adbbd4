"""`gpustats doctor`: what it finds, what it misses, and that its checks can fail."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from thorough import some

import gpustats as gs
from gpustats.commands import doctor, findings, self_test
from gpustats.commands.cli import main
from gpustats.runtime import choose, nvrtc

REQUIRES = [
    "numpy>=2",
    "mako",
    'intel-opencl-rt>=2025; ((sys_platform == "linux" and platform_machine == "x86_64") or '
    '(sys_platform == "win32" and platform_machine == "AMD64")) and extra == "cpu"',
    "pycuda>=2026.1; extra == 'cuda13'",
    "nvmath-python[cu13]; extra == 'cuda13'",
    "pycuda>=2025.1; extra == 'cuda12'",
    "nvmath-python[cu12]; extra == 'cuda12'",
    "pymc>=5.28; extra == 'pymc'",
    "dask[array]; extra == 'dask'",
    "gpustats[cpu,pymc,dask]; extra == 'all'",
]


@pytest.fixture
def runtime():
    return choose.get()


@pytest.fixture
def machine(monkeypatch):
    """A machine with all packages and no GPU; a test takes away, and adds."""
    versions = {"numpy": "2.4.1", "mako": "1.3", "intel-opencl-rt": "2026.0", "pymc": "5.28.5", "dask": "2026.8"}
    monkeypatch.setattr(findings.metadata, "requires", lambda package: REQUIRES)
    monkeypatch.setattr(findings, "version_of", lambda package: versions.get(package, ""))
    monkeypatch.setattr(findings, "cuda_driver", lambda: (None, "there is no libcuda.so.1"))
    monkeypatch.setattr(findings, "nvidia_card", lambda: False)
    monkeypatch.setattr(findings, "pycuda_fails", lambda: "")
    monkeypatch.setattr(nvrtc, "find_nvcc", lambda: None)
    monkeypatch.setattr(nvrtc, "version", lambda: (None, "No module named 'cuda'"))
    return versions


def lacks(extra):
    return [lack for lack in findings.look().lacks if lack.extra == extra]


def with_driver(monkeypatch, *version):
    monkeypatch.setattr(findings, "cuda_driver", lambda: (version, ""))


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


def test_a_driver_without_pycuda(machine, monkeypatch):
    monkeypatch.setattr(findings.shutil, "which", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(findings.sys, "platform", "linux")
    with_driver(monkeypatch, 13, 0)
    (lack,) = lacks("cuda13")
    assert "pycuda is not installed; nvmath-python is not installed" in lack.why
    assert lack.cure == findings.pycuda_without_toolkit("13")
    with_driver(monkeypatch, 12, 8)
    assert not lacks("cuda13") and lacks("cuda12")[0].cure == findings.pycuda_without_toolkit("12")


def test_a_driver_and_a_toolkit_without_pycuda(machine, monkeypatch, tmp_path):
    with_driver(monkeypatch, 13, 0)
    monkeypatch.setattr(findings.sys, "platform", "linux")
    monkeypatch.setattr(findings.shutil, "which", lambda program: None)
    monkeypatch.setattr(nvrtc, "find_nvcc", lambda: str(tmp_path / "bin" / "nvcc"))
    (tmp_path / "include").mkdir()
    for header in ("cuda.h", "cudaProfiler.h"):
        (tmp_path / "include" / header).touch()
    compiler = "apt install g++ python3-dev   # what compiles PyCUDA\n"
    assert lacks("cuda13")[0].cure == compiler + findings.pycuda_without_toolkit("13")
    (tmp_path / "include" / "curand.h").touch()
    assert lacks("cuda13")[0].cure == f"{compiler}PATH={tmp_path / 'bin'}:$PATH pip install 'gpustats[cuda13]'"
    monkeypatch.setattr(findings.shutil, "which", lambda program: str(tmp_path / "bin" / program))
    assert lacks("cuda13")[0].cure == "pip install 'gpustats[cuda13]'"
    monkeypatch.setattr(findings.sys, "platform", "win32")
    assert "Visual Studio" in lacks("cuda13")[0].cure


def test_what_cuda_needs_is_there(machine, monkeypatch):
    machine.update({"pycuda": "2026.1", "nvmath-python": "1.0"})
    monkeypatch.setattr(nvrtc, "version", lambda: ((13, 2), ""))
    with_driver(monkeypatch, 13, 0)
    assert not lacks("cuda13")
    with_driver(monkeypatch, 12, 8)
    (lack,) = lacks("cuda12")
    assert lack.why == "NVRTC 13.2 is newer than the driver, which has CUDA 12.8"
    with_driver(monkeypatch, 13, 0)
    monkeypatch.setattr(findings, "pycuda_fails", lambda: "libcurand.so.10: cannot open shared object file")
    (lack,) = lacks("cuda13")
    assert "libcurand.so.10" in lack.why and lack.cure.startswith("pip uninstall -y pycuda")


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
    monkeypatch.setattr(findings, "cuda_driver", lambda: (None, "there is no libcuda.so.1"))
    (lack,) = lacks("cuda13")
    assert "docker run --gpus all" in lack.cure


def test_the_drivers_version(monkeypatch):
    class Library:
        status = 0

        def cuInit(self, flags):
            return self.status

        def cuDriverGetVersion(self, pointer):
            pointer._obj.value = 13010
            return 0

    monkeypatch.setattr(findings.ctypes, "CDLL", lambda name: Library())
    assert findings.cuda_driver() == ((13, 1), "")
    Library.status = 100
    assert findings.cuda_driver()[1].endswith("CUDA's error 100")


@pytest.mark.skipif(sys.platform != "linux", reason="the commands are for Linux")
@pytest.mark.parametrize("folder", ["cu13", "curand"])  # where the wheels of CUDA 13 have their files, and those of CUDA 12
def test_the_commands_that_install_pycuda(folder, tmp_path):
    """pip sees the headers of all wheels, and both libraries by the names that the linker wants."""
    bin, nvidia = tmp_path / "bin", tmp_path / "site" / "nvidia"
    for place in (bin, nvidia / folder / "lib", nvidia / folder / "include", nvidia / "cuda_runtime" / "include"):
        place.mkdir(parents=True, exist_ok=True)
    (nvidia / folder / "lib" / "libcurand.so.10").touch()
    (tmp_path / "libcuda.so.1").touch()
    pip = 'echo "$*|$CPATH|$LDFLAGS|$(ls ${LDFLAGS:+$(echo $LDFLAGS | sed "s/-L//; s/ .*//")} | tr "\\n" " ")"'
    for name, line in {"python": f"echo {nvidia}", "pip": pip}.items():
        (bin / name).write_text(f"#!/bin/sh\n{line}\n")
        (bin / name).chmod(0o755)
    script = findings.pycuda_without_toolkit("13", str(tmp_path / "libcuda.so.1"))
    environment = os.environ | {"PATH": f"{bin}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    for name in ("CPATH", "LDFLAGS"):
        environment.pop(name, None)
    done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, env=environment, cwd=tmp_path, check=True)
    arguments, headers, flags, links = done.stdout.splitlines()[-1].split("|")
    assert arguments == "install --no-cache-dir gpustats[cuda13]"
    assert headers.split(":") == sorted({str(nvidia / f / "include") for f in (folder, "cuda_runtime")})
    assert flags.endswith(f" -Wl,-rpath,{nvidia / folder / 'lib'}")
    assert links.split() == ["libcuda.so", "libcurand.so"]


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
