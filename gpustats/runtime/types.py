"""Names of types that cross the package: arrays, and their form as arguments of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: An array of numbers: a NumPy array, or a device array, on OpenCL of PyOpenCL's, of which mypy knows nothing.
Array: TypeAlias = Any
#: An array that users get, as type checkers know it: a NumPy array. It is a device array where one came in.
Result: TypeAlias = NDArray[Any]
#: A result that is None, or a tuple, in cases that users know of: type checkers take it for an array, and let it be these, too.
Mostly: TypeAlias = NDArray[Any] | Any
#: Numbers as users may pass them: one, nested lists of them, a NumPy array, or a device array.
Values: TypeAlias = ArrayLike | Array
#: A NumPy array of float64.
Doubles: TypeAlias = NDArray[np.float64]
#: A NumPy array of truth values.
Mask: TypeAlias = NDArray[np.bool_]
#: What a kernel takes for memory: an address on CUDA, a buffer on OpenCL.
Handle: TypeAlias = Any
#: A value of an argument, or a derivative: a number or an array, of which mypy knows no more.
Value: TypeAlias = Any
#: One of the values that a kernel takes: a number, or memory.
KernelValue: TypeAlias = Any
#: The type of an array's numbers.
DType: TypeAlias = np.dtype[Any]
#: The lengths of an array's axes.
Shape: TypeAlias = tuple[int, ...]
#: A shape as users may pass it: whole numbers, one of them, or None for that of the parameters.
Size: TypeAlias = int | Sequence[int] | None
#: The blocks of threads of a launch, along x and y.
Grid: TypeAlias = tuple[int, int]
