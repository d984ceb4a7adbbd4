"""Refusals of devices that no longer work in this process."""

from __future__ import annotations

from typing import NoReturn


class Unusable:
    """Stand-in for a runtime's per-thread state, which all calls ask for, once the driver no longer works for it."""

    def __init__(self, kind: type[RuntimeError], message: str) -> None:
        self.__dict__.update(kind=kind, message=message)

    def __getattr__(self, name: str) -> NoReturn:
        raise self.kind(self.message)


def forked_from(device: str) -> str:
    """Words on a process that was forked from one whose driver had started."""
    return (
        f"this process was forked from one that had already used {device}, and the driver does not work in it: start "
        "processes with the spawn start method, multiprocessing.get_context('spawn')"
    )
