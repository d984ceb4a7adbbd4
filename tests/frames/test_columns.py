"""Columns of data frames: the same numbers and labels from pandas, polars, Arrow and mappings."""

import datetime

import numpy as np
import pytest

from gpustats.frames.columns import Frame, column_of, is_column, is_frame
from gpustats.frames.labelled import Labelled, crossed, labelled

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

COLUMNS = {
    "x": [0.5, None, 2.0], "i": [3, None, 1], "whole": [3, 2, 1], "b": [True, False, True], "gap": [True, None, False],
    "s": ["b", None, "a"],
}  # fmt: skip
NUMBERS = {"x": [0.5, np.nan, 2], "i": [3, np.nan, 1], "whole": [3, 2, 1], "b": [1, 0, 1], "gap": [1, np.nan, 0]}
FRAMES = {
    "pandas": pd.DataFrame({n: pd.Series(v, dtype={"gap": "boolean", "i": "Int64"}.get(n)) for n, v in COLUMNS.items()}),
    "polars": pl.DataFrame(COLUMNS),
    "Arrow": pa.table(COLUMNS),
    "pandas over Arrow": pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype),
    "mapping": {n: np.array(v, float if n in NUMBERS else object) for n, v in COLUMNS.items()},
}


@pytest.mark.parametrize("library", FRAMES)
def test_columns(library):
    frame = Frame(FRAMES[library], "data")
    assert frame.names == tuple(COLUMNS) and frame.n_rows == 3
    for name, wanted in NUMBERS.items():
        np.testing.assert_array_equal(frame[name], wanted)
    labels = frame["s"]
    assert labels.codes.tolist() == [1, -1, 0] and labels.labels.tolist() == ["a", "b"]


def test_categories_keep_their_order_without_those_that_do_not_occur():
    given = ["b", "a", "b"]
    category = pd.Categorical(given, categories=["c", "b", "a"])
    for column in (
        category, pd.Series(category), pl.Series(given, dtype=pl.Enum(["c", "b", "a"])), pa.array(pd.Series(category)),
        pa.chunked_array([pa.array(pd.Series(category))]),
    ):  # fmt: skip
        found = column_of(column, "g")
        assert found.codes.tolist() == [0, 1, 0] and found.labels.tolist() == ["b", "a"]
    for column in (pl.Series(given, dtype=pl.Categorical), given, np.array(given), pd.Series(given), pl.Series(given)):
        found = column_of(column, "g")
        assert found.codes.tolist() == [1, 0, 1] and found.labels.tolist() == ["a", "b"]


def test_objects_and_intervals():
    """Numbers that are stored as objects are numbers; intervals of pandas.cut are labels."""
    for column in (np.array([5, None, 7.5], object), pd.Series([5, None, 7.5], dtype=object)):
        np.testing.assert_array_equal(column_of(column, "x"), [5, np.nan, 7.5])
    found = column_of(pd.cut(pd.Series([1.0, 5.0, 2.0]), [0, 3, 6, 9]), "x")
    assert found.codes.tolist() == [0, 1, 0] and found.labels.tolist() == ["(0, 3]", "(3, 6]"]


def test_lists_with_missing_labels():
    """Wherever these stand, and whatever kind of strings the others are."""
    given = [["b", None, "a"], [None, "b", "a"], [float("nan"), *np.array(["b", "a"])], (None, "b", "a")]
    for column in (*given, np.array([None, np.str_("b"), "a"], object)):
        found = column_of(column, "g")
        assert is_column(column) and found.labels.tolist() == ["a", "b"]
        assert sorted(found.codes.tolist()) == [-1, 0, 1] and {type(label) for label in found.labels} == {str}
    assert not is_column([1, 2]) and not is_column([])
    with pytest.raises(TypeError, match="labels of the types int, str"):
        column_of([1, "a"], "g")


def test_large_numbers_as_labels():
    assert labelled(np.array([2e300, 1e300])).labels.tolist() == [1e300, 2e300]


