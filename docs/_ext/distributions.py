"""A page for each density, covariance function and sequence model, written from its file and the table of accuracy."""

from __future__ import annotations

import contextlib
import multiprocessing
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pictures
import tex

import gpustats as gs
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library
from gpustats.language.special import folder
from gpustats.names.elsewhere import in_others
from gpustats.names.pymc import class_name
from gpustats.processes.kind import COVARIANCE
from gpustats.rows.kind import SEQUENCE_MODEL

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
PAGES = DOCS / "distributions"  # what is written here is not kept in the repository, but for index.md
METHODS = {
    "probabilities": ("logpdf", "pdf", "logpmf", "pmf", "logcdf", "cdf", "logsf", "sf"),
    "quantiles": ("ppf", "isf", "median", "interval"),
    "numbers": ("mean", "var", "std", "skewness", "kurtosis", "entropy", "mode", "moment", "expect", "support"),
    "data": ("loglik", "loglik_and_grad", "fit", "rvs"),
}
ENDINGS = "logcdf logsf cdf sf ppf isf mean var skewness kurtosis entropy median mode".split()
GROUPS = {  # by the domain of x, the parameters and whether there are probabilities: first match
    "Vectors": lambda d, x: "vector" in x or x == "simplex",
    "Categories": lambda d, x: d.name.startswith(("categorical", "ordered")),
    "Counts, with an upper end": lambda d, x: d.discrete and ({"n", "p", "N"} & {*d.parameters} or d.name[:9] == "bernoulli"),
    "Counts and whole numbers": lambda d, x: d.discrete,
    "The real line": lambda d, x: x == "real" and not {"lower", "upper", "rho", "c"} & {*d.parameters},
    "Positive numbers": lambda d, x: x == "nonnegative",
    "Intervals and circles": lambda d, x: True,
}


def names(kind: Any) -> list[str]:
    """What gpustats ships of a kind."""
    return sorted(library.built_in(kind))


def group(density: Any) -> str:
    """The heading under which a density is listed."""
    return next(head for head, is_one in GROUPS.items() if is_one(density, next(iter(density.domains.values()))))


def lead(kind: str, thing: Any, name: str) -> list[str]:
    """The paragraph at the head of a page: what a thing is, and what it is for."""
    about = f"{kind}{thing.description}"
    return [f"{about[:1].upper()}{about[1:]}. Used for {library.get(name).use}.", ""]


def accuracy() -> dict[str, list[tuple[str, str, str]]]:
    """Density -> function and its largest errors in float64 and float32, as docs/accuracy.md has them."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    name = ""
    for line in (DOCS / "accuracy.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if len(cells) == 6 and (function := re.fullmatch(r"`(\w+)`", cells[1])):
            name = cells[0] or name
            found.setdefault(name, []).append((function[1], cells[2], cells[4]))
    return found


def fold(title: str, code: str) -> list[str]:
    return [f"::::{{dropdown}} {title}", "```c", code.strip(), "```", "::::", ""]


def cell(words: str) -> str:
    """Words in a cell of a table, of which a bar would be the end."""
    return words.replace("|", r"\|")


def arguments(name: str) -> Iterator[str]:
    yield from ("| argument | in formulas | domain | meaning |", "| --- | --- | --- | --- |")
    for argument in library.get(name).arguments:
        letter = f"{{math}}`{tex.symbol(argument.name)}`"
        yield f"| `{argument.name}` | {letter} | {argument.domain} | {cell(argument.description)} |"
    if any(argument.domain == "covariance" for argument in library.get(name).arguments):
        yield "\nIn the place of `cov`, `scale_tril=` takes its lower Cholesky factor, `precision=` its inverse."
    yield ""


def elsewhere(name: str, parameters: tuple[str, ...]) -> Iterator[str]:
    """The density under the names of other packages, and its parameters in theirs."""
    yield from ("## In other packages", "")
    if rows := list(in_others(name, parameters)):
        heads = [f"`{p}`" for p in parameters]
        yield from (f"| package | call | {' | '.join(heads)} |", "| --- | --- |" + " --- |" * len(heads))
        for package, call, values in rows:
            given, _, at = values.partition(" at ")
            told = dict(re.findall(r"(\w+)=(.+?)(?:, (?=\w+=)|$)", given))
            alternative = next((f"`{p}={v}`" for p, v in told.items() if p not in parameters), "")
            cells = [f"`{told[p]}`" if p in told else alternative for p in parameters]
            moved = f", at `{at}`" if at else ""
            yield f"| {package} | `{call}`{moved} | {' | '.join(cells)} |"
        yield ""
    yield f"`gpustats.pymc.{class_name(name)}` is this density in a PyMC model."
    if any(package == "SciPy" for package, *_ in rows):
        yield "`gpustats.scipy_stats` has SciPy's name and parameters."
    if any(" at " in values for *_, values in rows):
        yield "Where a call says *at*, `x` is the value there, and the density here is taken at that expression."
    yield ""


def formula(name: str, thing: Any) -> list[str]:
    """The formula of a density or a covariance function, the source's name of which is given, too."""
    return tex.shown(thing, {a.name: a.domain for a in library.get(name).arguments})


