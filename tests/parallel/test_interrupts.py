"""Ctrl-C in the midst of long work: it ends at once, leaves no thread at work, and the process goes on computing."""

import os
import subprocess
import sys

import pytest
from thorough import THOROUGH

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no signals")

#: Seconds from the signal to the error, at most.
SOON = 2.0
#: A process that is interrupted while it works, whose next call must give what the first one gave.
PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import gpustats as gs
from gpustats.display import bars

signal.signal(signal.SIGINT, signal.default_int_handler)
sent, two = [], [gs.Likelihood(gs.normal, np.zeros(1)).device] * 2

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

{prepare}
want = {check}
before = set(threading.enumerate())
timer = threading.Timer({delay}, interrupt)
timer.start()
try:
    while True:
        {work}
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - sent[0])
timer.join()
assert bars._outer.get() is None
time.sleep({rest})
new = [t.name for t in threading.enumerate() if t not in before and not t.name.startswith("gpustats-")]
assert not new, new
assert np.array_equal({check}, want), ({check}, want)
print("goes on")
"""

STREAM = """
class Slow:
    "Rows that come from far away, and slowly."
    shape, dtype, ndim = (100_000,), np.dtype(float), 1

    def __getitem__(self, rows):
        time.sleep(seconds)
        return np.arange(*rows.indices(100_000), dtype=float) / 1e5

def summed(slowly):
    global seconds
    seconds = slowly
    return likelihood(0.0, 1.0)

seconds = 0.0
likelihood = gs.Likelihood(gs.normal, Slow(), {options})
"""
SMALL, LARGE = "chunk=1_000, memory=24_000", "chunk=10_000, memory=240_000"
WORK = {
    "a stream": (STREAM.format(options=SMALL), "summed(0.0)", "summed(0.005)", 0),
    "a stream of pieces that take long": (STREAM.format(options=LARGE), "summed(0.0)", "summed(3.0)", 0),
    "streams of two devices": (
        STREAM.format(options=SMALL + ", devices=two"), "summed(0.0)", "summed(0.1)", 0,
    ),
    "a fit to a stream": (
        STREAM.format(options=SMALL), "summed(0.0)", "summed(0.005); likelihood.fit(progress=True)", 0,
    ),
    "a map": (
        """
done = []

def function(data, first, end, runtime):
    time.sleep(0.0 if end == 2 else 2.7)
    done.append(first)
    return {"n": np.arange(first, end)}

mapped = gs.parallel.DeviceMap(two)
""", "mapped(function, None, 2, chunk=2)['n']", "mapped(function, None, 100, chunk=3, progress=True)", 1.5,
    ),
    "a search of hyperparameters": (
        """
x = np.random.default_rng(1).uniform(size=(400, 2))
ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.sin(5 * x[:, 0]) + x[:, 1])
start = {"amplitude": 1.0, "lengthscale": [0.3, 0.8], "sigma": 0.1}
""", "ml(**start)", "ml.fit(start, restarts=3, rng=1, progress=True)", 0.5,
    ),
    "many data sets": (
        "x = np.random.default_rng(1).gamma(2.0, size=(300_000, 20))", "gs.gamma.fit(x[:5])['alpha']", "gs.gamma.fit(x)", 0,
    ),
}  # fmt: skip
QUICK = ["a fit to a stream", "a map", "streams of two devices"]


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=THOROUGH) for n in WORK if n not in QUICK)])
def test_interrupted(name):
    prepare, check, work, rest = WORK[name]
    program = PROGRAM.format(prepare=prepare, check=check, work=work, rest=rest, delay=0.4)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith(("interrupted", "goes")))
    assert float(said["interrupted"]) < SOON and said["goes"] == "on"
