import argparse
import functools
import os
import random
import sys
from collections.abc import Callable

import tests.sweep

from . import record
from .apart import apart
from .judge import Judge
from .session import DTYPES, Searched, subject_of


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=tests.sweep.__doc__)
    parser.add_argument("--seed", type=int, help="of the first round; the others follow (default: a fresh one)")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, help="stop after so many rounds of all densities")
    parser.add_argument("--device", help="as GPUSTATS_DEVICE has it")
    parser.add_argument("--only", action="append", metavar="NAME", help="this density; may be repeated")
    parser.add_argument("--property", action="append", metavar="P", help="this property; may be repeated")
    parser.add_argument("--dtype", action="append", choices=list(DTYPES))
    parser.add_argument("--sets", type=int, default=200, help="of parameters, of each density in a round")
    parser.add_argument("--patience", type=float, default=30, help="seconds that a density may take in one round")
    parser.add_argument("--processes", type=int, default=1, help="that search at a time")
    parser.add_argument("--most", type=int, default=3, help="findings of one function of a density")
    parser.add_argument("--record", action="store_true", help="note what was searched in searched.json and docs/accuracy.md")
    parser.add_argument("--at", nargs=argparse.REMAINDER, help="a function and its arguments, last: only judge one call")
    given = parser.parse_args(arguments)
    if given.device is not None:
        os.environ["GPUSTATS_DEVICE"] = given.device
    say = functools.partial(print, flush=True)
    if given.at:
        return _at(given.only[0], given.at[0], tuple(map(float, given.at[1:])), (given.dtype or ["float64"])[0], say)
    seed = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    say(f"seed {seed}")
    dtypes = given.dtype or tuple(DTYPES)
    report = apart(Searched(
        seed, given.seconds, given.only, given.property, dtypes, given.sets, given.most, given.rounds,
        patience=given.patience, say=say,
    ), given.processes)  # fmt: skip
    say(str(report))
    if given.record:
        record.note(report.entries)
    return 1 if report.findings or report.errors else 0


def _at(name: str, ending: str, point: tuple[float, ...], dtype: str, say: Callable[[str], None]) -> int:
    """One call, judged."""
    judge = Judge(subject_of(name), seconds=60)
    got = judge.subject.value(ending, point, DTYPES[dtype])
    verdict = judge.examine(ending, DTYPES[dtype], point, got)
    say(f"{ending}{point} of {name} is {got!r}, right is {verdict.right!r} ± {verdict.allowed:.2g}: "
        f"{verdict.error:.3g} times the allowed error")  # fmt: skip
    return int(verdict.error > 1)


if __name__ == "__main__":
    sys.exit(main())