def log_density(name: str, source: str) -> str:
    """Of the source of a density, the comment at its head, and its log-density."""
    head = re.match(r"(?://.*\n)+", source)
    written = rf"^(?:__device__ )?real {name}_logp[dm]f\([^{{]*\{{(?:[^\n]*\}}$|.*?^\}}$)"
    function = re.search(written, source, re.DOTALL | re.MULTILINE)
    assert head and function, name
    return head[0] + function[0]


def snippet(density: Any) -> list[str]:
    """A few calls that run as they stand."""
    given = ", ".join(f"{p}={v}" for p, v in pictures.example(density).items())
    x, *others = density.definition.arguments
    wanted, first = "size=1_000", ["import gpustats as gs", ""]
    if x.rank and not any(a.rank for a in others):  # no parameter tells the length of its vectors
        wanted = f"out=np.empty((1_000, {2 if density.name == 'normal_inverse_gamma' else 4}))"
        first = ["import numpy as np", *first]
    lines = [*first, f"d = gs.{density.name}({given})", f"x = d.rvs({wanted}, rng=1)"]
    lines += [f"d.{'logpmf' if density.discrete else 'logpdf'}(x)"]
    lines += ["d.cdf(x), d.ppf([0.025, 0.975])"] if hasattr(density, "ppf") else []
    lines += [f"gs.{density.name}.loglik(x, {given})"]
    return ["```python", *lines, "```", ""]


def methods(density: Any) -> Iterator[str]:
    """What the density has, and whose own code it is."""
    written = [e for e in (*ENDINGS, "sample") if density.definition.role(e) is not None]
    for kind, all_of_them in METHODS.items():
        here = [m for m in all_of_them if hasattr(density, m) and (m[-3:] == "pmf") <= density.discrete]
        here = [m for m in here if not (density.discrete and m in ("pdf", "logpdf"))]
        if here:
            yield f"- {kind}: " + ", ".join(f"`{m}`" for m in here)
    said = ", ".join(f"`{'rvs' if e == 'sample' else e}`" for e in written)
    yield f"\nIts file has the log-density{', ' if said else ''}{said}. All else, and all derivatives, are derived of these.\n"


def page(name: str, drawn: bool, errors: list[tuple[str, str, str]]) -> str:
    """The page of a density."""
    d = gs.densities[name]
    lines = [f"(density-{name})=", f"# {name}", "", *lead("", d, name), *formula(name, d)]
    if drawn:
        shown = f"{'mass function' if d.discrete else 'density'}{' and distribution function' * hasattr(d, 'cdf')} of {name}"
        plane = name in pictures.PLANES
        about = f"The {shown}, over two components" if plane else f"Curves of the {shown}, for several sets of parameters"
        lines += [f"![{about}]({name}.svg)", ""]
    lines += [*arguments(name), *snippet(d), *elsewhere(name, d.parameters)]
    lines += ["## Log-density", "", "```c", log_density(name, d.source), "```", ""]
    if d.source.strip() != log_density(name, d.source).strip():
        lines += fold("The whole file", d.source)
    for shape, said in (("table", "of a table of observations × parameters"), ("gradient", "of a sum and its derivatives")):
        with contextlib.suppress(NotImplementedError):  # a shape may not be for all densities
            write(PAGES / (kernel := f"{name}.{shape}.cu"), d.kernel_source(shape))
            lines += [f"The kernel {said} that is made of it for CUDA: {{download}}`{kernel}`.", ""]
    lines += ["## Methods", "", *methods(d)]
    if errors:
        lines += ["## Accuracy", "", "The largest error found, as [the page on accuracy](../accuracy.md) explains it:", ""]
        lines += ["| function | float64 | float32 |", "| --- | ---: | ---: |"]
        lines += [*(f"| `{function}` | {double} | {single} |" for function, double, single in errors), ""]
    lines += ["## References", "", f"- {d.reference}"] if d.reference else []
    return "\n".join(lines) + "\n"


def covariance_page(name: str) -> str:
    """The page of a covariance function."""
    c = gs.covariances[name]
    given = pictures.of_covariance(c, PAGES / f"{name}_cov.svg")
    call = ", ".join(f"{p}={v}" for p, v in given.items())
    lines = [f"(covariance-{name})=", f"# {name}", "", *lead("A covariance function of Gaussian processes: ", c, name)]
    lines += [*formula(name, c), f"![The covariance {name} along a line, and draws of a Gaussian process]({name}_cov.svg)", ""]
    lines += [*arguments(name)]
    lines += ["```python", "import numpy as np", "import gpustats as gs", "", "x = np.linspace(0, 3, 100)[:, None]"]
    lines += [f"gs.{name}(x, {call})  # the 100 × 100 matrix", "```", "", "## Source", "", "```c", c.source.strip(), "```", ""]
    if reference := library.get(name).reference:
        lines += ["## References", "", f"- {reference}"]
    return "\n".join(lines) + "\n"


