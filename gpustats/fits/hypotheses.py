"""Tests of hypotheses about estimates: linear ones by their covariance, nested fits by the ratio of likelihoods."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Test(NamedTuple):
    """Result of a test.

    Attributes
    ----------
    statistic : float
        chi², with `df` degrees of freedom where the hypothesis holds.
    df : int
    p : float
        Probability of such a statistic, or a larger one, where the hypothesis holds.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> likelihood = gs.Likelihood(gs.normal, np.array([0.5, 1.5, 0.0, 2.0]))
    >>> found, at_0 = likelihood.fit(), likelihood.fit(fixed={"mu": 0.0})
    >>> test = found.likelihood_ratio(at_0)
    >>> round(test.statistic, 3), test.df, round(test.p, 3)
    (3.822, 1, 0.051)
    """

    statistic: float
    df: int
    p: float


Test.__test__ = False  # type: ignore[attr-defined]  # pytest would take the name for a test's


def wald(
    labels: Sequence[str], values: np.ndarray, covariance: np.ndarray, hypotheses: str | Sequence[str] | ArrayLike,
    right: ArrayLike,
) -> Test:  # fmt: skip
    """Wald's test of linear hypotheses about values with a covariance; see `Estimates.wald`."""
    matrix, right = _linear(labels, hypotheses, right)
    used = matrix.any(0)
    away = matrix[:, used] @ values[used] - right
    spread = matrix[:, used] @ covariance[np.ix_(used, used)] @ matrix[:, used].T
    if not np.isfinite(spread).all():
        raise ValueError("a parameter of the hypothesis has no standard error, as where it ended at a bound")
    if np.linalg.matrix_rank(spread) < len(right):
        raise ValueError(f"the {len(right)} hypotheses depend on one another: leave out those that follow from the others")
    return chi_squared(float(away @ np.linalg.solve(spread, away)), len(right))


def chi_squared(statistic: float, df: int) -> Test:
    """Test whose statistic is chi² where the hypothesis holds."""
    from scipy.special import gammaincc

    return Test(statistic, df, float(gammaincc(df / 2, statistic / 2)))


def place_of(labels: Sequence[str], label: str) -> int:
    """Place of a label among all; ValueError where there is none."""
    if label not in labels:
        some = ", ".join(labels[:12])
        raise ValueError(f"no {label!r} was estimated; there are {some}{', …' if len(labels) > 12 else ''}")
    return labels.index(label)


def _linear(
    labels: Sequence[str], hypotheses: str | Sequence[str] | ArrayLike, value: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Matrix R and right-hand side r of hypotheses R θ = r."""
    texts = [hypotheses] if isinstance(hypotheses, str) else hypotheses
    if isinstance(texts, Sequence) and texts and all(isinstance(t, str) for t in texts):
        rows = [row for text in texts for row in _Hypothesis(labels, str(text)).rows()]
        return np.array([r[:-1] for r in rows]), np.array([-r[-1] for r in rows])
    matrix, p = np.atleast_2d(np.asarray(hypotheses, float)), len(labels)
    if matrix.ndim != 2 or matrix.shape[1] != p or not len(matrix):
        raise ValueError(f"hypotheses has shape {matrix.shape}: it must be (q, {p}), with a column for each of labels")
    try:
        return matrix, np.broadcast_to(np.asarray(value, float), len(matrix))
    except ValueError:
        raise ValueError(f"value has shape {np.shape(value)}, and there are {len(matrix)} hypotheses") from None


class _Hypothesis:
    """Hypothesis in words: a linear function of labels that is 0, or two of them that are equal.

    A linear function is (n, P + 1): its coefficients and its constant, a row for each element of an array.
    """

    def __init__(self, labels: Sequence[str], text: str):
        self._labels, self._text = labels, text

    def rows(self) -> np.ndarray:
        """Rows of the linear function that is to be 0."""
        sides = self._text.split("=")
        if len(sides) > 2:
            raise self._wrong("it has more than one =")
        found: np.ndarray = self._of(self._parsed(sides[0])) - (self._of(self._parsed(sides[1])) if len(sides) > 1 else 0.0)
        if not found[:, :-1].any(1).all():
            raise self._wrong("it has no parameter")
        return found

    def _parsed(self, side: str) -> ast.expr:
        try:
            return ast.parse(side.strip(), mode="eval").body
        except SyntaxError:
            raise self._wrong("it is no formula") from None

    def _of(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() as number):
                found = np.zeros((1, len(self._labels) + 1))
                found[0, -1] = number
                return found
            case ast.Name() | ast.Subscript():
                return self._named(ast.unparse(node).replace("(", "").replace(")", ""))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._of(operand)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._of(left) + self._of(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self._of(left) - self._of(right)
            case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
                a, b = self._of(left), self._of(right)
                if isinstance(op, ast.Div) and not b[:, :-1].any() and b[0, -1]:
                    return a / b[0, -1]
                if isinstance(op, ast.Mult) and not a[:, :-1].any():
                    return a[0, -1] * b
                if isinstance(op, ast.Mult) and not b[:, :-1].any():
                    return a * b[0, -1]
        raise self._wrong("it is not linear")

    def _named(self, name: str) -> np.ndarray:
        labels = self._labels
        places = [i for i, label in enumerate(labels) if label == name or label.startswith(f"{name}[")]
        if not places:
            place_of(labels, name)
        found = np.zeros((len(places), len(labels) + 1))
        found[range(len(places)), places] = 1.0
        return found

    def _wrong(self, why: str) -> ValueError:
        return ValueError(f"the hypothesis {self._text!r} is such as 'beta[0] = 2 * beta[1]': {why}")
