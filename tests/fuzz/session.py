"""A session of comparing programs: seeds go to child processes, what fails is made small and shown, and all is counted."""

from __future__ import annotations

import functools
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from .compare import ENTRIES, Failure, drawn_entries
from .grammar import program_of
from .points import points_of
from .shrink import shrunk
from .tree import Program
from .workers import TIME_LIMIT, Job, Worker, run_all

SHRINKING = 120.0  # seconds that go into making one program small


@dataclass
class Report:
    """What came of a session.

    Attributes
    ----------
    programs : int
    compared, undecided : Counter
        Entry point -> numbers that were compared, and those that hang on rounding.
    failures : list
        Seed, failure, and the smallest program that was found to fail so.
    """

    programs: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, Failure, Program]] = field(default_factory=list)

    def __str__(self) -> str:
        kinds = Counter(failure.kind for _, failure, _ in self.failures)
        lines = [
            f"{self.programs} programs, {self.compared.total()} numbers compared, {self.undecided.total()} undecided"
        ]
        lines += [
            f"  {e:24} {self.compared[e]:8} {self.undecided[e]:8}"
            for e in ENTRIES
            if self.compared[e] or self.undecided[e]
        ]
        return "\n".join([*lines, f"{len(self.failures)} failures{': ' * bool(kinds)}" + ", ".join(
            f"{count} {kind}" for kind, count in kinds.most_common())])  # fmt: skip


def job_of(seed: int, entries: tuple[str, ...] | None = None) -> Job:
    program = program_of(seed)
    return Job(seed, program, points_of(program, seed), entries or drawn_entries(seed))


def fuzz(
    seed: int,
    seconds: float = 60,
    programs: int | None = None,
    *,
    device: str | None = None,
    entries: tuple[str, ...] | None = None,
    plant: str | None = None,
    children: int = 2,
    shrinking: float = SHRINKING,
    limit: float = TIME_LIMIT,
    most: int = 10,
    say: Callable[[str], None] = print,
) -> Report:
    """Compare the programs of `seed`, `seed` + 1, … until the time is over, so many have been seen, or `most` have failed.

    Parameters
    ----------
    seed : int
    seconds : float
        No program is begun after this time; making failures small comes on top.
    programs : int, optional
    device, plant : str, optional
        See `workers.Worker`.
    entries : tuple of str, optional
        Entry points; by default each program draws its own.
    children : int
        Processes that work at the same time.
    shrinking : float
        Seconds that go into making one program small; 0 leaves it as it is.
    limit : float
        Seconds that one program may take.
    most : int
        Failures to stop after.
    say : callable
        Takes each line that is to be shown.
    """
    report, end, told = Report(), time.monotonic() + seconds, time.monotonic()

    def jobs() -> Iterator[Job]:
        for number in itertools.islice(itertools.count(seed), programs):
            if time.monotonic() > end or len(report.failures) >= most:
                return
            yield job_of(number, entries)

    workers = [Worker(device, plant, limit) for _ in range(children)]
    try:
        for job, outcome in run_all(jobs(), workers):
            report.programs += 1
            report.compared += outcome.compared
            report.undecided += outcome.undecided
            if time.monotonic() > told + 60:
                told = time.monotonic()
                say(f"{report.programs} programs, up to seed {job.seed}, {report.compared.total()} numbers")
            for failure in outcome.failures:
                program = _smallest(job, failure, Worker(device, plant, limit), shrinking)
                if program is None:
                    say(f"seed {job.seed}: {failure.kind} in {failure.entry}, but not a second time")
                    continue
                report.failures.append((job.seed, failure, program))
                say(_shown(job, failure, program))
    finally:
        for worker in workers:
            worker.stop()
    return report


def _smallest(job: Job, failure: Failure, worker: Worker, seconds: float) -> Program | None:
    """The smallest program found that fails alike; None where not even the first one fails again, on a busy machine."""
    entries = () if failure.entry == "register" else (failure.entry,)

    def fails(program: Program) -> bool:
        again = worker.run(replace(job, program=program, points=points_of(program, job.seed), entries=entries))
        return any(f.same(failure) for f in again.failures)

    try:
        if failure.kind == "hang" and not fails(job.program):
            return None
        worker.limit = min(worker.limit, 30)
        return shrunk(job.program, fails, seconds)[0]
    finally:
        worker.stop()


def _shown(job: Job, failure: Failure, program: Program) -> str:
    again = f"python -m tests.fuzz --seed {job.seed} --programs 1"
    again += "" if failure.entry == "register" else f' --entries "{failure.entry}"'
    points = points_of(program, job.seed)
    where = f"x = {points.x}, sets = {points.sets}, dim = {points.dim}"
    return f"\n== {failure.kind} in {failure.entry}\n{failure.message}\n\n{program}\n{where}\nagain: {again}\n"


def main(arguments: list[str] | None = None) -> int:
    import argparse
    import random

    from .planted import PLANTS

    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Compare random device functions with an interpreter."
    )
    parser.add_argument("--seed", type=int, help="of the first program; the others follow (default: a fresh one)")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--programs", type=int, help="stop after so many")
    parser.add_argument("--device", help="as GPUSTATS_DEVICE has it")
    parser.add_argument("--entries", help=f"entry points, with commas, or 'all': {', '.join(ENTRIES)}")
    parser.add_argument("--children", type=int, default=2, help="processes at a time")
    parser.add_argument("--most", type=int, default=10, help="failures to stop after")
    parser.add_argument("--shrinking", type=float, default=SHRINKING, help="seconds to make each failure small in")
    parser.add_argument("--plant", choices=list(PLANTS), help="plant a fault that has to be found")
    parser.add_argument("--show", action="store_true", help="only show the program of the seed")
    given = parser.parse_args(arguments)
    seed = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    if given.show:
        print(program_of(seed))
        return 0
    entries = tuple(ENTRIES) if given.entries == "all" else tuple(given.entries.split(",")) if given.entries else None
    print(f"seed {seed}", flush=True)
    report = fuzz(
        seed, given.seconds, given.programs, device=given.device, entries=entries, plant=given.plant, children=given.children,
        shrinking=given.shrinking, most=given.most, say=functools.partial(print, flush=True),
    )  # fmt: skip
    print(report, flush=True)
    return 1 if report.failures else 0