def test_without_pandas(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    found = labelled(np.array(["b", None, "a", "b"], object))
    assert found.codes.tolist() == [1, -1, 0, 1] and found.labels.tolist() == ["a", "b"]


def test_numbers_as_labels_and_combinations():
    numbers = labelled(np.array([2.0, np.nan, 1.0, 2.0]))
    assert numbers.labels.tolist() == [1, 2] and numbers.labels.dtype.kind == "i"
    both = crossed([numbers, labelled(np.array(["b", "a", "a", "a"], object))])
    assert both.codes.tolist() == [2, -1, 0, 1] and both.labels.tolist() == ["1:a", "2:a", "2:b"]
    assert numbers.among(np.array([5, 2, 1]), "g").tolist() == [1, -1, 2, 1]
    with pytest.raises(ValueError, match="g has 2 in 2 rows, which the fit has not seen: its labels are 1, 3"):
        numbers.among(np.array([1, 3]), "g")


def test_missing_whole_numbers_of_r():
    """reticulate makes the least integer of them; the least but one is a number."""
    for numbers in (np.array([1, -(1 << 31)], np.int32), pd.Series([1, -(1 << 31)], dtype="int32")):
        with pytest.raises(ValueError, match=r"column 'x' has -2147483648 in row 1, as which the NA .* as.numeric in R"):
            Frame({"x": numbers}, "data")["x"]
    assert Frame({"x": np.array([1, 1 - (1 << 31)], np.int32)}, "data")["x"].min() == 1 - (1 << 31)


@pytest.mark.parametrize(
    "data, error, message",
    [
        ([1, 2], TypeError, "must be a data frame of pandas"),
        (pl.DataFrame(COLUMNS).lazy(), TypeError, r"data.collect\(\)"),
        (pd.DataFrame(np.zeros((2, 2))), TypeError, r"column named 0: .* data.rename\(columns=str\)"),
        (pd.DataFrame(np.zeros((2, 2)), columns=["x", "x"]), ValueError, "several columns named 'x'"),
        ({"x": [1.0], "y": [1.0, 2.0]}, ValueError, "x 1, y 2"), ({"x": 2.0, "y": [1.0, 2.0]}, ValueError, "x 1, y 2"),
    ],
)
def test_what_is_no_frame(data, error, message):
    with pytest.raises(error, match=message):
        assert Frame(data, "data").n_rows


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.to_datetime(["2020-01-01"])), pl.Series([datetime.date(2020, 1, 1)]), np.array([1j]),
        pa.array([datetime.date(2020, 1, 1)]), pd.Series([datetime.date(2020, 1, 1)]), pd.Series(["a", 1], dtype=object),
    ],
    ids=["pandas", "polars", "complex", "Arrow", "objects", "several types"],
)  # fmt: skip
def test_what_is_no_column(column):
    with pytest.raises(TypeError, match="dtype|labels of the types"):
        column_of(column, "x")


def test_matrices():
    frame = FRAMES["polars"].select("x", "whole", "s")
    assert is_frame(frame) and not is_frame(frame["x"]) and is_column(frame["x"]) and not is_column(np.zeros(2))
    matrix = Frame(frame, "X").matrix(("whole", "x"))
    np.testing.assert_array_equal(matrix.values, [[3, 0.5], [2, np.nan], [1, 2]])
    assert matrix.names == ("whole", "x") and matrix.values.dtype == np.float64
    assert Frame(pd.DataFrame({"x": np.zeros(2, np.float32)}), "X").matrix().values.dtype == np.float32
    with pytest.raises(TypeError, match="labels in column 's'"):
        Frame(frame, "X").matrix()
    with pytest.raises(ValueError, match="X needs a column 'wole', and there is none: did you mean 'whole'?"):
        Frame(frame, "X").matrix(("wole",))
    with pytest.raises(ValueError, match="needs a column 'height', and there is none: the columns are x, whole, s"):
        Frame(frame, "X").matrix(("height",))
    assert isinstance(column_of(Labelled(np.zeros(1, np.int32), np.array(["a"])), "g"), Labelled)
