"""Functions without the parts that only their derivatives need."""

from __future__ import annotations

import functools
from typing import Any

from ..language import nodes as lang
from ..language.nodes import REAL, Function, Resolve
from .derivative_rules import SPECIAL_PREFIX

_ONLY_DERIVATIVE = f"{SPECIAL_PREFIX}only_derivative"


def value_alone(function: Function) -> Function:
    """Copy of `function` with 0 in the place of all calls of ``only_derivative``, and so without their arguments."""
    return _without(function) if _ONLY_DERIVATIVE in {name for s in function.body for name in lang.called(s)} else function


def values_alone(resolve: Resolve) -> Resolve:
    """Resolver whose functions are those of `resolve`, as `value_alone` makes them."""

    @functools.cache
    def found(name: str) -> Function | None:
        function = resolve(name)
        return None if function is None else value_alone(function)

    return found


def _without(node: Any) -> Any:
    if isinstance(node, lang.Call) and node.function == _ONLY_DERIVATIVE:
        return lang.Cast(REAL, lang.Number("0", lang.INT))
    return lang.rebuild(node, _without)
