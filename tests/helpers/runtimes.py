"""Which devices there are, a small kernel, and programs in new processes."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gpustats.runtime import devices

IDS = [device.id for device in devices() if "Oclgrind" not in device.name]
CPU = next((device.id for device in devices() if device.type == "cpu" and "Oclgrind" not in device.name), None)
needs_cpu = pytest.mark.skipif(CPU is None, reason="no OpenCL CPU device")

HEADERS = {
    "opencl": "#define KERNEL __kernel\n#define GLOBAL __global\n"
    "#define INDEX get_global_id(0)\n#define ROW get_group_id(1)\ntypedef long index_t;\n",
    "cuda": '#define KERNEL extern "C" __global__\n#define GLOBAL\n'
    "#define INDEX (blockIdx.x * (size_t)blockDim.x + threadIdx.x)\n#define ROW blockIdx.y\ntypedef long long index_t;\n",
}

AFFINE = """
KERNEL void affine(GLOBAL const double *x, index_t n, double a, int b, float c, GLOBAL double *out) {
    size_t k = INDEX;
    if (k < n) out[ROW * n + k] = a * x[k] + b + c + ROW;
}
KERNEL void fill(GLOBAL double *out, index_t n, double value) {
    size_t k = INDEX;
    if (k < n) out[k] = value;
}
"""

SEARCH = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])


def affine(runtime, name="affine"):
    return runtime.kernel(HEADERS[runtime.dialect] + AFFINE, name, 64)


def run(code, seconds=None, **environment):
    """The output of `code` in a new process, which may take so many seconds."""
    env = {**os.environ, "PYTHONPATH": SEARCH, **environment}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def error_in_a_forked_child(code, call, **environment):
    """What a call raises, or nothing, in a child forked from a new process in which it works, before the fork and after it."""
    again = """
        import os, signal
        if os.fork() == 0:
            signal.alarm(20)  # ends a child that waits for ever
            try:
                CALL
            except RuntimeError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()
        CALL
        """.replace("CALL", call)
    return run(textwrap.dedent(code) + f"\n{call}\n" + textwrap.dedent(again), **environment)
