"""A minute of random programs, and tests of what finds their faults."""

import pytest
from thorough import THOROUGH

import gpustats as gs
from tests.fuzz import compiled, numbers, shrink, tree
from tests.fuzz.compare import ENTRIES, Subject, reference
from tests.fuzz.grammar import program_of
from tests.fuzz.interpreter import expected
from tests.fuzz.points import points_of
from tests.fuzz.session import fuzz
from tests.fuzz.tree import Call, Literal, Variable, walk

SEED = 20110000  # the same programs each time; `make fuzz` tries others


def shown(report):
    return "\n\n".join(f"{seed}: {failure}\n{program}" for seed, failure, program in report.failures)


@pytest.mark.optimised
def test_random_programs():
    try:
        gs.devices()[0]
    except (IndexError, gs.NoDeviceError):
        pytest.skip("no device")
    report = fuzz(SEED, seconds=15, programs=50, shrinking=20, most=1)
    assert report.programs > 0 and report.compared.total() > 0
    assert not report.failures, shown(report)


@THOROUGH
@pytest.mark.parametrize("plant, kind, entry", [
    pytest.param("derivative", "derivative", "gradient_rows float64", marks=pytest.mark.slow),
    ("crash", "crash", "table float64"),
])  # fmt: skip
def test_planted_faults_are_found_and_made_small(plant, kind, entry):
    """Faults of tanh, which most programs call."""
    report = fuzz(SEED, 60, entries=(entry,), plant=plant, shrinking=3, most=1)
    found, failure, program = report.failures[0]
    assert (failure.kind, failure.entry) == (kind, entry)
    assert "tanh(" in str(program) and shrink.weight(program) < shrink.weight(program_of(found))
    assert kind != "crash" or "-11" in failure.message


@pytest.mark.slow
def test_a_program_that_hangs_is_given_up():
    report = fuzz(SEED, 60, entries=("table float64",), plant="hang", shrinking=0, limit=3, most=1)
    assert {failure.kind for _, failure, _ in report.failures} == {"hang"}


# ---- the parts


def test_programs_are_valid_and_depend_on_the_seed_alone():
    for seed in range(200):
        program = program_of(seed)
        assert shrink.valid(program), program
        assert program == program_of(seed)


def test_programs_use_all_of_the_language():
    programs = [program_of(seed) for seed in range(400)]
    nodes = [n for p in programs for n in walk(p)]
    called = {n.function for n in nodes if isinstance(n, Call)}
    assert {*numbers.FUNCTIONS, "fma", "abs", "isnan"} - called <= {"acos", "acosh", "asin", "atanh", "xlogy"}
    assert {type(n) for n in nodes} >= set(tree.Statement.__args__) | set(tree.Expression.__args__)


@pytest.mark.skipif(not compiled.available(), reason="needs gcc")
def test_the_interpreter_agrees_with_gcc():
    compared = 0
    for seed in range(25):
        program = program_of(seed)
        found = [f for f in reference(Subject(program, points_of(program, seed)), "float64") if f is not None]
        assert all(f.right for f in found), f"{program}\n{next(f for f in found if not f.right)}"
        compared += len(found)
    assert compared > 100


def density_of(expression, *names):
    """A program that returns one expression of these numbers."""
    parameters = tuple(tree.Parameter(name, tree.REAL, "real") for name in names)
    function = tree.Function("f_logpdf", tree.REAL, parameters, (tree.Return(expression),))
    return tree.Program("f", (function,))


X, A = Variable("x", tree.REAL), Variable("a", tree.REAL)


def test_derivatives_of_the_interpreter():
    product = tree.Binary("*", Call("sin", (X,), tree.REAL), Call("exp", (A,), tree.REAL), tree.REAL)
    found = expected(density_of(product, "x", "a"), {"x": 0.5, "a": -1.0})
    assert found.value == pytest.approx(0.17637079922503197, rel=1e-12)
    assert found.slopes["x"] == pytest.approx((0.32284458245003306,), rel=1e-12)
    assert found.slopes["a"] == pytest.approx((found.value,), rel=1e-12)


def test_what_hangs_on_rounding_is_not_decided():
    third = tree.Binary("/", X, Literal("3.0", tree.REAL), tree.REAL)
    thrice = tree.Binary("*", third, Literal("3.0", tree.REAL), tree.REAL)
    compared = tree.Cast(tree.REAL, tree.Binary("<", thrice, X, tree.INT))
    assert not expected(density_of(compared, "x"), {"x": 0.7}).decided
    difference = expected(density_of(tree.Binary("-", thrice, X, tree.REAL), "x"), {"x": 0.7})
    assert difference.decided and 1e-16 < difference.tolerance < 1e-13


def test_whole_numbers():
    assert [numbers.whole("/", a, b) for a, b in [(7, 2), (-7, 2), (7, -2), (7, 0)]] == [3, -3, -3, 0]
    assert [numbers.whole("%", a, b) for a, b in [(7, 2), (-7, 2), (7, -2), (7, 0)]] == [1, -1, 1, 7]
    assert numbers.whole("*", 100_000, 100_000) == 1_410_065_408 and numbers.whole("-", 0, -(2**31)) == -(2**31)


def test_no_more_parentheses_than_needed():
    minus = lambda a, b: tree.Binary("-", a, b, tree.REAL)  # noqa: E731
    assert tree.Text().expression(minus(X, minus(A, X))) == "x - (a - x)"
    assert tree.Text().expression(minus(minus(X, A), X)) == "x - a - x"
    assert tree.Text().expression(tree.Unary("-", tree.Unary("-", X, tree.REAL), tree.REAL)) == "-(-x)"


def test_making_small():
    """Down to the call, what takes its result, and a return."""
    seed = next(s for s in range(1000) if "erfc(" in str(program_of(s)) and tree.size(program_of(s)) > 60)
    small, tried = shrink.shrunk(program_of(seed), lambda p: "erfc(" in str(p), seconds=60)
    assert tried > 10 and shrink.valid(small)
    assert "erfc(1.0)" in str(small) and tree.size(small) < 12


def test_entry_points_are_known():
    assert {"table float64", "mixture float32", "reference"} <= ENTRIES.keys()
