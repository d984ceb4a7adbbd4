"""Mixtures for samplers: many sets of parameters at once, and evaluation by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..evaluation.repeated import SumReplay
from .mixture import Mixture


def sums_of_sets(
    mixture: Mixture, arguments: Sequence[np.ndarray], wrt: Sequence[str]
) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
    """Sums for sets of parameters, (sets,), and the derivatives for each component, (sets, K), from one launch.

    None where each set takes a call of its own.

    Parameters
    ----------
    mixture : Mixture
    arguments : sequence of ndarray
        The parameters in the density's order, then the weights, all (sets, K).
    wrt : sequence of str
    """
    if not mixture._scalar:
        return None
    kind = tuple(wrt), arguments[-1].shape
    plan = mixture._calls.plan(kind, mixture._new_one_pass, arguments, list(wrt), True)
    return None if plan is None else plan.of_sets(arguments)


def replay_of(mixture: Mixture, arguments: Sequence[Any], wrt: Sequence[str]) -> SumReplay | None:
    """Replay of a mixture and its derivatives in compiled code; None where they need Python.

    Parameters
    ----------
    mixture : Mixture
    arguments : sequence
        Parameters like those of a call in the density's order, then the weights.
    wrt : sequence of str
    """
    one_pass = mixture._one_pass(arguments, tuple(wrt))
    return None if one_pass is None else one_pass.replay(arguments)
