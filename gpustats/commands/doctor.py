"""Report of `gpustats doctor`: what was found, what is missing and its cure, and whether devices compute what SciPy does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from ..errors import NoDeviceError
from ..runtime import choose
from ..runtime.base import Device
from .findings import Findings, Lack, look
from .self_test import CHECKS
from .tables import show as table

LONGEST_SECONDS = 300  # for the checks of a device; they take ten where every kernel has to be compiled


@dataclass(frozen=True)
class Outcome:
    """Outcome of a check on a device."""

    device: str
    check: str
    seconds: float  #: duration, with the compiler's work
    error: str  #: "" where it passed


@dataclass(frozen=True)
class Report:
    """Report on an installation."""

    findings: Findings
    devices: list[Device]  #: that are tested
    reasons: list[str]  #: why there are no others, or not the one that was asked for
    outcomes: list[Outcome]

    @property
    def broken(self) -> list[Lack]:
        """Missing requirements of the package itself."""
        return [lack for lack in self.findings.lacks if not lack.extra]

    @property
    def failed(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.error]

    @property
    def ok(self) -> bool:
        """True if there is a device, and nothing that is there fails."""
        return bool(self.devices) and not self.broken and not self.failed

    def as_dict(self) -> dict[str, object]:
        """Report as a dictionary, for JSON."""
        return {
            "ok": self.ok,
            **asdict(self.findings),
            "devices": [asdict(device) for device in self.devices],
            "reasons": self.reasons,
            "checks": [asdict(outcome) for outcome in self.outcomes],
        }


def examine(spec: str | None = None) -> Report:
    """Look for everything, and test devices: all but simulators, or the one that `spec` names."""
    findings = look()
    devices, reasons = choose.look()
    if spec is None:
        devices = [device for device in devices if not choose.simulated(device)]
    else:
        try:
            devices = [choose.get(spec).device]
        except (NoDeviceError, ValueError) as error:  # what was found may tell more
            devices, reasons = [], [str(error)]
    return Report(findings, devices, reasons, [outcome for device in devices for outcome in tested(device.id)])


def tested(device: str, limit: float = LONGEST_SECONDS) -> Iterator[Outcome]:
    """Outcomes of the checks on a device, in a process of their own: a broken driver may end it, or never come back."""
    # It imports what this process does, wherever that comes from.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "gpustats.commands.self_test", device]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
        lines, ending = done.stdout, _ending(done)
    except subprocess.TimeoutExpired as error:
        lines = (error.stdout or b"").decode(errors="replace") if not isinstance(error.stdout, str) else error.stdout
        ending = f"not done after {limit:g} s"
    names = list(CHECKS)
    for line in lines.splitlines():
        if line.startswith("{"):  # drivers may print, too
            outcome = Outcome(device, **json.loads(line))
            names.remove(outcome.check)
            yield outcome
    if names:
        yield Outcome(device, names[0], 0.0, ending)


def _ending(done: subprocess.CompletedProcess[str]) -> str:
    said = done.stderr.strip().rpartition("\n")[2]
    if done.returncode < 0:
        return f"the process was ended by {signal.Signals(-done.returncode).name}; {said}".rstrip("; ")
    return f"the process ended with status {done.returncode}; {said}".rstrip("; ")


def run(spec: str | None, as_json: bool) -> int:
    """Print a report; returns 0 where all is well."""
    report = examine(spec)
    if as_json:
        print(json.dumps(report.as_dict(), indent=1))
    else:
        show(report)
    return 0 if report.ok else 1


def show(report: Report) -> None:
    table(["found", "version", ""], [[f.what, f.version or "-", f.note] for f in report.findings.found])
    for lack in report.findings.lacks:
        print(f"\nmissing{f' for [{lack.extra}]' if lack.extra else ''}: {lack.why}")
        print("\n".join(f"    {line}" for line in lack.cure.splitlines()))
    print()
    if not report.devices:
        print("\n".join(["nothing was tested", *report.reasons]))
        return
    table(
        ["device", "type", "name", "driver", "float64", "memory / GiB"],
        [[d.id, d.type, d.name, d.driver, "yes" if d.double else "no", f"{d.memory / 2**30:.1f}"] for d in report.devices],
        numbers=5,
    )
    print()
    table(
        ["check", *(device.id for device in report.devices)],
        [[name, *(_cell(report.outcomes, device.id, name) for device in report.devices)] for name in CHECKS],
    )
    for outcome in report.failed:
        print(f"\n{outcome.device}: {outcome.check}: {outcome.error}")
    print("\nall is well" if report.ok else "\nnot all is well")


def _cell(outcomes: Sequence[Outcome], device: str, check: str) -> str:
    for outcome in outcomes:
        if (outcome.device, outcome.check) == (device, check):
            return "FAILED" if outcome.error else f"ok, {outcome.seconds:.1f} s"
    return "not run"
