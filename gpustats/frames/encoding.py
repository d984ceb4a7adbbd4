"""Columns that formulas make of data: transformations, splines and categories, by the library formulaic."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import types
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..names.r import FORMULAS
from .columns import listed, unknown
from .labelled import Labelled, labelled
from .random_terms import quoted


class Encoded(NamedTuple):
    """Columns of a formula."""

    values: Any  # their numbers: a list of arrays (N,), or a sparse matrix
    names: tuple[str, ...]
    terms: Mapping[str, tuple[str, ...]]  # names of the columns of each term

    @property
    def constant(self) -> tuple[str, ...]:
        """Name of the intercept's column, if there is one."""
        return self.terms.get("1", ())

    def with_one_hot(self, categories: Mapping[str, Labelled], order: Sequence[str]) -> Encoded:
        """Sparse columns with those of categories, all labels but the first, by the names of the terms in their order."""
        import scipy.sparse

        parts, terms, start = list[Any](), dict[str, tuple[str, ...]](), 0
        for term in order:
            if term in categories:
                terms[term] = tuple(f"{term}[T.{label}]" for label in categories[term].labels[1:])
                parts.append(categories[term].one_hot()[:, 1:])
            else:
                terms[term] = self.terms[term]
                parts.append(self.values[:, start : start + len(terms[term])])
                start += len(terms[term])
        names = tuple(name for own in terms.values() for name in own)
        return Encoded(scipy.sparse.hstack(parts, format="csc"), names, terms)

    def not_finite(self) -> dict[str, np.ndarray]:
        """Columns with a number that is not finite, by their names."""
        if isinstance(self.values, list):
            return not_finite(dict(zip(self.names, self.values, strict=True)))
        entries = self.values.tocoo()
        bad = np.unique(entries.col[~np.isfinite(entries.data)])
        return {self.names[j]: self.values[:, [j]].toarray().ravel() for j in bad}


class Module(NamedTuple):
    """Module of a formula, by its name."""

    name: str


class Encoders:
    """Formulas by their keys, with what their first data have fixed: categories, knots of splines, centres.

    Parameters
    ----------
    formulas, expressions : mapping
        Key -> right-hand side of a formula, or an expression of Python.
    columns : collection of str
        Names of the columns of the data.
    hidden : collection of str
        Those of them that ``.``, all columns, leaves out.
    context : mapping
        Further names that formulas may use, such as the user's functions.
    """

    def __init__(
        self, formulas: Mapping[str, str], expressions: Mapping[str, str], columns: Collection[str], hidden: Collection[str],
        context: Mapping[str, Any],
    ):  # fmt: skip
        self._texts = {**formulas, **expressions}
        available = {"__formulaic_variables_available__": [c for c in columns if c not in hidden]}
        available["__formulaic_variables_used_lhs__"] = []
        self._formulas = {key: _parsed(text, text, available) for key, text in formulas.items()}
        self._formulas |= {key: _parsed(f"0 + {{{text}}}", text, available) for key, text in expressions.items()}
        self._specs: dict[str, Any] = {}
        self._labels: dict[tuple[str, str], np.ndarray] = {}  # of categories that are not formulaic's, by formulas and terms
        self._context = dict[str, Any]()
        #: names of the columns that each formula reads
        self.columns = {key: tuple(self._columns_of(key, columns, context)) for key in self._texts}

    def __getstate__(self) -> dict[str, Any]:
        context = {n: Module(v.__name__) if isinstance(v, types.ModuleType) else v for n, v in self._context.items()}
        return self.__dict__ | {"_context": context}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._context = {n: importlib.import_module(v.name) if isinstance(v, Module) else v for n, v in self._context.items()}

    def _columns_of(self, key: str, columns: Collection[str], context: Mapping[str, Any]) -> Iterator[str]:
        """Names of the columns that a formula reads; what else it reads comes from the `context`, and is kept."""
        for name, alone in _names_in(self._formulas[key]).items():
            if name in columns:
                yield name
            elif name in context and not (alone and np.ndim(context[name])):
                self._context[name] = context[name]
            elif name not in _transforms() and not hasattr(builtins, name):
                what = f"the formula {self._texts[key]!r}"
                here = f": R's {name} is {FORMULAS[name]} here" if name in FORMULAS else ""
                raise unknown(name, columns, what) if alone else ValueError(f"{what} has {name!r}, which is not defined{here}")

    def __call__(self, key: str, data: Mapping[str, np.ndarray | Labelled], n_rows: int, sparse: bool = False) -> Encoded:
        """Columns of a formula: the first call fixes the encoders, and later ones follow them."""
        formula, text = self._formulas[key], self._texts[key]
        alone = self._alone(key, data) if sparse else {}
        made = self._made(key, [t for t in formula if str(t) not in alone] if alone else formula, data, n_rows, sparse)
        if alone:
            made = made.with_one_hot(alone, [str(t) for t in formula])
        if empty := [t for t, names in made.terms.items() if not names]:
            raise ValueError(f"{empty[0]} of the formula has one label only, and tells nothing: leave it out")
        if len(set(made.names)) < sum(map(len, made.terms.values())):
            raise ValueError(f"the formula {text!r} has columns of the same name among {listed(made.names)}: rename one")
        return made

    def _alone(self, key: str, data: Mapping[str, np.ndarray | Labelled]) -> dict[str, Labelled]:
        """Categories that are terms by themselves beside an intercept: all labels but the first have columns.

        Of thousands of labels these are made at once, where formulaic would make one column after another.
        """
        read = {str(term): [n for n in _names_in([term]) if n in data] for term in self._formulas[key]}
        found = dict[str, Labelled]()
        for term, names in read.items() if "1" in read else ():
            if len(names) != 1 or sum(names[0] in others for others in read.values()) > 1:
                continue
            column = data[names[0]]
            as_category = term.replace("`", "") == f"C({names[0]})"
            if not as_category and not (term == names[0] and isinstance(column, Labelled)):
                continue
            own = column if isinstance(column, Labelled) else labelled(column)
            labels = self._labels.setdefault((key, term), own.labels)
            found[term] = own if own.labels is labels else Labelled(own.among(labels, term), labels)
        return found

    def _made(
        self, key: str, formula: Any, data: Mapping[str, np.ndarray | Labelled], n_rows: int, sparse: bool
    ) -> Encoded:
        """Columns that formulaic makes of a formula."""
        import formulaic
        import pandas
        from formulaic.errors import DataMismatchWarning, FormulaicError

        made = {n: pandas.Categorical.from_codes(v.codes, v.labels) if isinstance(v, Labelled) else v
                for n, v in data.items() if n in self.columns[key]}  # fmt: skip
        frame = pandas.DataFrame(made, index=pandas.RangeIndex(n_rows), copy=False)
        known = key in self._specs
        spec = self._specs[key] if known else formulaic.ModelSpec(formula)
        how = {} if known else {"output": "sparse" if sparse else "pandas", "na_action": "ignore"}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("error", DataMismatchWarning)
                found = spec.get_model_matrix(frame, context=self._context, **how)
        except FormulaicError as error:
            power = "; a power is I(x**2)" if "'xor'" in str(error) else ""
            raise ValueError(f"the formula {self._texts[key]!r}: {_first_line(error)}{power}") from error
        except DataMismatchWarning as unseen:
            told = re.sub(r"np\.\w+\((.*?)\)", r"\1", str(unseen).partition(": ")[2].partition(". They")[0]) or str(unseen)
            raise ValueError(f"the formula {self._texts[key]!r} has labels that the fit has not seen: {told}") from None
        if not known:
            self._specs[key] = found.model_spec
        spec = self._specs[key]
        terms = {str(s.term): tuple(s.columns) for s in spec.structure}
        names = tuple(map(str, spec.column_names))
        values = found.__wrapped__ if sparse else [np.asarray(found[n]) for n in names]
        return Encoded(values, names, terms)

    def labels(self, key: str, term: str) -> np.ndarray | None:
        """Labels of a term that is a category, in the order of its columns; None of numbers."""
        import formulaic

        kind, state = self._specs[key].encoder_state.get(term, (None, {}))
        return np.array(state["categories"], object) if kind is formulaic.parser.types.Factor.Kind.CATEGORICAL else None


