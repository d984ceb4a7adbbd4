"""Rows spread over the workers of a Dask cluster, each of which keeps its own on its devices.

A worker process holds its pieces in a table, by a token of the model. A call sends parameters and gets sums back. Where
the table lacks a piece, because its worker died and another took the call, the piece is made again from where its data
came from: by Dask itself for a Dask array, by the worker for a file, by the client for what is in its memory.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
import time
import uuid
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeAlias, TypeVar

from ..runtime import choose
from ..runtime.types import Array
from .closing import once_gone
from .declared import is_dask
from .devices import kind, sample, seconds, speeds
from .pieces import Data, Divisible, Options, Pieces
from .rows import Arguments, Range, is_stored, read, section, split

try:
    from distributed import Client, Future, KilledWorker, fire_and_forget
except ImportError as error:
    raise ImportError("a cluster needs Dask: pip install 'gpustats[dask]'") from error

Answer = TypeVar("Answer")

Task: TypeAlias = "Future[Any]"  # on a worker

ATTEMPTS = 5  # for a piece whose workers die one after another
POLL_INTERVAL = 0.3  # seconds after which one looks whether a worker is still there
WORKER_TIMEOUT = 60  # seconds to wait for a worker to come (back)
MOST_REFERENCE_BYTES = 1 << 20  # bytes below which what is pickled is taken for the place of data rather than for data


class Missing(LookupError):
    """Reply of a worker that lacks the piece it was asked for. It is returned: an error raised there would be logged."""


#: Errors that tell that a worker died, or that data were lost with it.
LOST_ERRORS = (KilledWorker, CancelledError, OSError)


def checked(client: object) -> Client:
    """Client, if it is one that waits for results; else TypeError."""
    if not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client, not {type(client).__name__}")
    if client.asynchronous:
        raise TypeError("client is asynchronous: pass one made without asynchronous=True")
    return client


def again(client: Client) -> Iterator[Callable[[BaseException], None]]:
    """Attempts: for each a function that is told why it failed, and raises the error after the last attempt."""
    for left in reversed(range(ATTEMPTS)):

        def failed(error: BaseException, left: int = left) -> None:
            if not left:
                raise error
            time.sleep(POLL_INTERVAL * (ATTEMPTS - left))  # it takes a while until all know that a worker is gone
            try:
                client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
            except TimeoutError:
                address = client.scheduler_info()["address"]
                raise ConnectionError(
                    f"{address} has lost its last worker, and none came within {WORKER_TIMEOUT} seconds"
                ) from error

        yield failed


def scattered(client: Client, data: object, **where: object) -> Task:
    """Data on their way to workers; ConnectionError where these are gone."""
    try:
        task: Task = client.scatter([data], hash=False, **where)[0]
        return task
    except KeyError as error:  # by which the scheduler says that it does not know a worker any more
        raise ConnectionError(f"the worker {error} is gone") from None


def result_of(future: Task, timeout: float | None = None) -> Any:
    """Result of a task; CancelledError also where Dask trips over its own variable as the task is cancelled."""
    try:
        return future.result(timeout=timeout)
    except UnboundLocalError:
        if future.status == "error":  # the task's own error
            raise
        raise CancelledError(f"{future.key} was cancelled") from None


def _started(ask: Callable[[], Task]) -> Task | BaseException:
    """Task, or the error where its worker dies already as it starts."""
    try:
        return ask()
    except LOST_ERRORS as error:
        return error


def _answers(client: Client, function: Callable[..., Answer], *args: object) -> dict[str, Answer]:
    """Results of a function on each worker, by the workers' addresses."""
    for failed in again(client):
        try:
            answers: dict[str, Answer] = client.run(function, *args)
            return answers
        except LOST_ERRORS as error:
            failed(error)
    raise AssertionError("the last attempt returns or raises")


