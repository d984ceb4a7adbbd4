"""Speeds of a machine: straight lines of time against size, measured once and kept on disk."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from . import cache
from .base import Device, Runtime

REPEATS = 7  # of which the fastest counts
TRANSFER_BYTES = 1 << 25
COPY_BYTES = 1 << 21


class Line(NamedTuple):
    """Straight line: the seconds that something takes."""

    start: float
    each: float

    def seconds(self, amount: float) -> float:
        return self.start + self.each * amount


Speeds = dict[str, Line]


def kept(what: str, device: Device, others: tuple[str, ...], measure: Callable[[], Speeds]) -> Speeds:
    """Speeds measured on this machine with this device, now or before."""
    machine = platform.machine(), platform.processor(), str(os.cpu_count()), os.environ.get("GPUSTATS_OPTIMISE", "")
    key = cache.key(what, device.name, device.driver, *others, *machine)
    if (stored := cache.load(key)) is not None:
        return {name: Line(*line) for name, line in json.loads(stored).items()}
    measured = measure()
    cache.store(key, json.dumps(measured).encode())
    return measured


def seconds(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Seconds of the fastest of some runs."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def through(few: tuple[float, float], many: tuple[float, float]) -> Line:
    """Line through two points, which neither falls nor begins below 0."""
    each = max(many[1] - few[1], 0.0) / (many[0] - few[0])
    return Line(max(few[1] - each * few[0], 0.0), each)


def transfer(runtime: Runtime) -> Line:
    """Line of the seconds that bytes take to a device and back."""

    def both_ways(nbytes: int) -> tuple[float, float]:
        array = np.zeros(nbytes, np.uint8)
        return 2 * nbytes, seconds(lambda: runtime.to_host(runtime.to_device(array)))

    return through(both_ways(8), both_ways(TRANSFER_BYTES))


def copying() -> Line:
    """Line of the seconds that bytes of the host take to fresh memory there."""
    held = np.zeros(COPY_BYTES, np.uint8)
    return Line(0.0, seconds(lambda: held.copy()) / COPY_BYTES)
