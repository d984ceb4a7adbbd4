"""Some seconds of a search for values that do not fit one another, and tests of what finds them."""

import mpmath as mp
import numpy as np
import pytest
from thorough import THOROUGH, some

import gpustats as gs
from tests.sweep import record
from tests.sweep.apart import apart
from tests.sweep.batch import Subject
from tests.sweep.executed import Undecided
from tests.sweep.judge import Judge, _number, _rank, limited
from tests.sweep.parameters import sets
from tests.sweep.planted import PLANTED, text
from tests.sweep.properties.equivariance import moving
from tests.sweep.session import Searched, names_of_all, subject_of, sweep
from tests.sweep.shrink import shrunk

SEED = 20110000
#: Densities that `make test` searches, always at the same places: `make sweep` takes all of them, and others each time.
SOME = ["exponential", "geometric", "laplace", "lindley", "logistic", "normal"]


def shown(report):
    return "\n\n".join(map(str, report.findings))


def without_findings():
    """Densities in which the last recorded search has found nothing."""
    return sorted(name for name, entry in record.read().items() if not entry["open"])


@pytest.mark.optimised
@pytest.mark.parametrize("part", some(range(2), 2))
def test_some_densities(part):
    report = sweep(Searched(SEED, 3600, SOME[part::2], sets=20, patience=1000, shrinking=2, judging=20))
    assert report.values.total() > 100_000 and not report.findings and not report.errors, shown(report)


@THOROUGH
def test_all_densities_without_findings():
    for dtype in ("float64", "float32"):
        names = [name for name in without_findings() if dtype in record.read()[name]["types"]]
        report = sweep(Searched(SEED, 600, names, dtypes=[dtype], sets=60, patience=8, shrinking=2))
        assert not report.findings, shown(report)


@pytest.mark.parametrize("name", [
    "planted_right", "planted_tail", "planted_slope",
    *(pytest.param(n, marks=THOROUGH) for n in PLANTED.keys() - {"planted_right", "planted_tail", "planted_slope"}),
])  # fmt: skip
def test_planted_faults_are_found(name):
    """In densities without a reference, of which the text is executed, and integrated."""
    gs.register(text(name), replace=True)
    _, broken, wrong = PLANTED[name]
    report = sweep(Searched(1, 60, [name], [broken], ["float64"], sets=20, most=1, shrinking=2))
    assert {f.ending for f in report.findings} >= {wrong} if wrong else not report.findings, shown(report)
    if name == "planted_tail":
        finding = next(f for f in report.findings if f.ending == wrong)
        x, lam = finding.point
        assert finding.verdict.right == pytest.approx(np.exp(-lam * x), rel=1e-8) and finding.verdict.error > 1e6
        assert len(repr(x)) <= 8 and f"{name}.{wrong}({x!r}, {lam!r})" in str(finding)


def test_densities_have_processes_of_their_own():
    """One that ends early is told, and so is what the others have seen; one that takes too long is ended."""
    report = apart(Searched(SEED, 3600, ["normal", "no_such_density"], ["tails_are_monotone"], ["float64"], sets=5), 2)
    assert report.values["tails_are_monotone"] > 0 and report.entries["normal"]["open"] == []
    assert report.errors == ["no_such_density: the process ended with code 1"]
    report = apart(Searched(SEED, 3600, ["studentized_range"]), 1, grace=-1e6)
    assert report.incomplete == ["studentized_range (ended)"]


# ---- the parts


def test_densities_of_numbers_are_searched():
    """None is listed but in the library."""
    assert {"normal", "polya_gamma", "poisson", "stable", "dirichlet"} <= set(names_of_all())
    assert subject_of("polya_gamma") is not None and subject_of("dirichlet") is None and subject_of("mvnormal") is None


def test_parameters_reach_far_and_go_together():
    density = gs.densities["truncated_normal"]
    mu, sigma, lower, upper = sets(density, np.random.default_rng(1), 400, np.float64)
    assert len(mu) == 400 and (sigma > 0).all() and (lower < upper).all()
    assert sigma.min() < 1e-6 and sigma.max() > 1e6 and (upper - lower < 1e-4 * abs(upper)).any()


def test_the_judge_has_right_values():
    """Also of what the text of the density, which has the formula, does not compute well."""
    judge = Judge(Subject(gs.normal))
    tail = judge.examine("sf", np.float64, (30.0, 0.0, 1.0), 0.0)
    assert tail.right == pytest.approx(float(mp.erfc(30 / mp.sqrt(2)) / 2), rel=1e-12, abs=0) and tail.error > 1
    quantile = judge.examine("ppf", np.float64, (1e-300, 1.0, 2.0), -73.0)
    assert quantile.right == pytest.approx(1 - 2 * 37.0470964, rel=1e-8)
    assert judge.examine("mean", np.float64, (1e6, 2.0), 1e6).error < 1
    assert judge.examine("entropy", np.float64, (1e6, 2.0), 0.0).right == pytest.approx(np.log(2) + 1.4189385332046727)
    assert judge.examine("d/dmu", np.float64, (3.0, 1.0, 2.0), 0.0).right == pytest.approx(0.5)


def test_the_judge_knows_the_condition():
    """Near the location the difference of the inputs is known to few digits."""
    judge = Judge(Subject(gs.normal))
    x, mu, sigma = np.float32(1000.5), np.float32(1000.0), np.float32(1e-3)
    allowed = judge.examine("logpdf", np.float32, (float(x), float(mu), float(sigma)), 0.0).allowed
    assert allowed > 1e-5 * 0.5 * 500**2


def test_a_text_is_executed_without_rounding():
    density = gs.register("""
    // summed: a sum that rounding ends early
    // x: real
    real summed_logpdf(real x) { real s = 1e17; for (int i = 0; i < 10; i++) s += x; return s - 1e17; }
    """, replace=True)  # fmt: skip
    with mp.workdps(30):
        assert Judge(Subject(density)).log_density(mp.mpf(1)) == 10
    assert density.logpdf(1.0) == 0


def test_what_takes_too_long_is_not_decided():
    with pytest.raises(Undecided, match="more than 0.05 s"), limited(0.05):
        while True:
            pass


def test_what_moves_along_is_found_out():
    assert moving(Subject(gs.normal), "shift") == (1, 0) and moving(Subject(gs.normal), "scale") == (1, 1)
    assert moving(Subject(gs.gamma), "shift") is None and moving(Subject(gs.gamma), "scale") == (0, -1)


def test_making_small():
    assert shrunk((3.7281, 123.456), lambda p: p[1] > 100, 1) == (1.0, 120.0)


def test_doubles_in_their_order():
    values = [-np.inf, -1.5, -5e-324, 0.0, 5e-324, 1.0, np.inf]
    ranks = [_rank(v) for v in values]
    assert ranks == sorted(ranks) and [_number(r) for r in ranks] == values and _rank(-0.0) == 0
