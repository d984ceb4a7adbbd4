"""Designs of formulas beside patsy's and R's, and the encoders that new data meet."""

import pickle

import numpy as np
import pytest

from gpustats.frames.design import Design

pytest.importorskip("formulaic")
pd = pytest.importorskip("pandas")
patsy = pytest.importorskip("patsy")

RNG = np.random.default_rng(0)
N = 40
DATA = pd.DataFrame({
    "y": RNG.normal(size=N), "x": RNG.normal(size=N), "z": RNG.uniform(1, 2, N), "g": RNG.choice(list("cab"), N),
    "h": pd.Categorical(RNG.choice(["u", "v"], N), categories=["v", "never", "u"]), "b": RNG.random(N) < 0.5,
    "my col": RNG.normal(size=N), "year": RNG.choice([1999, 2001, 2004], N), "county": RNG.choice(["Cook", "Lake"], N),
})  # fmt: skip


def first(formula, data=DATA, missing="raise", context=None, sparse=False, **expressions):
    design = Design(formula, expressions, sparse, np.dtype(float))
    return design, design.first_rows(data, {}, missing, context or {}, {"beta", "y"})


@pytest.mark.parametrize(
    "right",
    [
        "x + z", "x*z", "g", "0 + g", "g - 1 + x", "x:g", "x + x:g", "g*county", "C(year)*x", "np.log(z) + I(x**2) + np.exp(x)",
        "center(x) + b", "(x + z + g)**2", "x/county", "C(g, contr.sum) + C(county, contr.treatment('Lake')):x",
        "bs(z, df=5)", "`my col` + x", "0 + x",
    ],
)  # fmt: skip
def test_the_columns_of_patsy(right):
    """The same columns, whatever their order; of contrasts and splines the same numbers by other names."""
    data = DATA.drop(columns="h")
    design, rows = first(f"y ~ {right}", data)
    theirs = right.replace("contr.sum", "Sum").replace("contr.treatment", "Treatment").replace("`my col`", "Q('my col')")
    found = patsy.dmatrix(theirs, data, return_type="dataframe").rename(columns=lambda n: n.replace("b[T.True]", "b"))
    assert design.intercept == ("Intercept" in found) and len(rows.X.names) == found.shape[1] - design.intercept
    ours = rows.X.values if not design.intercept else np.c_[np.ones(N), rows.X.values]
    order = [np.lexsort(np.round(m, 9)) for m in (ours, found.to_numpy())]
    np.testing.assert_allclose(ours[:, order[0]], found.to_numpy()[:, order[1]], atol=1e-12)
    if "(" not in right and "`" not in right:
        assert {*rows.X.names} == {*found} - {"Intercept"}
    np.testing.assert_array_equal(rows.columns["y"], DATA["y"])


def test_the_columns_of_r():
    """model.matrix(~ x*g + h:x + bs(x, 4) + poly(x, 2) + scale(x)) of R 4.2."""
    data = {"y": np.zeros(6), "x": [1, 2, 3, 4, 5, 6.5], "g": list("abcabc"), "h": list("uvuvuu")}
    _, rows = first("y ~ x*g + h:x", data)
    wanted = {
        "x": [1, 2, 3, 4, 5, 6.5], "g[T.b]": [0, 1, 0, 0, 1, 0], "g[T.c]": [0, 0, 1, 0, 0, 1], "x:g[T.b]": [0, 2, 0, 0, 5, 0],
        "x:g[T.c]": [0, 0, 3, 0, 0, 6.5], "h[T.v]:x": [0, 2, 0, 4, 0, 0],
    }  # fmt: skip
    assert {*rows.X.names} == {*wanted}
    for name, column in zip(rows.X.names, rows.X.values.T):
        np.testing.assert_array_equal(column, wanted[name])
    _, rows = first("y ~ bs(x, 4) + poly(x, 2) + scale(x)", data)
    np.testing.assert_allclose(rows.X.values[1], [0.60813223, 0.1626446, 0.01322314, 0, -0.3522144, -0.04833765, -0.7875753],
                               rtol=1e-6, atol=1e-9)  # fmt: skip
    np.testing.assert_allclose(rows.X.values[4], [0.03719008, 0.2665289, 0.57128099, 0.125, 0.3151392, -0.23828421, 0.7046727],
                               rtol=1e-6)  # fmt: skip


