"""Intel's OpenCL compiler as a program of its own: sources come in on its standard input, compiled kernels go out.

`compiler` starts this file by its path, in a Python that finds no packages: it imports the standard library alone and calls
the driver directly, and so is ready in less than a tenth of a second. It ends when its standard input does.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys
from typing import BinaryIO

REQUEST = struct.Struct("=III")  # seconds allowed, bytes of the options, bytes of the source
REPLY = struct.Struct("=iI")  # OpenCL's error code, bytes of the binary; of what the compiler says where that is not 0
START_TIMEOUT = 60  # seconds until the driver must have loaded

_TYPE_CPU, _NAME, _DRIVER_VERSION = 2, 0x102B, 0x102D  # OpenCL's numbers
_BINARY_SIZES, _BINARIES, _LOG = 0x1165, 0x1166, 0x1183


class Compiler:
    """Compiler of the CPU of a driver.

    Parameters
    ----------
    library : str
        The driver's file.
    """

    def __init__(self, library: str) -> None:
        self.cl = cl = ctypes.CDLL(library)
        cl.clCreateContext.restype = cl.clCreateProgramWithSource.restype = ctypes.c_void_p
        platform, self.device, error = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        self._check(cl.clGetPlatformIDs(1, ctypes.byref(platform), None))
        self._check(cl.clGetDeviceIDs(platform, ctypes.c_uint64(_TYPE_CPU), 1, ctypes.byref(self.device), None))
        context = cl.clCreateContext(None, 1, ctypes.byref(self.device), None, None, ctypes.byref(error))
        self._check(error.value)
        self.context = ctypes.c_void_p(context)

    @staticmethod
    def _check(code: int) -> None:
        if code:
            raise OSError(f"OpenCL error {code}")

    def _text(self, function: str, *of: object) -> bytes:
        get, size = getattr(self.cl, function), ctypes.c_size_t()
        self._check(get(*of, ctypes.c_size_t(0), None, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value + 1)
        self._check(get(*of, size, text, None))
        return text.value

    @property
    def identity(self) -> bytes:
        """Names of the device and of the driver's version."""
        return b"\0".join(self._text("clGetDeviceInfo", self.device, what).strip() for what in (_NAME, _DRIVER_VERSION))

    def build(self, options: bytes, source: bytes) -> tuple[int, bytes]:
        """Code 0 and the binary, or OpenCL's error code and the compiler's message."""
        cl, device, error = self.cl, ctypes.byref(self.device), ctypes.c_int()
        texts = (ctypes.c_char_p * 1)(source)
        program = ctypes.c_void_p(cl.clCreateProgramWithSource(self.context, 1, texts, None, ctypes.byref(error)))
        self._check(error.value)
        try:
            if code := cl.clBuildProgram(program, 1, device, options, None, None):
                return code, self._text("clGetProgramBuildInfo", program, self.device, _LOG)
            size = ctypes.c_size_t()
            self._check(cl.clGetProgramInfo(program, _BINARY_SIZES, ctypes.c_size_t(8), ctypes.byref(size), None))
            binary = ctypes.create_string_buffer(size.value)
            places = (ctypes.c_void_p * 1)(ctypes.addressof(binary))
            self._check(cl.clGetProgramInfo(program, _BINARIES, ctypes.c_size_t(8), places, None))
            return 0, binary.raw
        finally:
            cl.clReleaseProgram(program)


def serve(compiler: Compiler, requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""

    def reply(code: int, text: bytes) -> None:
        replies.write(REPLY.pack(code, len(text)) + text)
        replies.flush()

    reply(0, compiler.identity)
    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        seconds, *sizes = REQUEST.unpack(head)
        options, source = map(requests.read, sizes)
        signal.alarm(seconds)  # which ends this process: also when nobody waits for it any more
        answer = compiler.build(options, source)
        signal.alarm(0)
        reply(*answer)


def main(library: str) -> None:
    """Entry point of the process."""
    import resource

    # As in a process that inherits nothing from its parent, and leaves no memory image of a crash on the disk.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(START_TIMEOUT)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever compilers chat is no reply
    compiler = Compiler(library)
    signal.alarm(0)
    serve(compiler, sys.stdin.buffer, replies)


if __name__ == "__main__":
    main(sys.argv[1])
