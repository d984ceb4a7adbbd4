"""The command line: `gpustats devices | doctor | list | source | generate | demo | bench | completion`."""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..names.near import did_you_mean
from .completion import INSTALL, SHELLS, script
from .tables import show

if TYPE_CHECKING:
    from ..density import Density
    from ..processes.covariance import Covariance
    from ..rows.series import SequenceModel


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    import gpustats as gs

    args = parser().parse_args(argv)
    try:
        return args.run(args) or 0
    except BrokenPipeError:  # `gpustats source … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (gs.NoDeviceError, gs.DeviceFunctionError, ImportError, OSError, ValueError) as error:
        print(f"gpustats: {error}", file=sys.stderr)
        return 1


class _Parser(argparse.ArgumentParser):
    """Parser whose errors about choices suggest what is near, as argparse itself can from Python 3.14 on."""

    def error(self, message: str) -> NoReturn:
        if found := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)$", message):
            near = did_you_mean(found[1], re.findall(r"[\w.-]+", found[2]), 1)
            message += f": {near}" if near else ""
        super().error(message)


def parser() -> argparse.ArgumentParser:
    import gpustats as gs

    top = _Parser(
        prog="gpustats", description="Densities written in a few lines of C, on GPUs and CPUs.",
        epilog="gpustats COMMAND --help tells more of each.",
    )
    top.add_argument("--version", action="version", version=f"gpustats {gs.__version__}")
    top.set_defaults(run=lambda args: top.print_help())
    commands = top.add_subparsers(metavar="command")

    def command(run: Callable[[argparse.Namespace], int | None], help: str) -> argparse.ArgumentParser:
        name = run.__name__.strip("_")
        sub = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
        sub.set_defaults(run=run)
        return sub

    sub = command(devices, "list the devices")
    sub.add_argument("--bandwidth", action="store_true", help="measure how fast each copies its own memory")

    sub = command(doctor, "tell what was found, what is missing and its cure, and test each device for some seconds")
    sub.add_argument("--device", help='test this one only, and fail where it is not there: such as "cuda:0", "gpu", "cpu"')
    sub.add_argument("--json", action="store_true", help="print JSON")

    sub = command(list_, "list the densities, the covariance functions and the sequence models")
    sub.add_argument("pattern", nargs="?", default="", help='part of a name or a description, or a pattern such as "beta*"')

    sub = command(source, "print the source of one kernel")
    sub.add_argument("name", help="a density, a covariance function, or a file with one; with --check also a sequence model")
    sub.add_argument("--shape", choices=shapes(), help="default: table, covariance")
    sub.add_argument("--dialect", choices=["cuda", "opencl"], default="cuda", help="default: cuda")
    sub.add_argument("--dtype", choices=["float32", "float64"], default="float64", help="default: float64")
    sub.add_argument("--transform", choices=["exp"], help="exp: of the density itself, not of its logarithm")
    sub.add_argument("--check", action="store_true", help="list instead the indices that may lie outside of their vectors")

    sub = command(generate, "write a kernel of each shape, or those of all built-in densities, into a folder")
    sub.add_argument("folder", nargs="?", default="generated", help="default: generated, if there is one, as in a clone")
    sub.add_argument("--all", action="store_true", help="the kernels of all built-in densities and models")
    sub.add_argument("--check", action="store_true", help="write nothing, fail where a file is out of date")

    sub = command(demo, "draw a posterior from 20,190 doctor-visit counts, beside SciPy, and sample a PyMC model of them")
    sub.add_argument("--out", type=Path, default=Path("gpustats-demo"), help="folder for the pictures (default: gpustats-demo)")
    sub.add_argument("--points", type=int, default=200, help="grid points along each parameter (default: 200)")
    sub.add_argument("--draws", type=int, default=300, help="of each of 2 chains of the PyMC model (default: 300; 0: no model)")
    sub.add_argument("--device", help='such as "cuda:0", "opencl:0", "gpu", "cpu"')

    sub = command(bench, "list benches, or run one: gpustats beside SciPy, JAX, PyTorch and CuPy, where installed")
    sub.add_argument("arguments", nargs=argparse.REMAINDER, help="a name, or all, and options; nothing lists the names")
    sub.prefix_chars = "\0"  # hands every option on

    sub = command(completion, "print a script by which a shell completes commands, options and names")
    sub.add_argument("shell", choices=SHELLS)
    sub.formatter_class = argparse.RawDescriptionHelpFormatter
    sub.epilog = "\n".join(["in each session from now on:", *(f"  {line}" for line in INSTALL.values())])
    return top


def shapes() -> list[str] | None:
    """Kernel shapes that can be shown; None where a package is missing, of which `doctor` must be able to tell."""
    try:
        from ..kernels.shown import shown

        return [*shown("density"), *shown("covariance")]
    except ImportError:
        return None