def not_finite(columns: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Columns with a number that is not finite, of those that are in a type of floating point."""
    real = {n: c for n, c in columns.items() if isinstance(c, np.ndarray) and c.dtype.kind == "f"}
    with np.errstate(over="ignore", invalid="ignore"):
        return {n: c for n, c in real.items() if not np.isfinite(np.sum(c)) and not np.isfinite(c).all()}


def _parsed(text: str, shown: str, context: Mapping[str, Any]) -> Any:
    """Formula of formulaic; ImportError without this library, ValueError where it does not understand the text."""
    try:
        import formulaic
    except ImportError:
        raise ImportError("formulas need the library formulaic: pip install 'gpustats[formula]'") from None
    from formulaic.errors import FormulaicError

    try:
        found = formulaic.Formula(text, _context=dict(context))
    except (FormulaicError, SyntaxError) as error:
        raise ValueError(f"the formula {shown!r}: {_first_line(error)}") from None
    if not isinstance(found, formulaic.SimpleFormula):
        raise ValueError(f"the formula {shown!r} has several parts: terms of groups stand in parentheses, (1 | county)")
    return found


def _names_in(formula: Iterable[Any]) -> dict[str, bool]:
    """Names that a formula reads; True where one stands for itself, and is no function or module."""
    found = dict[str, bool]()
    for factor in (f for term in formula for f in term.factors):
        if factor.eval_method.value == "lookup":
            found[factor.expr] = True
        elif factor.eval_method.value == "python":
            nodes = list(ast.walk(ast.parse(re.sub(r"`[^`]+`", "0", factor.expr), mode="eval")))
            called: set[ast.AST] = {n.func for n in nodes if isinstance(n, ast.Call)}
            called |= {n.value for n in nodes if isinstance(n, ast.Attribute)}
            bound = {n.arg for n in nodes if isinstance(n, ast.arg)}
            bound |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            names = [n for n in nodes if isinstance(n, ast.Name) and n.id not in bound]
            found |= {n.id: n not in called for n in names} | dict.fromkeys(quoted(factor.expr), True)
    return found


def _transforms() -> Mapping[str, Any]:
    from formulaic.transforms import TRANSFORMS

    found: Mapping[str, Any] = TRANSFORMS
    return found


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
