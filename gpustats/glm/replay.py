"""Sums of a GLM that compiled code evaluates without Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evaluation.repeated import SumReplay
from .model import GLM


def replay_of(
    glm: GLM, wrt: tuple[str, ...], beta: Any, alpha: Any, parameters: Mapping[str, Any]
) -> SumReplay | None:
    """Replay of a GLM and its derivatives in compiled code, for arguments of these shapes; None where they need Python."""
    if glm._pieces is not None or glm._terms or (repeated := glm._repeated(wrt, beta, alpha, (), parameters)) is None:
        return None
    return repeated.replay((beta, alpha, *parameters.values()))