def devices(args: argparse.Namespace) -> int:
    import gpustats as gs
    from gpustats.runtime import choose

    found = gs.devices()
    if not found:
        choose.get()  # says what was looked for
    columns = ["id", "backend", "type", "name", "memory / GiB"]
    rows = [[d.id, d.backend, d.type, d.name, f"{d.memory / 2**30:.1f}"] for d in found]
    if args.bandwidth:
        columns.append("copies at / GB/s")
        for row in rows:
            row.append(f"{choose.get(row[0]).bandwidth() / 1e9:.1f}")
    show(columns, rows, numbers=4)
    return 0


def doctor(args: argparse.Namespace) -> int:
    from gpustats.commands import doctor

    return doctor.run(args.device, args.json)


def list_(args: argparse.Namespace) -> None:
    wanted = args.pattern.lower()

    def matches(name: str, described: Density | Covariance | SequenceModel) -> bool:
        if any(sign in wanted for sign in "*?["):
            return fnmatch.fnmatchcase(name, wanted)
        return wanted in name or wanted in described.description.lower()

    tables = {
        kind: [[n, ", ".join(f"{p}: {f.domains[p]}" for p in f.parameters), f.description] for n, f in sorted(named.items())
               if matches(n, f)] for kind, named in _named().items()
    }  # fmt: skip
    if not any(tables.values()):
        raise ValueError(f"nothing matches {args.pattern!r}: {_near(wanted)}")
    for kind, rows in tables.items():
        if rows:
            show([kind, "parameters", "description"], rows)


def _named() -> dict[str, Mapping[str, Any]]:
    """Kind -> name -> what `gpustats list` lists."""
    import gpustats as gs

    return {"density": gs.densities, "covariance": gs.covariances, "sequence model": gs.series}


def _near(name: str) -> str:
    """Advice about a name that nothing has."""
    return did_you_mean(name, [n for named in _named().values() for n in named]) or "`gpustats list` has all names"


def source(args: argparse.Namespace) -> None:
    import gpustats as gs

    from ..kernels.shown import shown_source

    if Path(args.name).suffix:
        named = gs.register(Path(args.name))
    elif args.name in gs.densities or args.name in gs.covariances:
        named = getattr(gs, args.name)
    elif args.name in gs.series:
        named = gs.series[args.name]
    else:
        raise ValueError(f"no density, covariance function or sequence model is called {args.name!r}: {_near(args.name)}")
    if args.check:
        return check_indices(named)
    if not hasattr(named, "kernel_source"):
        print(shown_source("sequence model", named, args.shape or "rows", args.dtype, args.dialect))
        return
    shape = args.shape or ("table" if isinstance(named, gs.Density) else "covariance")
    made = gs.transforms.Exp(named) if args.transform == "exp" else named
    print(made.kernel_source(shape, dtype=args.dtype, dialect=args.dialect))


def check_indices(named: Density | Covariance | SequenceModel) -> None:
    """Print the lines of a source with an index, or a length told to a helper, that is not plainly within its vector."""
    import gpustats as gs

    from ..errors import numbered
    from ..language.bounds import not_plain

    functions = () if isinstance(named, gs.gp.Covariance) else named.definition.functions.values()  # it takes numbers alone
    found = {place for function in functions for place in not_plain(function)}  # loops may be written out
    for line, column, text in sorted(found):
        print(f"line {line}, column {column}: {text} may lie outside: the nearest is taken where it does")
        print(numbered(named.source, {line}, context=0))
    if not found:
        print(f"{named.name}: every index is plainly within its vector")


def generate(args: argparse.Namespace) -> int:
    from gpustats.commands import generate

    if args.folder == "generated" and not Path(args.folder).is_dir():
        raise ValueError("there is no folder 'generated' here: say where the kernels go, such as `gpustats generate kernels`")
    files = dict(generate.everything() if args.all else generate.reviewed())
    if not args.check:
        written, removed = generate.write(args.folder, files)
        print(f"{Path(args.folder).resolve()}: {len(written)} of {len(files)} files written, {len(removed)} removed")
        return 0
    stale = generate.stale(args.folder, files)
    for path in stale:
        print(f"out of date: {path}", file=sys.stderr)
    return 1 if stale else 0


def demo(args: argparse.Namespace) -> None:
    import gpustats as gs
    from gpustats.commands import demo

    if args.device:
        gs.use(args.device)
    demo.run(args.out, args.points, args.draws)


def bench(args: argparse.Namespace) -> int:
    status: int = _benches().main(args.arguments)
    return status


def _benches() -> Any:
    """Module that lists and runs benches: part of the package, or, in a clone, in a folder beside it."""
    clone = Path(__file__).resolve().parents[2]
    if not (clone / "pyproject.toml").is_file():
        return importlib.import_module("gpustats.bench.run")
    if str(clone) not in sys.path:
        sys.path.insert(0, str(clone))
    return importlib.import_module("bench.run")


def completion(args: argparse.Namespace) -> None:
    names = [n for named in _named().values() for n in sorted(named)]
    taken = {"source": names, "list": names, "bench": ["all", *_benches().benches()]}
    print(script(args.shell, parser(), taken, files=("source", "generate")), end="")
