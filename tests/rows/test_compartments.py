"""Compartments in closed form: amounts and derivatives of them are those of mpmath's matrix exponential with 60 digits."""

import functools
import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from thorough import some

import gpustats as gs

MODELS = [*itertools.product((1, 2, 3), (False, True), (False, True))]  # compartments, absorption, infusion


def parameters_of(n, absorption, infusion):
    own = [f"{letter}{i}" for i in range(2, n + 1) for letter in "QV"]
    return [*["infusion"] * infusion, "CL", "V", *own, *["ka"] * absorption]


@functools.cache
def rows_of(n, absorption, infusion, dtype=np.float64):
    """Rows of which each is one amount at the end; all else is a number of the row's own."""
    parameters = parameters_of(n, absorption, infusion)
    first = [f"y{i}" for i in range(n + absorption)]
    source = gs.compartment_steps(n, absorption=absorption, infusion=infusion, name="drug") + f"""
    __device__ real at(real which, real end, {", ".join(f"real {p}" for p in (*first, *parameters))})
    {{
        real y[{len(first)}] = {{{", ".join(first)}}};
        drug_advance(1, 1 + end, y, {", ".join(parameters)});
        return y[(int)which];
    }}"""
    names = ["end", *first, *parameters]
    which = np.arange(len(first), dtype=dtype)
    return gs.Rows(source, which=which, **{name: gs.per_row() for name in names}), names


def amounts(n, absorption, infusion, given):
    """Amounts at the end, by the exponential of the matrix of the rates."""
    given = dict(given)
    end, y = given.pop("end"), [given.pop(f"y{i}") for i in range(n + absorption)]
    rates, m = mp.zeros(n + 2), n + 1
    central = 1
    if absorption:
        rates[0, 0], rates[central, 0] = -given["ka"], given["ka"]
    rates[central, central] = -given["CL"] / given["V"]
    for i in range(2, n + 1):
        q, v = given[f"Q{i}"], given[f"V{i}"]
        rates[central, central] -= q / given["V"]
        rates[central, i], rates[i, central], rates[i, i] = q / v, q / given["V"], -q / v
    rates[central, m] = given.get("infusion", 0)
    start = mp.matrix([*[0] * (not absorption), *y, 1])
    return list(exponential(*(rates * end)) * start)[1 - absorption : -1]


@functools.lru_cache(2)
def exponential(*elements):
    """Exponential of a matrix by its elements: it is the same for all first amounts."""
    n = math.isqrt(len(elements))
    return mp.expm(mp.matrix([elements[i : i + n] for i in range(0, n * n, n)]))


def exact(model, given, names):
    """Amounts, and their derivatives in each of some numbers, by differences with 60 digits."""
    with mp.workdps(60):
        given = {name: mp.mpf(float(value)) for name, value in given.items()}
        wanted, slopes = amounts(*model, given), {}
        for wrt in names:
            h = mp.mpf(10) ** -25 * max(abs(given[wrt]), mp.mpf(10) ** -6)
            slopes[wrt] = [(a - b) / h for a, b in zip(amounts(*model, given | {wrt: given[wrt] + h}), wanted, strict=True)]
        return wanted, slopes


def check(model, given, rtol, floor=1e-14):
    """Compare amounts with a relative error, or one beside all that there is; and their derivatives."""
    rows, names = rows_of(*model)
    n = rows.n_rows
    own = {name: np.full(n, float(given[name])) for name in names}
    found, (_, gradient) = rows.terms(**own), rows.value_and_grad(**own)
    wanted, slopes = exact(model, given, names)
    total = sum(map(abs, wanted))
    for i, value in enumerate(wanted):
        error, shown = abs(found[i] - value), (model, given, i, found[i], float(value))
        assert error <= rtol * abs(value) + floor * total, shown
    for wrt in names:
        for i, slope in enumerate(slopes[wrt]):
            error, shown = abs(gradient[wrt][i] - slope), (model, given, wrt, i, gradient[wrt][i], float(slope))
            assert error <= 10 * rtol * abs(slope) + floor * total / abs(given[wrt] or given["V"]), shown


def drawn(rng, model, low=-1.0, high=1.0):
    n, absorption, infusion = model
    names = [*(f"y{i}" for i in range(n + absorption)), *parameters_of(*model)]
    return {"end": 10 ** rng.uniform(-1, 1.3), **{name: 10 ** rng.uniform(low, high) for name in names}}


@pytest.mark.parametrize("model", some([(v,) for v in MODELS]), ids=str)
def test_against_the_matrix_exponential(model, rng):
    for _ in range(2):
        check(model, drawn(rng, model), 1e-12)


