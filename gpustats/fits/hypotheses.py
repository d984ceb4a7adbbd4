"""Tests of hypotheses about estimates: linear ones by their covariance, nested fits by the ratio of likelihoods."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..names.near import did_you_mean


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


def places(
    labels: Sequence[str], shapes: Mapping[str, tuple[int, ...]], moving: np.ndarray | slice,
    terms: Mapping[str, tuple[str, Sequence[int]]],
) -> dict[str, np.ndarray]:  # fmt: skip
    """Places among the labels of what each name of a hypothesis stands for.

    `shapes` are those of the parameters, `moving` is a mask of their elements that were estimated, which have the labels, and
    `terms` are those of a formula: see `Problem`.
    """
    numbers, at = dict[str, np.ndarray](), 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        numbers[name] = (at + np.arange(size)).reshape(shape)
        at += size
    own = {term: numbers[name][np.asarray(columns)] for term, (name, columns) in terms.items() if name in numbers}
    among = np.full(at, -1)
    among[moving] = np.arange(len(labels))
    found = {name: among[elements.ravel()] for name, elements in {**own, **numbers}.items()}
    found = {name: elements[elements >= 0] for name, elements in found.items()}
    of_labels = {label: np.array([i]) for i, label in enumerate(labels)}
    return {n: v for n, v in found.items() if n not in shapes and len(v)} | of_labels | {n: found[n] for n in shapes}


def wald(
    places: Mapping[str, np.ndarray], values: np.ndarray, covariance: np.ndarray,
    hypotheses: str | Sequence[str] | ArrayLike, right: ArrayLike,
) -> Test:  # fmt: skip
    """Wald's test of linear hypotheses about values with a covariance; see `Estimates.wald`.

    `places` are those of the values that each name of a hypothesis stands for.
    """
    matrix, right = _linear(places, len(values), hypotheses, right)
    used = matrix.any(0)
    away = matrix[:, used] @ values[used] - right
    spread = matrix[:, used] @ covariance[np.ix_(used, used)] @ matrix[:, used].T
    if not np.isfinite(spread).all():
        raise ValueError("a parameter of the hypothesis has no standard error, as where it ended at a bound")
    if np.linalg.matrix_rank(spread) < len(right):
        raise ValueError(f"the {len(right)} hypotheses depend on one another: leave out those that follow from the others")
    return chi_squared(float(away @ np.linalg.solve(spread, away)), len(right))


def likelihood_ratio(larger: Any, restricted: Any) -> Test:
    """Test of a fit within a larger one, of the same data; see `Estimates.likelihood_ratio`."""
    df = larger.n_parameters - restricted.n_parameters
    if df <= 0:
        raise ValueError(
            f"the restricted fit has {restricted.n_parameters} free parameters and this one {larger.n_parameters}: call the "
            "method of the larger fit"
        )
    if larger.density != restricted.density or not np.isclose(larger.n_observations, restricted.n_observations):
        raise ValueError(
            f"the fits are of {larger.density} with {larger.n_observations:g} observations and of {restricted.density} with "
            f"{restricted.n_observations:g}: they must be of the same model and data"
        )
    statistic = 2 * (larger.log_likelihood - restricted.log_likelihood)
    if statistic < -1e-6 * (1 + abs(larger.log_likelihood)):
        raise ValueError(
            f"the restricted fit has the larger log-likelihood, {restricted.log_likelihood:.6g} beside "
            f"{larger.log_likelihood:.6g}: it is not nested in this one, or this one has not converged"
        )
    return chi_squared(max(float(statistic), 0.0), df)


def width_of(level: float) -> float:
    """Normal quantile, which is the number of standard errors from an estimate to the ends of an interval of this coverage."""
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level!r}")
    return float(ndtri((1 + level) / 2))


def chi_squared(statistic: float, df: int) -> Test:
    """Test whose statistic is chi² where the hypothesis holds."""
    from scipy.special import gammaincc

    return Test(statistic, df, float(gammaincc(df / 2, statistic / 2)))


def place_of(labels: Sequence[str], label: str) -> int:
    """Place of a label among all; ValueError where there is none."""
    if label not in labels:
        raise _unknown(labels, label)
    return labels.index(label)


def _unknown(labels: Sequence[str], label: str) -> ValueError:
    some, near = ", ".join(labels[:12]), did_you_mean(label, labels)
    there = f"{near} There" if near else "there"
    return ValueError(f"no {label!r} was estimated; {there} are {some}{', …' * (len(labels) > 12)}")


def _linear(
    places: Mapping[str, np.ndarray], p: int, hypotheses: str | Sequence[str] | ArrayLike, value: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Matrix R and right-hand side r of hypotheses R θ = r."""
    texts = [hypotheses] if isinstance(hypotheses, str) else hypotheses
    if isinstance(texts, Sequence) and texts and all(isinstance(t, str) for t in texts):
        words = _Words(places, p)
        rows = [row for text in texts for row in _Hypothesis(words, str(text)).rows()]
        return np.array([r[:-1] for r in rows]), np.array([-r[-1] for r in rows])
    matrix = np.atleast_2d(np.asarray(hypotheses, float))
    if matrix.ndim != 2 or matrix.shape[1] != p or not len(matrix):
        raise ValueError(f"hypotheses has shape {matrix.shape}: it must be (q, {p}), with a column for each of labels")
    try:
        return matrix, np.broadcast_to(np.asarray(value, float), len(matrix))
    except ValueError:
        raise ValueError(f"value has shape {np.shape(value)}, and there are {len(matrix)} hypotheses") from None


