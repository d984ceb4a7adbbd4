"""Intel's OpenCL compiler in a process of its own: a source that crashes the compiler ends that process, not the user's.

The process starts with the first kernel that was never compiled on this machine, compiles all others, and ends with this
one. Its binaries are those that the driver would make in this process.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ..display.bars import COMPILING, told_if_slow
from ..errors import CompileError, CompilerCrash
from .compile_worker import REPLY, REQUEST
from .waiting import end_calls

if TYPE_CHECKING:
    import pyopencl as cl

PROGRAM = Path(__file__).with_name("compile_worker.py")
TIME_LIMIT = 300  # seconds that one kernel may take
WITHOUT_OPTIMISATION = "-cl-opt-disable"


class Unusable(Exception):
    """Process that cannot be had here."""


class Crash(Exception):
    """Process that has ended before it replied; the message says how."""


class Worker:
    """Process that compiles for a driver. Safe to use from several threads, one at a time.

    Parameters
    ----------
    library : str
        The driver's file.
    """

    def __init__(self, library: str) -> None:
        self.library = library
        self._process: subprocess.Popen[bytes] | None = None
        self._identity = b""
        self._lock = threading.Lock()

    def build(self, options: str, source: str, identity: bytes) -> tuple[int, bytes]:
        """Code 0 and the binary, or OpenCL's error code and the compiler's message.

        Parameters
        ----------
        identity : bytes
            Identity that the device must have, as the process names it.

        Raises
        ------
        Crash, Unusable
        """
        texts = options.encode(), source.encode()
        with self._lock:
            try:
                process = self._running()
                if self._identity != identity:
                    raise Unusable("it is another driver")
                try:
                    self._send(process, REQUEST.pack(TIME_LIMIT, *map(len, texts)) + b"".join(texts))
                    return self._reply(process)
                except (EOFError, BrokenPipeError):
                    raise Crash(_ending(self.end(patience=10))) from None
            except BaseException:  # an interrupt leaves half a conversation
                self.end()
                raise

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.end()  # somebody has ended it
        if not Path(sys.executable or "").name.lower().startswith("python"):  # but what Python is built into
            raise Unusable(f"{sys.executable!r} is no Python")
        try:
            # Nothing of this process is its own: packages, folder, standard streams, Ctrl-C.
            self._process = process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(PROGRAM.resolve()), self.library], bufsize=0, cwd="/",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            _, self._identity = self._reply(process)
        except Exception as error:  # whatever forbids it
            raise Unusable(str(error)) from None
        return process

    @staticmethod
    def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
        assert process.stdin is not None
        left = memoryview(data)
        while left:
            left = left[process.stdin.write(left) :]

    @staticmethod
    def _reply(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
        pipe = process.stdout
        assert pipe is not None

        def receive(size: int) -> bytes:
            data = b""
            while len(data) < size:
                if not (more := pipe.read(size - len(data))):
                    raise EOFError("it has ended")
                data += more
            return data

        code, size = REPLY.unpack(receive(REPLY.size))
        return code, receive(size)

    def end(self, patience: float = 0) -> int:
        """End the process, in the midst of a kernel too; return its exit status. It has `patience` seconds to end by itself."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
        process.kill()
        self._close(process)
        return process.wait()

    @staticmethod
    def _close(process: subprocess.Popen[bytes]) -> None:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def forget(self) -> None:
        """Forget the process in a forked child: it is the parent's, and must end with the parent."""
        process, self._process, self._lock = self._process, None, threading.Lock()
        if process is not None:
            self._close(process)
            process.returncode = 0  # or its destructor would look for it among the children


def _ending(status: int) -> str:
    """End of a process with this exit status, in words."""
    if status == -signal.SIGALRM:
        return f"had not finished after {TIME_LIMIT} seconds"
    if status >= 0:
        return f"ended with status {status}"
    return f"crashed ({signal.strsignal(-status)})"


_workers: dict[str, Worker | None] = {}  # by the driver's file; None where there can be none
_starting = threading.Lock()


@functools.cache
def _driver() -> str | None:
    """File of Intel's OpenCL driver for CPUs in this process; None where the system does not tell."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
            path = line.split(maxsplit=5)[-1]
            if Path(path).name.startswith("libintelocl.so"):
                return path
    return None


def _worker(device: cl.Device) -> Worker | None:
    if device.platform.name.strip() != "Intel(R) OpenCL" or (library := _driver()) is None:
        return None
    with _starting:
        if library not in _workers:
            _workers[library] = Worker(library)
        return _workers[library]


@told_if_slow(COMPILING)
def compiled(device: cl.Device, source: str, options: str) -> bytes | None:
    """Binary of a source, from another process; None where it has to be compiled in this one.

    It is None for all devices but CPUs of Intel's driver, and where a process cannot be started. A kernel on which the
    compiler crashes is compiled without optimisation, with a warning.

    Raises
    ------
    gpustats.errors.CompileError
        Also where the compiler crashes, or does not end, without optimisation too.
    """
    worker = _worker(device)
    if worker is None:
        return None
    identity = b"\0".join(name.strip().encode() for name in (device.name, device.driver_version))
    compiler, crash = f"{device.platform.name.strip()}'s compiler", None
    for chosen in (options, f"{options} {WITHOUT_OPTIMISATION}"):
        try:
            code, answer = worker.build(chosen, source, identity)
            break
        except Crash as error:
            crash = error
        except Unusable:
            if crash is None:
                _workers[worker.library] = None
                return None
    else:
        raise CompilerCrash(f"{compiler} {crash}, also without optimisation: write this in another way", source)
    if code:
        raise CompileError(answer.decode(errors="replace") or f"OpenCL error {code}", source)
    if crash:
        warnings.warn(
            f"{compiler} {crash} on {_kernels(source)}, which was compiled without optimisation and may be slow: writing the "
            "device function in another way may help", RuntimeWarning, stacklevel=2,
        )  # fmt: skip
    return answer


def _kernels(source: str) -> str:
    """Names of a source's kernels."""
    return ", ".join(re.findall(r"\bKERNEL\(\d+\) (\w+)\(", source)) or "a kernel"


@atexit.register
def _end() -> None:
    end_calls()  # another thread may still compile
    for worker in _workers.values():
        if worker is not None:
            worker.end()


def _in_child() -> None:
    """Have a forked process start compilers of its own."""
    global _starting
    _starting = threading.Lock()
    for worker in _workers.values():
        if worker is not None:
            worker.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
