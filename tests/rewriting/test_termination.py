"""What may be evaluated ahead of the conditions that guard it."""

import pytest

from gpustats.language.device_function import parse
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library
from gpustats.language.nodes import RNG
from gpustats.rewriting.termination import Termination


def is_certain(body, helpers=""):
    functions = parse(f"{helpers} real f_logpdf(real x, real a, int dim) {{ {body} }}", library.resolve).functions
    termination = Termination(lambda name: functions.get(name) or library.resolve(name))
    return termination.is_certain(*functions["f_logpdf"].body)


CERTAIN = [
    "return lgamma(x) / a;",
    "real s = 0; for (int i = 0; i < 8; i++) s += x; return s;",
    "real s = 0; for (int i = 0; i <= dim - 1 && s < a; i += 2) s += x; return s;",
    "real s = 0; for (int i = dim - 1; i >= 0; i--) for (int j = 0; j < dim; j++) s += x; return s;",
    "real s = 0; int i; for (i = 3; i > -5; i -= 2) s += x; return s;",
    "int n = (int)x; return 7 / n + n % 3;",
    "real s = 0; int n = (int)x; for (int i = 0; i < (n < 60 ? n : 60); i++) s += x; return s;",
    "real s = x; if (s > a) return 1; for (int i = 0; i < 8; i++) if (s > a) s -= log_gamma(a); return s;",
]
UNCERTAIN = [
    "real s = 0; for (int i = 2147483640; i <= 2147483647; i++) s += x; return s;",
    "real s = 0; while (s < a) s += x; return s;",
    "real s = 0; int n = (int)x; for (int i = 0; i < (n < 60 ? 60 : n); i++) s += x; return s;",
    "real s = 0; int n = (int)x; for (int i = 60; i > (n < 0 ? n : 0); i--) s += x; return s;",
    "real s = 0; for (int i = 0; s < a; i++) s += x; return s;",
    "real s = 0; for (int i = 0; i < (int)a; i++) s += x; return s;",
    "real s = 0; for (int i = 0; i < 8; i--) s += x; return s;",
    "real s = 0; for (int i = 0; i < 8; i += 0) s += x; return s;",
    "real s = 0; for (int i = 0; i < 8 || s < a; i++) s += x; return s;",
    "real s = 0; for (int i = 0; i < 8; i++) { s += x; i = i - 1; } return s;",
    "real s = 0; for (int i = 0; i != 7; i += 2) s += x; return s;",
    "real s = 0; for (real t = 0; t < a; t += 1) s += x; return s;",
    "real s = 0; for (int i = 0; i < 1000; i++) for (int j = 0; j < 1000; j++) s += x; return s;",
    "real s = 0; for (int i = 0; i < 2000000000; i++) s += x; return s;",
    "real s = 0; for (int i = (int)x; i < 8; i++) s += x; return s;",
]


@pytest.mark.parametrize("body", CERTAIN)
def test_ends_for_certain(body):
    assert is_certain(body)
    assert is_certain("return x > a ? helper(x, a, dim) : 0;", f"real helper(real x, real a, int dim) {{ {body} }}")


@pytest.mark.parametrize("body", UNCERTAIN)
def test_may_not_end(body):
    assert not is_certain(body)
    assert not is_certain("return x > a ? 1 : sqrt(helper(x, a, dim));", f"real helper(real x, real a, int dim) {{ {body} }}")


def test_loops_of_helpers_multiply():
    helper = "real helper(real x) { real s = 0; for (int i = 0; i < 1000; i++) s += x; return s; }"
    assert is_certain("return helper(x);", helper)
    assert not is_certain("real s = 0; for (int i = 0; i < 1000; i++) s += helper(x); return s;", helper)


#: Sums of as many terms as the observation, or a parameter, says.
LONG = {f"beta_binomial_{ending}" for ending in ("log_sum_below", "log_below", "logcdf", "logsf")}
LONG |= {f"kolmogorov_smirnov_one_sided_{ending}" for ending in ("log_above", "logpdf", "logcdf", "logsf")}
LONG |= {f"kolmogorov_smirnov_{ending}" for ending in ("logpdf", "logcdf", "logsf")}
LONG |= {f"{name}_{ending}" for name in ("hypergeometric", "fisher_noncentral_hypergeometric") for ending in
         ("log_sum", "log_tail", "log_sum_below", "log_below", "log_from", "sum_from", "logpmf", "logcdf", "logsf",
          "mean")}  # fmt: skip
LONG |= {f"beta_negative_binomial_{ending}" for ending in ("log_below", "log_above", "logcdf", "logsf")}
LONG |= {f"{name}_{ending}" for name in ("generalized_poisson", "borel", "poisson_inverse_gaussian") for ending in
         ("log_below", "logcdf", "logsf")} | {"poisson_inverse_gaussian_log_above"}
LONG |= {f"wallenius_noncentral_hypergeometric_{ending}" for ending in ("log_sum", "logcdf", "logsf")}
LONG |= {f"negative_hypergeometric_{ending}" for ending in ("logcdf", "logsf")}


def test_all_that_the_densities_call_ends(monkeypatch):
    """So nothing of theirs has to wait for a condition, but for integrals of integrals: those end early."""
    monkeypatch.setattr("gpustats.rewriting.termination.MOST_NESTED_TURNS", 1 << 40)
    termination = Termination(library.resolve)
    special = map(library.resolve, library.special)
    for function in (*special, *(f for name in library.built_in(DENSITY) for f in library.get(name).functions.values())):
        if all(p.type != RNG for p in function.parameters) and function.name not in LONG:
            assert termination.is_certain(*function.body), function.name