class Cluster(Pieces):
    """Pieces on the workers of a cluster, one for each worker, which keeps it.

    The data are in the client's memory, from which rows are sent; Dask arrays; or files (Zarr, memory-mapped), which workers
    read where they see them under the same path. The options ``devices``, ``memory`` and ``chunk`` are those of each worker.
    """

    def __init__(self, model: Divisible, data: Data, options: Options):
        client = self._client = checked(options.client)
        self._make = functools.partial(
            model._recipe(), devices=options.devices, memory=options.memory, chunk=options.chunk
        )  # fmt: skip
        self._data, self._token = data.arrays, uuid.uuid4().hex
        client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
        kinds = _answers(client, _kinds, options.devices)
        homes = list(kinds)

        def measured(i: int) -> float:
            found = client.run(seconds, self._make, sample(data), model._trial(), workers=[homes[i]])
            return float(found[homes[i]])

        self.ranges = split(data.n_rows, speeds(list(kinds.values()), measured), data.bytes_before)
        self._homes = homes[: len(self.ranges)]
        once_gone(self, _forget_all, client, self._token, self._homes)
        binds = [functools.partial(self._bind, i) for i in range(len(self.ranges))]
        bound = [_started(bind) for bind in binds]  # all at once
        for i, future in enumerate(bound):
            self._certain(i, future, binds[i])
        self.where = f"{len(set(self._homes))} workers of {client.scheduler_info()['address']}"

    def held(self) -> dict[str, Array]:
        return self._data

    def map(self, method: str, calls: Iterable[Arguments]) -> Generator[Any, None, None]:
        calls = list(calls)
        ask = [functools.partial(self._ask, i, method, call) for i, call in enumerate(calls)]
        futures = [_started(a) for a in ask]
        for i, future in enumerate(futures):
            yield self._certain(i, future, ask[i])

    def _ask(self, i: int, method: str, call: Arguments) -> Task:
        """Have a worker evaluate a method of its piece."""
        return self._client.submit(_call, (self._token, i), method, *call, workers=[self._homes[i]], pure=False)

    def _bind(self, i: int) -> Task:
        """Have a worker make a piece."""
        client, home = self._client, self._homes[i]
        data = {n: self._sent(n, v, self.ranges[i], home) for n, v in self._data.items()}
        return client.submit(_bind, (self._token, i), self._make, data, workers=[home], pure=False)

    def _sent(self, name: str, value: Array, rows: Range, home: str) -> Array | Task:
        """Rows of the data on their way to a worker: a task, their place, or themselves."""
        if is_dask(value):
            return self._client.compute(value[slice(*rows)], workers=[home], allow_other_workers=True)
        part = section(value, *rows)
        if is_stored(value):
            with contextlib.suppress(Exception):  # HDF5 data sets, for one, cannot be pickled
                if len(pickle.dumps(part)) < MOST_REFERENCE_BYTES:
                    return part
            part = read(value, *rows, name)
        return scattered(self._client, part, workers=[home])

    def _certain(self, i: int, future: Task | BaseException, ask: Callable[[], Task]) -> Any:
        """Result of a task for a piece. Where either is lost, the piece is made again and `ask` gives another task."""
        for failed in again(self._client):
            first, end = self.ranges[i]
            error: BaseException = ConnectionError(f"rows {first} to {end} are lost: worker after worker has died with them")
            try:
                if isinstance(future, BaseException):
                    raise future
                if not isinstance(result := self._awaited(future, self._homes[i]), Missing):
                    return result
            except LOST_ERRORS as found:
                error = found
            failed(error)
            future = _started(functools.partial(self._again, i, ask))
        raise AssertionError("the last attempt returns or raises")

    def _again(self, i: int, ask: Callable[[], Task]) -> Task:
        """Make a piece anew, on another worker where its own is gone, and ask once more."""
        living = list(self._client.nthreads())
        if self._homes[i] not in living:
            self._homes[i] = min(living, key=self._homes.count, default=self._homes[i])
        self._awaited(self._bind(i), self._homes[i])
        return ask()

    def _awaited(self, future: Task, home: str) -> Any:
        """Result of a task on a worker. Dask itself would wait for ever for a worker that is gone."""
        try:
            while True:
                try:
                    return result_of(future, POLL_INTERVAL)
                except TimeoutError:
                    if future.done():  # the task's own error
                        raise
                    if home not in self._client.nthreads():
                        raise ConnectionError(f"the worker {home} is gone") from None
        finally:
            future.release()  # an error refers to this frame, the client to the error: nothing would ever be freed


# ---- on the workers

_models: dict[tuple[str, int], Divisible] = {}  # the pieces, by the token of the model and their number


def _kinds(devices: str | Sequence[str] | None) -> Hashable:
    """Kinds of the devices on which this worker computes: see `devices.kind`."""
    return tuple(kind(runtime) for runtime in ([choose.get()] if devices is None else choose.several(devices)))


def _bind(key: tuple[str, int], make: Callable[..., Divisible], data: Mapping[str, Array]) -> None:
    """Make a piece and keep it."""
    _models[key] = make(**data)


def _call(key: tuple[str, int], method: str, args: tuple[Array, ...], kwargs: Mapping[str, Array]) -> Any:
    """Result of a method of a piece, or a `Missing`."""
    if key not in _models:
        return Missing(f"piece {key[1]} was lost again and again")
    return getattr(_models[key], method)(*args, **kwargs)


def _forget(token: str) -> None:
    """Free the pieces of a model."""
    for key in [key for key in _models if key[0] == token]:
        _models.pop(key, None)


def _forget_all(client: Client, token: str, homes: list[str]) -> None:
    """Free all pieces of a model on the workers."""
    if client.status == "running":
        for home in set(homes):
            fire_and_forget(client.submit(_forget, token, workers=[home], pure=False))
