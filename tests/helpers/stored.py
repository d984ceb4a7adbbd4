"""Numbers that mpmath takes long to compute and that never change: the folder `stored` has them, in a file for each name.

Of every table that a test asks for, one row, chosen at random, is computed anew. `make references` computes all of them.
"""

import functools
import hashlib
import json
import os
import random
from pathlib import Path

import numpy as np
from references import rows_of

FOLDER = Path(__file__).parents[1] / "stored"
WRITTEN = os.environ.get("GPUSTATS_STORE") == "1"  # by one process at a time
CHOICE = random.SystemRandom()  # the global one has the same seed in each run


@functools.cache
def tables(name):
    """Those of a file: the numbers, by what they are and at which arguments."""
    file = FOLDER / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def write(name):
    FOLDER.mkdir(exist_ok=True)
    lines = (f"{json.dumps(key)}: {json.dumps(values)}" for key, values in sorted(tables(name).items()))
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def stored(name, what, compute, args):
    """What `compute` makes of each row of numbers, and of lists of numbers: a number, or nested lists of equal lengths.

    args: arrays whose first axes have the same length, the columns of the rows
    """
    points = rows_of(args)
    key = f"{what} {hashlib.sha256(json.dumps(points).encode()).hexdigest()[:16]}"
    if key not in tables(name):
        tables(name)[key] = [compute(*row) for row in points]
        if WRITTEN:
            write(name)
    elif points:
        i = CHOICE.randrange(len(points))
        again = compute(*points[i])
        message = f"stored/{name}.json has another {what} of {points[i]}: `make references` where its reference has changed"
        np.testing.assert_allclose(tables(name)[key][i], again, rtol=1e-14, err_msg=message)
    return np.array(tables(name)[key])