@pytest.mark.parametrize("model", [m for m in MODELS if m[1]], ids=str)
@pytest.mark.parametrize("apart", some([0, 1e-14, 1e-9, 1e-5, 1e-2], 2))
def test_absorption_as_fast_as_elimination(model, apart, rng):
    """Where two rates are equal, or nearly so, the textbook's formula divides by their difference."""
    given = drawn(rng, model)
    if model[0] == 1:
        rate = given["CL"] / given["V"]
    else:
        matrix = np.diag([-given["CL"] / given["V"], *(-given[f"Q{i}"] / given[f"V{i}"] for i in range(2, model[0] + 1))])
        for i in range(2, model[0] + 1):
            matrix[0, 0] -= given[f"Q{i}"] / given["V"]
            matrix[0, i - 1], matrix[i - 1, 0] = given[f"Q{i}"] / given[f"V{i}"], given[f"Q{i}"] / given["V"]
        rate = -np.sort(np.linalg.eigvals(matrix).real)[-1]
    check(model, given | {"ka": rate * (1 + apart), "end": 2 / rate}, 1e-12)


NASTY = {
    "no time": {"end": 0.0},
    "no flow": {"Q2": 0.0},
    "no flows": {"Q2": 0.0, "Q3": 0.0},
    "no clearance": {"CL": 0.0},
    "nothing at all": {"CL": 0.0, "Q2": 0.0, "Q3": 0.0, "ka": 0.0, "infusion": 0.0},
    "little flow, of equal rates": {"Q2": 1e-9, "V2": 1e-9, "V": 1.0, "CL": 1.0, "Q3": 1e-9, "V3": 1e-9},
    "equal peripheral compartments": {"Q2": 0.5, "V2": 2.0, "Q3": 0.5, "V3": 2.0},
    "compartments of one rate": {"Q2": 1e-7, "V2": 1e-7, "Q3": 2e-7, "V3": 2e-7, "CL": 1.0, "V": 1.0, "ka": 1.0},
    "fast exchange": {"Q2": 1e6, "V2": 2.0, "Q3": 1e3, "V3": 3.0, "CL": 0.1, "V": 1.0},
    "fast absorption": {"ka": 1e7},
    "slow absorption": {"ka": 1e-9},
    "a deep compartment": {"V3": 1e6, "V2": 1e3},
    "slow rates": {"CL": 1e-8, "Q2": 1e-7, "Q3": 1e-9, "ka": 1e-8, "V": 1.0},
    "a long time": {"end": 300.0, "CL": 1.0, "V": 5.0},
    "back in time": {"end": -0.5},
}  # fmt: skip


@pytest.mark.parametrize("model", [(1, True, True), (2, True, True), (3, True, True), (3, False, False)], ids=str)
@pytest.mark.parametrize("case", NASTY)
def test_corners(model, case, rng):
    given = drawn(rng, model, -0.5, 0.5) | {"end": 1.5}
    given |= {name: value for name, value in NASTY[case].items() if name in given}
    check(model, given, 1e-11)


@pytest.mark.parametrize("model", [(1, True, True), (2, False, True), (3, True, False)], ids=str)
@pytest.mark.parametrize("equal", some([True, False], 2))
def test_second_derivatives(model, equal, rng):
    parameters, (n, absorption, infusion) = parameters_of(*model), model
    given = drawn(rng, model, -0.5, 0.5) | {"end": 1.5}
    if equal and n == 1:
        given["ka"] = given["CL"] / given["V"]
    elif equal:
        given |= {"Q2": 1e-9, "V2": 1e-9, "V": 1.0, "CL": 1.0}
    first = ", ".join(repr(float(given[f"y{i}"])) for i in range(n + absorption))
    source = gs.compartment_steps(n, absorption=absorption, infusion=infusion, name="drug") + f"""
    __device__ real at(real end, {", ".join(f"real {p}" for p in parameters)})
    {{
        real y[{n + absorption}] = {{{first}}}, total = 0;
        drug_advance(0, end, y, {", ".join(parameters)});
        for (int i = 0; i < {n + absorption}; i++)
            total += (i + 1) * y[i];
        return total;
    }}"""
    found = gs.Rows(source, end=np.array([given["end"]])).hessian(**{p: given[p] for p in parameters})
    with mp.workdps(60):
        point = {name: mp.mpf(float(value)) for name, value in given.items()}

        step = {p: point[p] * mp.mpf(10) ** -20 for p in parameters}

        def total(*moved):
            at = point | {p: point[p] + moved.count(p) * step[p] for p in moved}
            return sum((i + 1) * y for i, y in enumerate(amounts(*model, at)))

        here, beside = total(), {p: total(p) for p in parameters}
        for (i, a), (j, b) in itertools.combinations_with_replacement(enumerate(parameters), 2):
            wanted = (total(a, b) - beside[a] - beside[b] + here) / (step[a] * step[b])
            scale = abs(wanted) + here / abs(point[a] * point[b]) * 1e-6
            assert abs(found[i, j] - wanted) <= 1e-9 * scale, (a, b, found[i, j], float(wanted))


