"""`python -m bench.versions`: this version of gpustats beside another one, in turns."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import gpustats as gs
from gpustats.runtime import choose

from . import version_works
from .report import RATIO, TIMES, Report, Row, Table, options

NOTE = """\
enqueued: calls back to back, divided by their number; waited: one call until its result is there (median). Each turn of a
version is in a process of its own, as small calls take up to a quarter longer in some processes. The fastest turn counts.
"""
THIS, OTHER, TURNS = "gpustats", "the other version", 3


@dataclass(frozen=True)
class Case:
    """Work of `version_works`."""

    title: str


class Version:
    """Process that imports a version of gpustats from a folder, and measures its work."""

    def __init__(self, folder: Path, n: int, budget: float):
        self._folder = folder.resolve()
        command = [sys.executable, version_works.__file__, str(n), str(budget), choose.get().device.id]
        path = os.pathsep.join([str(self._folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            command, env=os.environ | {"PYTHONPATH": path}, cwd=self._folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def measured(self, title: str) -> Row:
        """Times of a work in microseconds, or its error."""
        assert self._process.stdin and self._process.stdout
        try:
            print(title, file=self._process.stdin, flush=True)
            answer = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            return {"error": "the process died"}
        if Path(answer["from"]).parents[1] != self._folder:
            raise RuntimeError(f"{answer['from']} is imported in the place of the version in {self._folder}")
        return answer if "error" in answer else {f"{key}_us": 1e6 * answer[key] for key in ("waited", "enqueued")}

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def folder_of(version: str) -> Iterator[Path]:
    """Folder with a version: it is one, or what git has of a revision."""
    if (Path(version) / "gpustats" / "__init__.py").exists():
        yield Path(version)
        return
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(["git", "archive", version], capture_output=True)
        if made.returncode:
            said = made.stderr.decode().strip()
            raise ValueError(f"{version!r} is neither a folder with gpustats nor a revision of the git repository here: {said}")
        subprocess.run(["tar", "x", "-C", folder], input=made.stdout, check=True)
        yield Path(folder)


def rows(case: Case, processes: Sequence[dict[str, Version]]) -> Iterator[Row]:
    """Row of each version: the fastest times of its turns, each in processes of its own."""
    turns = [{name: version.measured(case.title) for name, version in versions.items()} for versions in processes]
    for name in turns[0]:
        own = [turn[name] for turn in turns]
        row = {"work": case.title, "peer": name, "time": "enqueued_us"}
        bad = next((found for found in own if "error" in found), None)
        yield row | (bad or {key: min(found[key] for found in own) for key in ("waited_us", "enqueued_us")})


def main(argv: list[str] | None = None) -> int:
    parser = options("versions", __doc__)
    parser.add_argument("other", help="the other version: a folder that has gpustats, or a revision of git, such as HEAD~20")
    args = parser.parse_args(argv)
    report = Report(args)
    n = report.default(None, gpu=10**7, cpu=10**6, quick=10**4)
    cases = [Case(title) for title in version_works.works(n)]
    with folder_of(args.other) as folder, contextlib.ExitStack() as stack:
        folders = {THIS: Path(gs.__file__).parents[1], OTHER: folder}
        budget, processes = 0.02 if report.quick else 0.15, list[dict[str, Version]]()
        for _ in range(TURNS):
            processes.append({name: Version(own, n, budget) for name, own in folders.items()})
            for version in processes[-1].values():
                stack.callback(version.close)
        for case in report.wanted(cases):
            report.rows += rows(case, processes)
    return report.write(Table(report.rows, TIMES | RATIO, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
