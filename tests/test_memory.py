"""Requests that no device can hold are refused, with their sizes, before anything is allocated."""

import numpy as np
import pytest

import gpustats as gs
from gpustats.runtime.host_memory import available


@pytest.mark.parametrize("place", [lambda a: a, gs.to_device], ids=["NumPy", "device"])
def test_results_that_are_too_large(place):
    x, mu = place(np.zeros((10**6, 1))), place(np.zeros(10**6))
    for call in (gs.normal.logpdf, gs.normal.pdf):
        with pytest.raises(MemoryError, match=r"asked 7450\.58 GiB, free .* GiB"):
            call(x, mu, 1.0)
    assert gs.normal.logpdf(x[:3], mu[:2], 1.0).shape == (3, 2)


@pytest.mark.skipif(available() is None, reason="the system does not tell how much memory is free")
def test_broadcasts_that_are_too_large():
    """Refused by us: the system may grant what it does not have."""
    huge = np.broadcast_to(1.0, (10**7, 10**7))
    calls = (
        lambda: gs.normal.logpdf(huge, 0.0, 1.0),
        lambda: gs.normal.loglik(huge, np.zeros((10**7, 1)), 1.0),
        lambda: gs.to_device(huge),
    )
    for call in calls:
        with pytest.raises(MemoryError, match=r"asked 745058\.06 GiB, free"):
            call()
