"""The cache on disk, and processes that are forked and spawned."""

import os
import subprocess
import sys
import textwrap

import pytest
from runtimes import AFFINE, CPU, HEADERS, SEARCH, error_in_a_forked_child, needs_cpu, run
from thorough import some

# The cache on disk
CACHED = f"""
import time, numpy as np
from gpustats.runtime import get
runtime = get({CPU!r})
start = time.perf_counter()
kernel = runtime.kernel({HEADERS["opencl"] + AFFINE!r}, "fill", 64)
result = runtime.result(64)
kernel((1, 1), result.handle, 8, 5.0)
assert (runtime.fetch(result).view(np.float64) == 5).all()
print(time.perf_counter() - start)
"""


@needs_cpu
def test_a_second_process_compiles_nothing(tmp_path):
    environment = {"GPUSTATS_CACHE_DIR": str(tmp_path)}
    run(CACHED, **environment)
    (entry,) = tmp_path.iterdir()
    before = entry.stat().st_ino
    assert float(run(CACHED, **environment)) < 0.5
    assert [file.stat().st_ino for file in tmp_path.iterdir()] == [before]  # nothing was written again


@needs_cpu
@pytest.mark.parametrize("damage", some([b"", b"nonsense", "truncated"]))
def test_a_damaged_cache_is_no_error(tmp_path, damage):
    environment = {"GPUSTATS_CACHE_DIR": str(tmp_path)}
    run(CACHED, **environment)
    (entry,) = tmp_path.iterdir()
    content = entry.read_bytes()
    entry.write_bytes(content[:-100] if damage == "truncated" else damage)
    run(CACHED, **environment)
    assert len(entry.read_bytes()) == len(content)


@needs_cpu
def test_an_unusable_cache_is_no_error(tmp_path):
    file = tmp_path / "file"
    file.touch()
    run(CACHED, GPUSTATS_CACHE_DIR=str(file))
    run(CACHED, GPUSTATS_CACHE_DIR=str(file / "below"))


# Processes
@needs_cpu
def test_a_forked_child_gets_a_clear_error():
    error = error_in_a_forked_child("from gpustats.runtime import get", f"get({CPU!r}).synchronize()")
    assert "spawn" in error


@needs_cpu
def test_a_spawned_child_works(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import multiprocessing
        from gpustats.runtime import get

        def work(n):
            get({CPU!r}).synchronize()
            return n + 1

        if __name__ == "__main__":
            work(0)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [1, 2]))
        """)
    )
    env = {**os.environ, "PYTHONPATH": SEARCH}
    assert subprocess.run([sys.executable, script], env=env, capture_output=True, text=True).stdout == "[2, 3]\n"


# The choice
def test_importing_touches_no_device():
    run("""
    import sys, gpustats.runtime
    assert not {"pyopencl", "pycuda", "mako"} & set(sys.modules)
    """)
