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


def _int_at(typing_context: Any, address: Any, place: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(builder, arguments, _WORD), typ=_WORD)

    return types.int64(types.int64, types.int64), code


def _set_int(typing_context: Any, address: Any, place: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(builder, arguments, _WORD))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


def _exchanged(typing_context: Any, address: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("xchg", builder.inttoptr(arguments[0], ir.PointerType(_WORD)), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), code


def _float_at(typing_context: Any, address: Any, place: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(builder, arguments, _DOUBLE), typ=_DOUBLE)

    return types.float64(types.int64, types.int64), code


def _single_at(typing_context: Any, address: Any, place: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fpext(builder.load(_place(builder, arguments, _SINGLE), typ=_SINGLE), _DOUBLE)

    return types.float64(types.int64, types.int64), code


def _set_float(typing_context: Any, address: Any, place: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(builder, arguments, _DOUBLE))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64), code


def _set_single(typing_context: Any, address: Any, place: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(builder.fptrunc(arguments[2], _SINGLE), _place(builder, arguments, _SINGLE))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64), code


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


#: (address, place): whole number at a place behind an address; the place counts numbers, here and below.
int_at = _intrinsic(_int_at)
#: (address, place, value)
set_int = _intrinsic(_set_int)
#: (address, value): whole number that was there before the value took its place, for all threads at once.
exchanged = _intrinsic(_exchanged)
#: (address, place): number in double precision, and one in single precision.
float_at, single_at = _intrinsic(_float_at), _intrinsic(_single_at)
#: (address, place, value)
set_float, set_single = _intrinsic(_set_float), _intrinsic(_set_single)
#: (function, nine numbers): result, an int, of a function of C at an address; the function may take fewer.
called = _intrinsic(_called)
#: (function, number): result, a pointer, of a function of C at an address.
pointer_from = _intrinsic(_pointer_from)
