"""Child processes that compare programs: one that crashes, or does not come back, is replaced, and its program has failed."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from .compare import Failure, Outcome, check
from .points import Points
from .tree import Program

TIME_LIMIT = 90.0  # seconds that an entry point may take; a child that has just been started also imports and finds devices
PROGRAMS = 150  # that a child may see before it is replaced, as compiled kernels stay in memory


@dataclass(frozen=True)
class Job:
    """A program to compare.

    Attributes
    ----------
    seed : int
    program : Program
    points : Points
    entries : tuple of str
        Names of entry points, of `compare.ENTRIES`.
    """

    seed: int
    program: Program
    points: Points
    entries: tuple[str, ...]


class Worker:
    """One child process with a folder of its own for compiled kernels.

    Parameters
    ----------
    device : str, optional
        As the environment's GPUSTATS_DEVICE has it.
    plant : str, optional
        A fault to make in the child, one of `planted.PLANTS`, that tests whether it is found.
    limit : float
        Seconds that an entry point may take.
    """

    def __init__(self, device: str | None = None, plant: str | None = None, limit: float = TIME_LIMIT):
        self.device, self.plant, self.limit = device, plant, limit
        self.process: multiprocessing.process.BaseProcess | None = None
        self.job: Job | None = None
        self.connection: Connection | None = None

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.folder = tempfile.mkdtemp(prefix="gpustats-fuzz-")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.folder, self.device, self.plant), daemon=True)
        self.process.start()
        theirs.close()
        self.seen = 0

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            assert self.connection is not None
            self.connection.close()
            shutil.rmtree(self.folder, ignore_errors=True)
        self.process = self.job = None

    def submit(self, job: Job) -> None:
        if self.process is not None and self.seen >= PROGRAMS:
            self.stop()
        if self.process is None:
            self.start()
        assert self.connection is not None
        self.job, self.entry, self.end = job, "register", time.monotonic() + self.limit
        self.seen += 1
        self.connection.send(job)

    def outcome(self) -> Outcome | None:
        """What came of the job, None while it goes on."""
        assert self.connection is not None and self.process is not None
        try:
            while self.connection.poll():
                received = self.connection.recv()
                if isinstance(received, Outcome):
                    self.job = None
                    return received
                self.entry, self.end = received, time.monotonic() + self.limit
        except (EOFError, ConnectionResetError):
            self.process.join()
            words = Path(self.folder, "words").read_text(errors="replace")[-500:].strip()
            return self.failed("crash", f"the process ended with code {self.process.exitcode}: {words}")
        return self.failed("hang", f"no result within {self.limit:.0f} s") if time.monotonic() > self.end else None

    def failed(self, kind: str, message: str) -> Outcome:
        self.stop()
        return Outcome([Failure(kind, self.entry, message)])

    def run(self, job: Job) -> Outcome:
        """One job, waited for."""
        self.submit(job)
        while (outcome := self.outcome()) is None:
            assert self.connection is not None
            wait([self.connection], timeout=1)
        return outcome


def run_all(jobs: Iterator[Job], workers: Sequence[Worker]) -> Iterator[tuple[Job, Outcome]]:
    """All jobs, as many at a time as there are workers; the results come as they are ready."""
    exhausted = False
    while True:
        for worker in workers:
            if worker.job is None and not exhausted:
                job = next(jobs, None)
                exhausted = job is None
                if job is not None:
                    worker.submit(job)
        busy = [w for w in workers if w.job is not None]
        if not busy:
            return
        wait([w.connection for w in busy if w.connection is not None], timeout=1)
        for worker in busy:
            job = worker.job
            if job is not None and (outcome := worker.outcome()) is not None:
                yield job, outcome


def _serve(connection: Connection, folder: str, device: str | None, plant: str | None) -> None:
    """The child: programs come in, outcomes go out."""
    os.environ["GPUSTATS_CACHE_DIR"] = folder
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if device is not None:
        os.environ["GPUSTATS_DEVICE"] = device
    words = os.open(Path(folder, "words"), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(words, 2)  # also what compilers and drivers say as they crash
    if plant is not None:
        from .planted import PLANTS

        PLANTS[plant]()
    while True:
        try:
            job: Job = connection.recv()
        except EOFError:
            return
        with _laid_out(job.seed):
            outcome = check(job.program, job.points, job.entries, note=connection.send)
        connection.send(outcome)


@contextlib.contextmanager
def _laid_out(seed: int) -> Iterator[None]:
    """On a CPU, kernels of every third program are laid out as for a GPU.

    Not with Intel's runtime, which has faults there that no user meets: `x += x - m * m; m *= 1.0; return x;` is wrong.
    """
    import gpustats
    from gpustats.runtime import choose
    from tests.helpers.layouts import like_a_gpu

    runtime = choose.get()
    device = runtime.device
    if seed % 3 or device.type != "cpu" or "Intel" in device.driver:
        yield
        return
    with like_a_gpu(runtime) as other, gpustats.use(other):
        yield