@pytest.mark.parametrize(
    "right",
    ["x + g:county + C(year)", "g + x + C(`my group`)", "0 + g + x", "county + g:x + g", "C(year) + h", "C(g, contr.sum)"],
)
def test_sparse_columns(right):
    """The same as dense ones, also of new data."""
    data = DATA.assign(**{"my group": DATA["g"]})
    design, dense = first(f"y ~ {right}", data)
    of_entries, sparse = first(f"y ~ {right}", data, sparse=True)
    np.testing.assert_array_equal(sparse.X.values.toarray(), dense.X.values)
    assert sparse.X.names == dense.X.names and of_entries.intercept == design.intercept
    few = data.iloc[[5, 2]]
    np.testing.assert_array_equal(of_entries.rows(few, {}).X.values.toarray(), design.rows(few, {}).X.values)


def test_new_labels_of_sparse_columns():
    design, _ = first("y ~ x + C(year)", sparse=True)
    with pytest.raises(ValueError, match=r"C\(year\) has 2030 in 1 row, which the fit has not seen"):
        design.rows(DATA.iloc[:2].assign(year=[1999, 2030]), {})
    with pytest.raises(ValueError, match="one has one label only|one of the formula has one label only"):
        first("y ~ x + one", DATA.assign(one="a"), sparse=True)


def test_all_other_columns():
    data = DATA[["y", "x", "z", "g", "county"]]
    assert first("log(y + 9) ~ . + (1 | county)", data)[1].X.names == ("x", "z", "g[T.b]", "g[T.c]")
    assert first("y ~ . - z", data, offset="x")[1].X.names == ("g[T.b]", "g[T.c]", "county[T.Lake]")


def test_a_column_called_intercept():
    data = DATA.assign(Intercept=DATA["x"] + 1)
    design, rows = first("y ~ 0 + Intercept + x + (0 + Intercept | g)", data)
    assert rows.X.names == ("Intercept", "x") and not design.intercept
    np.testing.assert_array_equal(rows.groups["g"][1].values[:, 0], data["Intercept"])


def test_groups():
    formula = "y ~ x + (1 + z | g) + (z || county) + (1 | g/year) + (0 + x | g) + (1 | beta)"
    design, rows = first(formula, DATA.assign(beta=DATA.g))
    assert design.terms == ("g", "county", "county_z", "g_1", "g_year", "g_0_x", "beta_")
    index, columns = rows.groups["g"]
    np.testing.assert_array_equal(index.labels[index.codes], DATA["g"])
    assert columns.names == ("Intercept", "z")
    np.testing.assert_array_equal(columns.values, np.c_[np.ones(N), DATA["z"]])
    assert rows.groups["county"].labels.tolist() == ["Cook", "Lake"] and rows.groups["county_z"][1].names == ("z",)
    pairs = rows.groups["g_year"]
    assert pairs.labels[pairs.codes].tolist() == [f"{g}:{y}" for g, y in zip(DATA["g"], DATA["year"])]


def double(x):
    return 2 * x


def test_new_data_meet_the_first_encoders():
    """Categories, centres, knots, functions and groups; also of a design that was pickled."""
    context = {"double": double, "np": np, "power": 3, "table": np.zeros(N)}
    formula = "log(z) ~ center(x) + bs(z, 4) + g*double(x) + x**power:b + C(year) + (scale(x) | g:county)"
    formula = formula.replace("x**power", "I(x**power)")
    design, rows = first(formula, context=context, offset="z - 1", weights="z")
    np.testing.assert_allclose(rows.columns["y"], np.log(DATA["z"]))
    few = DATA.iloc[[3, 0, 17]].drop(columns="y")
    for one in (design, pickle.loads(pickle.dumps(design))):
        new = one.rows(few, {})
        np.testing.assert_allclose(new.X.values, rows.X.values[[3, 0, 17]], rtol=1e-13)
        np.testing.assert_allclose(new.columns["offset"], rows.columns["offset"][[3, 0, 17]])
        assert new.columns.keys() == {"offset"}
        index, columns = new.groups["g_county"]
        np.testing.assert_array_equal(index.codes, rows.groups["g_county"][0].codes[[3, 0, 17]])
        np.testing.assert_allclose(columns.values, rows.groups["g_county"][1].values[[3, 0, 17]], rtol=1e-13)
    for change, message in [
        ({"g": ["a", "z", "z"]}, "g has 'z' in 2 rows, which the fit has not seen: its labels are a, b, c"),
        ({"g": [0, 0, 1]}, "g has 0, 1 in 3 rows, which the fit has not seen: its labels are a, b, c"),
        ({"county": ["Will"] * 3}, "g:county has .*'[abc]:Will'"), ({"year": [1999, 2030, 2001]}, "not seen: .2030"),
        ({"x": [1.0, np.nan, 0.0]}, "values are missing: x in 1 row$"), ({"x": ["a", "b", "c"]}, "data of the fit had numbers"),
    ]:  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=message):
            design.rows(few.assign(**change), {})
    with pytest.raises(ValueError, match="data needs a column 'z', and there is none"):
        design.rows(few.drop(columns="z"), {})
    assert design.rows(few.assign(county="Will"), {}, design.terms, True).groups["g_county"][0].codes.tolist() == [-1] * 3
    with pytest.raises(ValueError, match="offset is made of columns of data"):
        design.rows(few, {"offset": np.zeros(3)})
    with pytest.raises(ValueError, match="needs a column 'table'"):
        first("y ~ x + table", context=context)