def sequence_page(name: str) -> str:
    """The page of a sequence model."""
    m = gs.series[name]
    lines = [f"(sequence-model-{name})=", f"# {name}", "", *lead("A model of sequences: ", m, name)]
    for line in map(tex.equation, tex.equations(m.source)):
        lines += ["```{math}", line, "```", ""]
    lines += ["Numbers are counted from 0.", "", *arguments(name)]
    given = ", ".join(f"{s}=gs.sequences({s})" for s in m.sequences)
    lines += [f"With sequences `{'`, `'.join(m.sequences)}`, lists of arrays:", ""]
    lines += ["```python", f"rows = gs.Rows(gs.series.{name}, {given})", "value, gradient = rows.value_and_grad("]
    lines += [f"    {', '.join(f'{p}={p}' for p in m.parameters)}", ")", "```", ""]
    lines += ["Of the same parameters, numbers of each step:", "", "| output | from | meaning |", "| --- | --- | --- |"]
    method = {output: "rows.draws" if output in m.drawn else "rows.steps" for output in m.outputs}
    lines += [f"| `{output}` | `{method[output]}` | {cell(about)} |" for output, about in m.outputs.items()]
    lines += ["", "In a row function of your own:", "", "```c"]
    lines += [f"{name}_loglik({', '.join([*m.sequences, 'n', *m.parameters])})", "```", ""]
    lines += ["## Source", "", "```c", m.source.strip(), "```", "", "## References", "", f"- {m.reference}"]
    return "\n".join(lines) + "\n"


def contents(title: str, entries: list[tuple[str, str, str]]) -> list[str]:
    """A heading, and a table of pages, what they are about and what that is for, in alphabetical order."""
    rows = [f"| [{name}]({page}.md) | {cell(f'{about}; for {library.get(name).use}')} |" for name, page, about in entries]
    return [f"## {title}", "", "| | |", "| --- | --- |", *rows, ""]


def index() -> str:
    """The page that lists all of them."""
    by_group: dict[str, list[tuple[str, str, str]]] = {head: [] for head in GROUPS}
    for name in names(DENSITY):
        by_group[group(gs.densities[name])].append((name, name, gs.densities[name].description))
    covariances = [(n, f"{n}_cov", gs.covariances[n].description) for n in names(COVARIANCE)]
    first = ["The real line", "Positive numbers"]
    series = [(n, f"{n}_loglik", gs.series[n].description) for n in names(SEQUENCE_MODEL)]
    counts = f"{len(names(DENSITY))} densities, {len(covariances)} covariance functions and {len(series)} models of sequences"
    lines = ["# Distributions", "", f"gpustats ships {counts}, each"]
    lines += ["a file of a few lines of C. [What you write yourself](../guides/own-density.md) has the same methods.", ""]
    lines += chain.from_iterable(contents(t, by_group[t]) for t in [*first, *(t for t in reversed(GROUPS) if t not in first)])
    lines += ["## Matrices and groups", "", "`gs.wishart`, `gs.inverse_wishart`, `gs.matrix_normal` and their kin are"]
    lines += ["described with their [methods](../api/random.md).", ""]
    lines += contents("Covariance functions", covariances)
    lines += contents("Sequences", series)
    hidden = [*names(DENSITY), *(f"{n}_cov" for n in names(COVARIANCE)), *(f"{n}_loglik" for n in names(SEQUENCE_MODEL))]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *hidden, "```"]) + "\n"


def write(path: Path, text: str) -> None:
    """Write a file unless it says the same already, so that Sphinx reads only what has changed."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def generate(app: Sphinx | None = None) -> None:
    PAGES.mkdir(exist_ok=True)
    written, newest = names(DENSITY), Path(pictures.__file__).stat().st_mtime
    sources = {n: max(newest, (folder() / f"{n}.cu").stat().st_mtime) for n in written}
    stale = [n for n in written if not (p := PAGES / f"{n}.svg").exists() or p.stat().st_mtime < sources[n]]
    if stale:
        with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
            for _ in pool.map(pictures.draw, pictures.shares(stale), [PAGES] * 4):
                pass
    errors = accuracy()
    for name in written:
        drawn = (PAGES / f"{name}.svg").exists()
        write(PAGES / f"{name}.md", page(name, drawn, errors.get(name, [])))
    for name in names(COVARIANCE):
        write(PAGES / f"{name}_cov.md", covariance_page(name))
    for name in names(SEQUENCE_MODEL):
        write(PAGES / f"{name}_loglik.md", sequence_page(name))
    write(PAGES / "index.md", index())
    kept = {"index", *written, *(f"{n}_cov" for n in names(COVARIANCE)), *(f"{n}_loglik" for n in names(SEQUENCE_MODEL))}
    for path in PAGES.iterdir():
        if path.name.partition(".")[0] not in kept:
            path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", generate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
