"""Intrinsics of Numba for code that is compiled without Python: memory at addresses, and functions of C at addresses."""

from __future__ import annotations

from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import types

MOST_ARGUMENTS = 9  # of the functions of C that compiled code calls with `called`

_WORD, _DOUBLE, _SINGLE = ir.IntType(64), ir.DoubleType(), ir.FloatType()


def _intrinsic(definition: Any) -> Any:
    return numba.extending.intrinsic(definition)


def _place(builder: Any, arguments: Any, kind: Any) -> Any:
    """Pointer to the number of a kind at a place, the second argument, behind an address, the first."""
    array = builder.inttoptr(arguments[0], ir.PointerType(kind))
    return builder.gep(array, [arguments[1]], source_etype=kind)


def _loader(kind: Any, python: Any, seen: Any) -> Any:
    """Intrinsic (address, place) that reads a number of a kind; it is seen as one of another where they differ."""

    def loader(typing_context: Any, address: Any, place: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            found = builder.load(_place(builder, arguments, kind), typ=kind)
            return found if kind == seen else builder.fpext(found, seen)

        return python(types.int64, types.int64), code

    return _intrinsic(loader)


def _storer(kind: Any, python: Any, seen: Any) -> Any:
    """Intrinsic (address, place, value) that writes a number of a kind."""

    def storer(typing_context: Any, address: Any, place: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            given = arguments[2] if kind == seen else builder.fptrunc(arguments[2], kind)
            builder.store(given, _place(builder, arguments, kind))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, python), code

    return _intrinsic(storer)


def _exchanged(typing_context: Any, address: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("xchg", builder.inttoptr(arguments[0], ir.PointerType(_WORD)), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), code


def _called(
    typing_context: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any
) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [_WORD] * MOST_ARGUMENTS)
        return builder.call(builder.inttoptr(arguments[0], ir.PointerType(kind)), arguments[1:])

    return types.int32(*[types.int64] * (1 + MOST_ARGUMENTS)), code


def _pointer_from(typing_context: Any, function: Any, a: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_WORD])
        return builder.call(builder.inttoptr(arguments[0], ir.PointerType(kind)), arguments[1:])

    return types.int64(types.int64, types.int64), code


#: Whole number at (address, place): a place behind an address, counted in numbers here and below. Set: (address, place, value).
int_at, set_int = _loader(_WORD, types.int64, _WORD), _storer(_WORD, types.int64, _WORD)
#: The same for a number in double precision, and one in single precision, which is seen in double precision.
float_at, set_float = _loader(_DOUBLE, types.float64, _DOUBLE), _storer(_DOUBLE, types.float64, _DOUBLE)
single_at, set_single = _loader(_SINGLE, types.float64, _DOUBLE), _storer(_SINGLE, types.float64, _DOUBLE)
#: (address, value): whole number that was there before the value took its place, for all threads at once.
exchanged = _intrinsic(_exchanged)
#: (function, nine numbers): result, an int, of a function of C at an address; the function may take fewer.
called = _intrinsic(_called)
#: (function, number): result, a pointer, of a function of C at an address.
pointer_from = _intrinsic(_pointer_from)
