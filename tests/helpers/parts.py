"""Long sequences in parts on any device, so that tests need no GPU and no long sequences."""

import numpy as np

from gpustats.rows import parts


def in_parts(monkeypatch, span=4):
    """Have models that are made from now on go through parts of `span` steps, whatever the device and the lengths."""
    monkeypatch.setattr(parts, "LEAST_STEPS", dict.fromkeys(("cpu", "gpu"), 1))
    monkeypatch.setattr(parts, "LEAST_SPAN", span)
    monkeypatch.setattr(parts, "SPANS_OF_UNIT", dict.fromkeys(("cpu", "gpu"), 10**6))


def step_by_step(monkeypatch):
    """Have models that are made from now on go through each sequence in one thread."""
    monkeypatch.setattr(parts, "LEAST_STEPS", dict.fromkeys(("cpu", "gpu"), np.inf))
