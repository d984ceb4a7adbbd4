"""Signatures of a density's methods, with its parameters by their names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, Signature
from types import FunctionType
from typing import TYPE_CHECKING

from .frozen import Frozen

if TYPE_CHECKING:
    from ..runtime.types import Values

_PLAIN = Parameter.POSITIONAL_OR_KEYWORD
#: What a call may give in the place of a covariance matrix.
_SCALES = ("scale_tril", "precision")


def signature_of(method: Callable[..., object], domains: Mapping[str, str], defaults: Mapping[str, Values]) -> Signature:
    """Signature of a method, or of a call, of a density.

    It is that of a frozen distribution's method, with the density's parameters between what is asked about, such as x, and
    options. Where their names are none of Python's, or those of options, it is that of the method itself.

    Parameters
    ----------
    method : callable
        Method of the class.
    domains : mapping
        Argument -> domain, that of the observation first.
    defaults : mapping
        Values of the parameters that a call may leave out.
    """
    written = inspect.signature(method)
    others: list[Parameter] = []
    if of_frozen := vars(Frozen).get(method.__name__) if method.__name__ != "__call__" else None:
        others = list(inspect.signature(of_frozen.method).parameters.values())[1:]
    asked = [p for p in others if p.default is Parameter.empty]
    options = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in others if p not in asked]
    try:
        found = [Parameter("self", _PLAIN), *asked, *_parameters(domains, defaults), *options]
        return Signature(found, return_annotation=written.return_annotation)
    except ValueError:
        return written


def _parameters(domains: Mapping[str, str], defaults: Mapping[str, Values]) -> Iterable[Parameter]:
    """Parameters of a density, behind which there are options only."""
    left_out = dict(defaults)
    if has_scale := "covariance" in domains.values():
        left_out |= {name: None for name, domain in domains.items() if domain == "covariance"}
    for name in list(domains)[1:]:
        yield Parameter(name, _PLAIN, annotation="Values", default=left_out.get(name, Parameter.empty))
    for name in _SCALES if has_scale else ():
        yield Parameter(name, Parameter.KEYWORD_ONLY, annotation="Values", default=None)


def copied(function: Callable[..., object]) -> FunctionType:
    """The same function as another object, which may have a signature of its own."""
    assert isinstance(function, FunctionType)
    parts = function.__globals__, function.__name__, function.__defaults__, function.__closure__
    own = FunctionType(function.__code__, *parts)
    functools.update_wrapper(own, function)
    own.__kwdefaults__ = function.__kwdefaults__
    return own
