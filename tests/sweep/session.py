"""A session: one density after another, in both types. What is suspicious goes to the judge, what is wrong is made small."""

from __future__ import annotations

import itertools
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .executed import Undecided
from .findings import Finding, as_floats
from .judge import Verdict
from .known import is_known

DTYPES = {"float64": np.float64, "float32": np.float32}


@dataclass
class Report:
    """What came of a session.

    Attributes
    ----------
    batches : int
    values, suspicious, judged, undecided : Counter
        Property -> values that it looked at, those that were suspicious, and those that went to the judge.
    findings : list of Finding
    errors, incomplete : list of str
        What a batch has raised instead of values; batches that took too long.
    reasons : Counter
        Why the judge did not decide.
    """

    batches: int = 0
    values: Counter[str] = field(default_factory=Counter)
    suspicious: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    entries: dict[str, Any] = field(default_factory=dict)

    def searched(self, b: Any, dtype: str) -> None:
        """Note the ranges of a batch; see `record`."""
        from gpustats.runtime import choose

        from . import record

        values = sum(v.size for v in b.known.values())
        ranges = {n: [float(p.min()), float(p.max())] for n, p in zip(b.subject.density.parameters, b.parameters)}
        found = sorted({f"{f.dtype} {f.ending} {f.kind}" for f in self.findings
                        if (f.density, f.dtype) == (b.subject.name, dtype)})  # fmt: skip
        device = choose.get().device
        new = {
            "parameters": ranges, "least": {dtype: float(b.q.min())}, "types": [dtype], "values": values,
            "devices": [f"{device.name}, {device.driver}"], "open": found,
        }  # fmt: skip
        self.entries[b.subject.name] = record.added(self.entries.get(b.subject.name, {}), new)

    def add(self, other: Report) -> None:
        """What another session has seen."""
        from . import record

        self.batches += other.batches
        for mine, theirs in zip(self._counts(), other._counts()):
            mine.update(theirs)
        self.findings += other.findings
        self.incomplete += other.incomplete
        self.errors += other.errors
        for name, entry in other.entries.items():
            self.entries[name] = record.added(self.entries.get(name, {}), entry)

    def _counts(self) -> tuple[Counter[str], ...]:
        return self.values, self.suspicious, self.judged, self.undecided, self.reasons

    def __str__(self) -> str:
        lines = [f"{self.batches} batches; values, suspicious, judged, undecided:"]
        for p in self.values:
            counts = self.values[p], self.suspicious[p], self.judged[p], self.undecided[p]
            lines.append(f"  {p:28} {counts[0]:9} {counts[1]:8} {counts[2]:6} {counts[3]:6}")
        lines += [f"  {count} times undecided: {why}" for why, count in self.reasons.most_common(6)]
        lines += [f"error: {error}" for error in self.errors]
        lines += [f"not in time: {', '.join(self.incomplete)}"] if self.incomplete else []
        return "\n".join([*lines, f"{len(self.findings)} findings, {len(self.errors)} errors"])


@dataclass
class Searched:
    """The settings of a session; see `main`."""

    seed: int = 0
    seconds: float = 60.0
    names: Sequence[str] | None = None
    properties: Sequence[str] | None = None
    dtypes: Sequence[str] = ("float64", "float32")
    sets: int = 200
    most: int = 3  # findings of one function of a density
    rounds: int | None = 1
    shrinking: float = 5.0  # seconds
    judging: float = 2.0  # seconds that one verdict may take
    patience: float = 30.0  # seconds that a density may take in one round, compilation aside
    say: Callable[[str], None] = print


def names_of_all() -> list[str]:
    """The built-in densities."""
    from gpustats.language.kinds import DENSITY
    from gpustats.language.library import library

    return sorted(library.built_in(DENSITY))


#: What is made of a density, by the name; bounds are parameters, which are varied as others.
TRANSFORMS = {"Truncate": {"lower": 0.0, "upper": 1.0}, "LocScale": {}, "ZeroInflate": {}, "Hurdle": {}}


def subject_of(name: str) -> Any:
    """A density of numbers whose parameters are numbers, too, or what is made of it, ``Truncate(normal)``; else None."""
    import gpustats as gs
    from gpustats.language.kinds import DENSITY

    from .batch import Subject

    transform, _, inner = name.rstrip(")").rpartition("(")
    density = gs.densities[inner]
    if density.definition.kind is not DENSITY or any(a.rank for a in density.definition.arguments):
        return None
    if transform:
        try:
            density = getattr(gs.transforms, transform)(density, **TRANSFORMS[transform])
        except (NotImplementedError, ValueError):
            return None
    return Subject(density, name)


