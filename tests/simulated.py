"""Runs checks of kernel shapes on any device, for instance below NVIDIA's tool that looks for races and stray accesses.

``compute-sanitizer --tool racecheck python tests/simulated.py LAYOUT SHAPES DTYPE [DEVICE]``

LAYOUT is "gpu", or "cpu" for the device's own; SHAPES are names of checks with commas between, "all", or the mistakes
"race" and "stray", which have to be reported; DTYPE is "float64" or "float32"; DEVICE is as for `gpustats.use`.
"""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).with_name("helpers"))

import simulator  # noqa: E402

if len(sys.argv) not in (4, 5):
    raise SystemExit(__doc__)
layout, names, dtype, *device = sys.argv[1:]
for name in simulator.find() if names == "all" else names.split(","):
    print(name, flush=True)
    simulator.check(name, layout, dtype, *device)
print("done")
