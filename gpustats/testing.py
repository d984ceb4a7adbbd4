"""Helpers for tests of device functions, the library's own and its users'."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .evaluation.pointwise import Pointwise
from .language.device_function import Argument
from .language.library import library
from .language.nodes import VECTOR


def evaluate_device(function_name: str, *args: ArrayLike, dtype: DTypeLike = np.float64) -> np.ndarray:
    """Evaluate any device function on the default device, without the checks that a density puts around it.

    Parameters
    ----------
    function_name : str
        A special function (``"log1mexp"``), or one in a built-in or registered source (``"normal_logpdf"``).
    *args : array_like
        Arguments of the function, in its order, without ``dim``. They broadcast; a vector lies along the last axis.
    dtype : {numpy.float64, numpy.float32}
        Type of `real`.

    Returns
    -------
    ndarray
        Of `dtype`.

    Examples
    --------
    >>> import numpy as np
    >>> from gpustats.testing import evaluate_device
    >>> evaluate_device("log1mexp", np.array([-1e-3, -1.0, -50.0])).round(6)
    array([-6.908255, -0.458675, -0.      ])
    """
    function = library.resolve(function_name) or library.helper(function_name)
    if function is None:
        raise ValueError(f"there is no device function {function_name}")
    arguments = [Argument(p.name, "vector" if p.type == VECTOR else "real") for p in function.parameters if p.name != "dim"]
    if len(args) != len(arguments):
        raise ValueError(f"{function_name} takes {len(arguments)} arguments, not {len(args)}")
    values = [np.atleast_1d(np.asarray(a, dtype)) for a in args]  # a number without axes would not decide the dtype
    shape = np.broadcast_shapes(*(np.shape(v)[: np.ndim(v) - a.rank] for v, a in zip(args, arguments, strict=True)))
    return np.reshape(Pointwise(function_name, function, arguments, library.closure([function]))(*values), shape)