def round_of(given: Searched, number: int) -> list[str]:
    """The densities of a round in random order, and of all of them some that are made of others."""
    order = names_of_all() if given.names is None else list(given.names)
    rng = np.random.default_rng([given.seed, number])
    if given.names is None:
        order += [f"{rng.choice(list(TRANSFORMS))}({name})" for name in rng.choice(order, len(order) // 5)]
    rng.shuffle(order)
    return order


def sweep(given: Searched) -> Report:
    """Search until the time is over, or so many rounds have been made."""
    report, end, told = Report(), time.monotonic() + given.seconds, time.monotonic()
    for number in itertools.islice(itertools.count(), given.rounds):
        for name in round_of(given, number):
            if (subject := subject_of(name)) is None:
                continue
            if time.monotonic() > told + 60:
                told = time.monotonic()
                given.say(f"{report.batches} batches, {report.values.total()} values, now {name}")
            for dtype in given.dtypes:
                if time.monotonic() > end:
                    return report
                _search(given, report, subject, dtype, given.seed + number, end)
    return report


def _search(given: Searched, report: Report, subject: Any, dtype: str, seed: int, end: float) -> None:
    """One batch of a density."""
    from .batch import OutOfTime
    from .parameters import sets
    from .properties import PROPERTIES

    rng = np.random.default_rng([seed, zlib.crc32(f"{subject.name} {dtype}".encode())])
    report.batches += 1
    batch = None
    try:
        subject.compiled("logpdf", DTYPES[dtype])
        columns = sets(subject.density, rng, given.sets, DTYPES[dtype])
        stop = min(end, time.monotonic() + given.patience)
        batch = _batch(given, subject, DTYPES[dtype], columns, stop, rng)
        for name in map(str, rng.permutation(given.properties or list(PROPERTIES))):
            for suspicion in PROPERTIES[name](batch):
                _judge(given, report, batch, name, suspicion, dtype, seed)
    except OutOfTime:
        report.incomplete.append(f"{subject.name} {dtype}")
    except Exception as error:
        report.errors.append(f"{subject.name} {dtype}, seed {seed}: {type(error).__name__}: {error}"[:1000])
        given.say(f"\n== error: {report.errors[-1]}")
    if batch is not None and batch.known:
        report.searched(batch, dtype)


PROBE = 4  # sets that tell how long all take


def _batch(given: Searched, subject: Any, dtype: type, columns: tuple[np.ndarray, ...], end: float, rng: Any) -> Any:
    """As many of the sets as can be looked at in time."""
    from .batch import Batch
    from .parameters import levels

    def of_first(k: int) -> Any:
        own = tuple(c[:k, None] for c in columns)
        return Batch(subject, dtype, own, levels(rng, len(own[0]) if own else 1, dtype), end, rng)

    probe = of_first(PROBE)
    begin = time.monotonic()
    for ending in subject.endings:
        probe(ending, 0.5)
    taken = (time.monotonic() - begin) / PROBE  # of one set and one number for each function
    most = given.patience / 3 / (taken * 3 * probe.q.shape[1])
    return of_first(int(min(given.sets, max(most, PROBE))))


def _judge(given: Searched, report: Report, b: Any, name: str, suspicion: Any, dtype: str, seed: int) -> None:
    from .batch import OF_PARAMETERS, OutOfTime
    from .judge import Judge

    ending, first, score = suspicion.ending, suspicion.first, suspicion.score
    report.values[name] += score.size
    where = np.argwhere(score > 1)
    report.suspicious[name] += len(where)
    if not len(where) or is_known(b.subject.name, name, ending):
        return
    judge = Judge(b.subject, given.judging)
    known = [f for f in report.findings if (f.density, f.ending, f.dtype) == (b.subject.name, ending, dtype)]
    worst = np.lexsort([b.rng.random(len(where)), -score[tuple(where.T)]])
    picks = [*worst[:2], *b.rng.permutation(len(where))[:3]]
    for pick in dict.fromkeys(map(int, picks)):
        if len(known) >= given.most:
            return
        if time.monotonic() > b.end:
            raise OutOfTime
        row, column = where[pick]
        given_first = () if ending in OF_PARAMETERS else (np.broadcast_to(first, score.shape)[row, column],)
        of_row = (p[row, 0] for p in (suspicion.parameters or b.parameters))
        point = as_floats(*(np.asarray(v, b.dtype) for v in (*given_first, *of_row)))
        finding = examined(judge, ending, dtype, point, name, seed, report)
        if finding is None or any(f.kind == finding.kind == "nan" for f in known):
            continue
        small = _small(given, judge, finding)
        if any(f.point == small.point for f in known):
            continue
        report.findings.append(small)
        known.append(small)
        given.say(f"\n{small}")


def examined(judge: Any, ending: str, dtype: str, point: tuple[float, ...], name: str, seed: int,
             report: Report | None = None) -> Finding | None:  # fmt: skip
    """The finding that a point is, if it is one."""
    kind = DTYPES[dtype]
    try:
        got = judge.subject.value(ending, point, kind)
    except Exception as error:  # of a fit, or of draws
        if report is not None:
            nothing = Finding(judge.subject.name, ending, dtype, point, np.nan, Verdict(np.nan, 0.0, np.inf), name, seed)
            report.errors.append(f"{nothing.call}: {type(error).__name__}: {error}"[:1000])
        return None
    if report is not None:
        report.judged[name] += 1
    try:
        verdict = judge.examine(ending, kind, point, got)
    except Undecided as why:
        if report is not None:
            report.undecided[name] += 1
            report.reasons[str(why)[:80]] += 1
        return None
    if not verdict.error > 1:
        return None
    return Finding(judge.subject.name, ending, dtype, point, got, verdict, name, seed)


def _small(given: Searched, judge: Any, finding: Finding) -> Finding:
    from .batch import OF_PARAMETERS
    from .shrink import shrunk

    best = [finding]

    def fails(point: tuple[float, ...]) -> bool:
        point = as_floats(*(np.asarray(v, DTYPES[finding.dtype]) for v in point))
        if finding.ending in ("ppf", "isf") and not 0 < point[0] < 1:
            return False
        parameters = point if finding.ending in OF_PARAMETERS else point[1:]
        if np.isnan(judge.subject.value("logpdf", (1.0, *parameters), DTYPES[finding.dtype])):
            return False  # beyond their domains
        found = examined(judge, finding.ending, finding.dtype, point, finding.property, finding.seed)
        if found is None or found.kind != finding.kind or found.verdict.error < min(finding.verdict.error, 100) / 10:
            return False
        best.append(found)
        return True

    if given.shrinking:
        shrunk(finding.point, fails, given.shrinking)
    return best[-1]
