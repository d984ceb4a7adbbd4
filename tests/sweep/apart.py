"""A session in which each density has a process of its own: one that hangs, or crashes, is ended, and told."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from .session import Report, Searched, round_of, sweep

FACTOR = 8  # times the patience that a density may take in all: compilation and verdicts are not in it
GRACE = 20.0  # seconds after which a process that has not ended by itself is ended


@dataclass
class _Running:
    name: str
    process: BaseProcess
    connection: Connection
    end: float


def apart(given: Searched, processes: int, grace: float = GRACE) -> Report:
    """The same as `sweep`, with so many processes at a time."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gpustats", "tests.sweep.session", "tests.sweep.judge"])
    report, end, begun, told = Report(), time.monotonic() + given.seconds, 0, time.monotonic()
    jobs, running = _jobs(given), list[_Running]()
    while True:
        while len(running) < processes and time.monotonic() < end and (job := next(jobs, None)) is not None:
            latest = time.monotonic() + FACTOR * given.patience * len(given.dtypes)
            running.append(_start(context, job, min(end, latest), grace))
            begun += 1
        if not running:
            return report
        if time.monotonic() > told + 60:
            told = time.monotonic()
            given.say(f"{begun} densities, {report.values.total()} values, now {', '.join(r.name for r in running)}")
        multiprocessing.connection.wait([r.connection for r in running], timeout=1)
        running = [r for r in running if not _is_over(r, report)]


def _jobs(given: Searched) -> Iterator[Searched]:
    number = 0
    while given.rounds is None or number < given.rounds:
        for name in round_of(given, number):
            yield replace(given, names=[name], seed=given.seed + number, rounds=1)
        number += 1


def _start(context: Any, job: Searched, end: float, grace: float) -> _Running:
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(replace(job, seconds=max(end - time.monotonic(), 1)), theirs), daemon=True)
    process.start()
    theirs.close()
    assert job.names is not None
    return _Running(job.names[0], process, ours, end + grace)


def _serve(job: Searched, connection: Connection) -> None:
    connection.send(sweep(job))


def _is_over(r: _Running, report: Report) -> bool:
    """Take what a process has to tell, or end it."""
    if r.connection.poll():
        try:
            report.add(r.connection.recv())
        except EOFError:
            r.process.join()
            report.errors.append(f"{r.name}: the process ended with code {r.process.exitcode}")
    elif time.monotonic() > r.end:
        report.incomplete.append(f"{r.name} (ended)")
    else:
        return False
    r.process.kill()
    r.process.join()
    r.connection.close()
    return True
