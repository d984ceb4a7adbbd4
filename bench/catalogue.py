"""`python -m bench.catalogue PATH`: fused terms of many PyMC models, and their agreement with PyMC's own values.

PATH is a folder of Python files that each have a function ``build_model()``, which returns a model, or a tuple that begins with
one, as those of https://github.com/ricardoV94/pymc-model-catalogue. Each file is tried in a process of its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from .report import in_process

TOLERANCE = 1e-9


def census_of(path: Path) -> dict[str, Any]:
    """Fused terms of a model, and the distance of its log-density and gradient from PyMC's."""
    import pymc as pm

    import gpustats.pymc as gpm

    spec = importlib.util.spec_from_file_location(f"catalogue_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    built = module.build_model()
    model = built[0] if isinstance(built, tuple) else built
    with model, gpm.fused(min_rows=0):
        terms = gpm.explain(model).terms
    found: dict[str, Any] = {"terms": [(t.name, t.n_rows, t.is_fused, t.reason) for t in terms]}
    model.check_start_vals = None
    plain = model.logp_dlogp_function(ravel_inputs=True)
    with gpm.fused(min_rows=0):
        ours = model.logp_dlogp_function(ravel_inputs=True)
    start = model.initial_point(random_seed=1)
    for function in (plain, ours):
        function.set_extra_values({name: start[name] for name in function._extra_var_names})
    centre = pm.blocking.DictToArrayBijection.map({v.name: start[v.name] for v in plain._grad_vars}).data
    rng, worst = np.random.default_rng(1), 0.0
    for scale in (0.0, 0.01, 0.1):
        x = centre + scale * rng.normal(size=centre.size)
        (want, slope), (got, found_slope) = plain(x), ours(x)
        worst = max(worst, difference(got, want))
        if want != -np.inf:  # where parameters are invalid the gradient has no meaning
            worst = max(worst, difference(found_slope, slope))
    found["difference"] = worst
    return found


def difference(got: Any, want: Any) -> float:
    """Difference relative to the largest number; infinite where one is finite and the other is not."""
    got, want = np.atleast_1d(got), np.atleast_1d(want)
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True) or not np.isfinite(got[finite]).all():
        return float("inf")
    got, want = got[finite], want[finite]
    return float(np.abs(got - want).max(initial=0) / max(1.0, np.abs(want).max(initial=0)))


def tried(path: Path) -> dict[str, Any]:
    try:
        return census_of(path)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--out", type=Path, help="a JSON file for all that was found")
    parser.add_argument("--limit", type=float, default=300, help="seconds that a model may take (default: 300)")
    options = parser.parse_args(argv)
    paths = [options.path] if options.path.is_file() else sorted(p for p in options.path.rglob("*.py") if p.name[0] != "_")
    results = {}
    for path in paths:
        result = results[path.stem] = in_process(options.limit, tried, path)
        print(f"{path.stem:45.45} {summary(result)}", flush=True)
    with_terms = [r for r in results.values() if r.get("terms")]
    whole = [r for r in with_terms if any(fused for _, _, fused, _ in r["terms"])]
    right = [r for r in whole if r["difference"] <= TOLERANCE]
    counts = f"{len(with_terms)} with a term of data, {len(whole)} of these with one fused, {len(right)} equal"
    print(f"{len(results)} models, {counts}")
    if options.out:
        options.out.write_text(json.dumps(results, indent=1))


def summary(result: dict[str, Any]) -> str:
    if "error" in result:
        return result["error"][:120]
    listed = [f"{name}[{n}]" if fused else f"({name}: {reason})" for name, n, fused, reason in result["terms"]]
    return f"{result['difference']:.0e}  {' '.join(listed)}"


if __name__ == "__main__":
    main()
