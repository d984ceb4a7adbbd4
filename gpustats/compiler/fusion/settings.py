"""Settings of the fusion of sums: whether models are compiled with their sums over rows on the device, and which."""

from __future__ import annotations

import contextlib
import operator
import os
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...runtime import choose

_SWITCH_WORDS = {
    "": False, "0": False, "false": False, "no": False, "off": False, "1": True, "true": True, "yes": True, "on": True,
}  # fmt: skip


def _switch(word: str) -> bool:
    try:
        return _SWITCH_WORDS[word.strip().lower()]
    except KeyError:
        raise ValueError(f"the environment variable GPUSTATS_FUSE is {word!r}: set it to 1 or to 0") from None


class Settings(NamedTuple):
    """Settings of the fusion of sums."""

    on: bool  #: whether they are fused
    min_rows: int | None = None  #: least number of rows of a sum that is fused; None where the faster place decides
    devices: tuple[str, ...] | None = None  #: devices that share the rows; None for the default one


class _Contexts(threading.local):
    """Settings of the contexts that a thread is in, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Settings] = []


_for_all, _contexts = Settings(_switch(os.environ.get("GPUSTATS_FUSE", ""))), _Contexts()


def settings() -> Settings:
    """Settings of the calling thread, as they are now."""
    return _contexts.stack[-1] if _contexts.stack else _for_all


def fuse(on: bool = True, *, min_rows: int | None = None, devices: str | Sequence[str] | None = None) -> None:
    """Evaluate log-likelihoods of PyMC's models that are sums over rows on the device, from now on, or no longer.

    What a row computes is read from the model's graph when PyMC or nutpie compile it: distributions, arithmetic, indices, dot
    products with data, short axes. What cannot be read stays with PyTensor: `explain` tells. The environment variable
    ``GPUSTATS_FUSE=1`` does the same where gpustats.pymc is imported.

    Parameters
    ----------
    on : bool
    min_rows : int, optional
        Sums over fewer rows are left to PyTensor, all others are computed on the device. By default a sum is computed where it
        is expected to take less time. For that, three sums are measured when it is first needed, which takes some seconds; the
        result is kept in the folder of the environment variable ``GPUSTATS_CACHE_DIR``.
    devices : "all" or sequence of str, optional
        Devices that share the rows of each sum, as for `gpustats.Rows`.

    Notes
    -----
    New data come by `pymc.set_data`; where somebody changes the numbers of an array in place that a variable holds
    (``borrow=True``), a compiled function does not notice it.
    """
    global _for_all
    _for_all = _checked(on, min_rows, devices)


def _checked(on: bool, min_rows: int | None, devices: str | Sequence[str] | None) -> Settings:
    if not isinstance(on, bool | np.bool_):
        raise TypeError(f"on must be True or False, not {on!r}")
    shared_by = None if devices is None else tuple(runtime.device.id for runtime in choose.several(devices))
    if min_rows is None:
        return Settings(bool(on), None, shared_by)
    try:
        wanted = operator.index(min_rows)
    except TypeError:
        raise TypeError(f"min_rows must be a whole number or None, not {min_rows!r}") from None
    if wanted < 0:
        raise ValueError(f"min_rows must not be negative, and is {min_rows}")
    return Settings(bool(on), wanted, shared_by)


@contextlib.contextmanager
def fused(on: bool = True, *, min_rows: int | None = None, devices: str | Sequence[str] | None = None) -> Iterator[None]:
    """Context in which models are compiled with their sums over rows on the device: see `fuse`.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats.pymc as gpm
    >>> rng = np.random.default_rng(1)
    >>> plant, t = rng.integers(0, 50, 5000), rng.uniform(0, 4, 5000)
    >>> with pm.Model() as model:
    ...     growth = pm.Normal("growth", 1, 0.5, shape=50)
    ...     size = pm.Normal("size", growth[plant] * t, pm.HalfNormal("sigma"), observed=rng.normal(t, 0.3))
    >>> with gpm.fused(min_rows=1000):
    ...     function = model.logp_dlogp_function(ravel_inputs=True)
    >>> function.set_extra_values({})
    >>> round(float(function(np.zeros(51))[0]), 3)
    -18475.829
    """
    _contexts.stack.append(_checked(on, min_rows, devices))
    try:
        yield
    finally:
        _contexts.stack.pop()
