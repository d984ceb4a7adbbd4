"""What tests of PyTensor's graphs share."""

import threading

import pytensor
import pytest

from gpustats.compiler.graph import machine, numba_link
from gpustats.runtime import choose


@pytest.fixture
def by_machine(monkeypatch):
    """Compiled code evaluates by itself, also where a machine under load makes calls slow."""
    if not machine.is_possible() or not (choose.get().host_visible or choose.get().dialect == "cuda"):
        pytest.skip("compiled code cannot evaluate here by itself")
    monkeypatch.setattr(machine, "LONGEST_CALL", 60.0)


@pytest.fixture
def through_python(monkeypatch):
    """How often compiled code has called Python."""
    calls, original = [], numba_link.Bridge._evaluate

    def counted(self, layout, out):
        calls.append(threading.get_native_id())
        return original(self, layout, out)

    monkeypatch.setattr(numba_link.Bridge, "_evaluate", counted)
    return calls


@pytest.fixture(autouse=True)
def without_a_c_compiler(request):
    """What g++ takes for a graph is several times what Python takes to compute it as often as tests of a few seconds do."""
    with pytensor.config.change_flags(**{} if "thorough" in request.keywords else {"cxx": ""}):
        yield