def test_formulas_of_textbooks():
    """Gibaldi and Perrier (1982): equations 1.94 of one compartment with absorption, and 2.16 of two after a bolus."""
    rows, names = rows_of(1, True, False)
    ka, cl, v, t, dose = 1.1, 3.0, 20.0, 2.5, 100.0
    given = dict(zip(names, [t, dose, 0.0, cl, v, ka], strict=True))
    found = rows.terms(**{name: np.full(2, value) for name, value in given.items()})
    k = cl / v
    np.testing.assert_allclose(found, [dose * np.exp(-ka * t), dose * ka / (ka - k) * (np.exp(-k * t) - np.exp(-ka * t))],
                               rtol=1e-14)  # fmt: skip
    rows, names = rows_of(2, False, True)
    q, v2, rate = 5.0, 50.0, 7.0
    k10, k12, k21 = cl / v, q / v, q / v2
    half, product = (k10 + k12 + k21) / 2, k10 * k21
    alpha, beta = half + np.sqrt(half**2 - product), half - np.sqrt(half**2 - product)
    a, b = dose * (alpha - k21) / (alpha - beta), dose * (k21 - beta) / (alpha - beta)
    given = dict(zip(names, [t, dose, 0.0, 0.0, cl, v, q, v2], strict=True))
    found = rows.terms(**{name: np.full(2, value) for name, value in given.items()})
    np.testing.assert_allclose(found[0], a * np.exp(-alpha * t) + b * np.exp(-beta * t), rtol=1e-13)
    given |= {"end": 1e5, "infusion": rate}  # in the end as much leaves as comes
    found = rows.terms(**{name: np.full(2, value) for name, value in given.items()})
    np.testing.assert_allclose(found, [rate / k10, rate / k10 * v2 / v], rtol=1e-13)


@pytest.mark.parametrize("model", some([(model,) for model in MODELS]), ids=str)
def test_float32(model, rng):
    rows, names = rows_of(*model, np.float32)
    n = rows.n_rows
    given = {name: float(np.float32(v)) for name, v in drawn(rng, model, -0.5, 0.5).items()} | {"end": 1.5}
    own = {name: np.full(n, given[name]) for name in names}
    wanted, slopes = exact(model, given, ["CL"])
    np.testing.assert_allclose(rows.terms(**own), np.array(wanted, float), rtol=2e-5)
    total = float(sum(wanted))
    _, gradient = rows.value_and_grad(**own)
    np.testing.assert_allclose(gradient["CL"], np.array(slopes["CL"], float), rtol=1e-4, atol=1e-4 * total / given["CL"])


def test_parameters_outside_of_their_domains():
    rows, names = rows_of(2, True, False)
    good = dict(zip(names, [1.0, 1.0, 0.0, 0.0, 1.0, 2.0, 0.5, 3.0, 1.0], strict=True))
    assert np.isfinite(rows.terms(**{k: np.full(3, v) for k, v in good.items()})).all()
    for name, value in {"V": 0.0, "V2": -1.0, "CL": -1e-9, "Q2": -1.0, "ka": -1.0, "end": np.nan, "y1": np.nan}.items():
        found = rows.terms(**{k: np.full(3, v) for k, v in (good | {name: value}).items()})
        assert np.isnan(found[1:]).all(), name


@pytest.mark.parametrize("make, message", [
    (lambda: gs.compartment_steps(0), "n_compartments is 0, .* of 1 to 3"),
    (lambda: gs.compartment_steps(4), "n_compartments is 4"), (lambda: gs.compartment_steps(True), "n_compartments is True"),
    (lambda: gs.compartment_steps(2.0), "n_compartments is 2.0"), (lambda: gs.compartment_steps(1, name="a b"), "no name in C"),
    (lambda: gs.compartment_steps(1, name="int"), "word of C"),
])  # fmt: skip
def test_mistakes(make, message):
    with pytest.raises(ValueError, match=message):
        make()
