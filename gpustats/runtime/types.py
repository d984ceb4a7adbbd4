"""Names of types that cross the package: arrays, and their form as arguments of kernels."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

#: An array of numbers: a NumPy array, or a device array of PyCUDA or PyOpenCL. The libraries of the latter tell mypy nothing.
Array: TypeAlias = Any
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
#: The blocks of threads of a launch, along x and y.
Grid: TypeAlias = tuple[int, int]