def test_observations_with_labels():
    for formula in ("g ~ x", "C(g) ~ x"):
        y = first(formula)[1].columns["y"]
        np.testing.assert_array_equal(y.labels[y.codes], DATA["g"])
    y = first("h ~ x")[1].columns["y"]
    assert y.labels.tolist() == ["v", "u"]
    assert first("z > 1.5 ~ x")[1].columns["y"].tolist() == (DATA["z"] > 1.5).tolist()
    assert first("y ~ h")[1].X.names == ("h[T.u]",)
    with pytest.raises(ValueError, match=r"y must be one column, and 'bs\(x, 4\)' is 4"):
        first("bs(x, 4) ~ z")


def test_missing_values():
    gaps = DATA.assign(x=DATA["x"].where(DATA["x"] < 1), g=DATA["g"].where(DATA["z"] < 1.9))
    with pytest.raises(ValueError, match="values are missing: .*x in .* rows.*missing='drop'"):
        first("y ~ x + g", gaps)
    complete = gaps.dropna(subset=["x", "g"])
    _, rows = first("y ~ center(x) + g + (1 | g)", gaps, "drop", weights="z")
    _, wanted = first("y ~ center(x) + g + (1 | g)", complete.reset_index(drop=True), weights="z")
    np.testing.assert_allclose(rows.X.values, wanted.X.values)
    np.testing.assert_array_equal(rows.groups["g"].codes, wanted.groups["g"].codes)
    np.testing.assert_array_equal(rows.columns["weights"], complete["z"])
    with pytest.raises(ValueError, match=r"values are nan: log\(x\) in \d+ rows. missing"):
        first("y ~ log(x)")
    assert len(first("y ~ log(x) + (1 + x | g)", missing="drop")[1].groups["g"][0]) == (DATA["x"] > 0).sum()
    with pytest.raises(ValueError, match="values are infinite: "):
        first("y ~ x + log(b)", missing="drop")
    with pytest.raises(ValueError, match="missing in each of the 40 rows"):
        first("y ~ x", DATA.assign(x=np.nan), "drop")
    with pytest.raises(ValueError, match=r"log\(x \* 0\) in 40 rows"):
        first("y ~ log(x * 0)", sparse=True)


@pytest.mark.parametrize(
    "formula, message",
    [
        ("y ~ x + conty", "needs a column 'conty', and there is none: did you mean 'county'"),
        ("y ~ x + (1 | conty)", "needs a column 'conty'"), ("yy ~ x", "the formula 'yy' needs a column 'yy'"),
        ("y ~ foo(x)", "'foo', which is not defined"), ("y ~ x +", "misplaced"), ("y ~ x + 5", "Numeric literals"),
        ("y ~ x | g", r"terms of groups stand in parentheses"), ("y ~ 0", "neither columns nor an intercept"),
        ("y ~ one", "one has one label only|one of the formula has one label only"), ("y ~ log(g)", "Unable to evaluate"),
        ("y ~ x + Intercept", "columns of the same name"), ("y ~ (1 | g) + (1 | g)", "a term of groups twice"),
        ("y ~ factor(g)", r"'factor', which is not defined: R's factor is C\(g\) here"),
        ("y ~ x + offset(z)", r"R's offset is an argument, offset="), ("y ~ I(x^2)", r"; a power is I\(x\*\*2\)$"),
        ("y ~ when", "dtype datetime64"), ("y ~ log(x z)", "invalid syntax"), ("y ~ (0 | g)", "has no columns"),
    ],
)  # fmt: skip
def test_errors(formula, message):
    data = DATA.assign(one="a", when=pd.Timestamp("2020-01-01"), Intercept=1.0)
    with pytest.raises((ValueError, TypeError), match=message):
        first(formula, data)


def test_without_rows_and_without_formulaic(monkeypatch):
    with pytest.raises(ValueError, match="data has no rows"):
        first("y ~ x", DATA[:0])
    with pytest.raises(ValueError, match="missing must be"):
        first("y ~ x", missing="ignore")
    monkeypatch.setitem(__import__("sys").modules, "formulaic", None)
    with pytest.raises(ImportError, match=r"gpustats\[formula\]"):
        first("y ~ x")
