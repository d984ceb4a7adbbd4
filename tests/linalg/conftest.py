"""What tests of linear algebra share."""

import pytest

from gpustats.linalg import where
from gpustats.linalg.host import HostProvider
from gpustats.linalg.kernels import KernelProvider
from gpustats.runtime import choose

LEAF = 16  # so that small matrices are cut in blocks, too


@pytest.fixture(params=["best", "kernels"])
def provider(request, monkeypatch):
    """Computes with the device's best provider, and with our own kernels."""
    if request.param == "kernels":
        own = KernelProvider(choose.get())
        monkeypatch.setattr(where, "provider_of", lambda runtime: own)
    for name in ("leaf", "dense"):
        monkeypatch.setattr(HostProvider, name, LEAF)
        monkeypatch.setattr(KernelProvider, name, LEAF)
    return request.param