class _Words:
    """Names in hypotheses: any text, such as ``C(g)[b]``, for which variables of Python stand while they are parsed."""

    def __init__(self, places: Mapping[str, np.ndarray], size: int):
        self._names, self._places, self.size = list(places), list(places.values()), size
        self._numbers = {self._key(name): i for i, name in enumerate(places)}
        longest = sorted(places, key=len, reverse=True)
        bare = [rf"{self._edge(n[0])}{self._spaced(n)}{self._edge(n[-1])}" for n in longest if not _is_number(n)]
        self._pattern = re.compile("|".join([f"`{self._spaced(n)}`" for n in longest] + bare))

    @staticmethod
    def _key(name: str) -> str:
        return re.sub(r"[\s`]", "", name)

    @staticmethod
    def _spaced(name: str) -> str:
        """Pattern of a name in which spaces are as wide as they like."""
        return re.sub(r"(\\ )+", r"\\s*", re.escape(name))

    @staticmethod
    def _edge(character: str) -> str:
        return r"\b" if re.match(r"\w", character) else ""

    def variables(self, text: str) -> str:
        """Text in which variables stand for names."""
        return self._pattern.sub(lambda match: f"__{self._numbers[self._key(match[0])]}__", text)

    def names(self, text: str) -> str:
        """Text with the names themselves."""
        return re.sub(r"__(\d+)__", lambda match: self._names[int(match[1])], text)

    def places(self, text: str) -> np.ndarray:
        """Places of what a variable stands for; ValueError for any other text."""
        if (match := re.fullmatch(r"__(\d+)__", text)) is None:
            raise _unknown(self._names, self.names(text))
        return self._places[int(match[1])]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[\d.]+", text) is not None


class _Hypothesis:
    """Hypothesis in words: a linear function of names that is 0, or two of them that are equal.

    A linear function is (n, P + 1): its coefficients and its constant, a row for each element of an array.
    """

    def __init__(self, words: _Words, text: str):
        self._words, self._text = words, text

    def rows(self) -> np.ndarray:
        """Rows of the linear function that is to be 0."""
        sides = self._words.variables(self._text).split("=")
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
                found = np.zeros((1, self._words.size + 1))
                found[0, -1] = number
                return found
            case ast.Name() | ast.Subscript() | ast.Call():
                return self._named(ast.unparse(node))
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

    def _named(self, variable: str) -> np.ndarray:
        places = self._words.places(variable)
        found = np.zeros((len(places), self._words.size + 1))
        found[range(len(places)), places] = 1.0
        return found

    def _wrong(self, why: str) -> ValueError:
        return ValueError(f"the hypothesis {self._text!r} is such as 'beta[0] = 2 * beta[1]': {why}")
