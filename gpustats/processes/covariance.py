"""Covariance functions of Gaussian processes, which users call for a matrix."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..evaluation.placement import as_read, moved, target_of
from ..kernels.shown import shown_source
from ..linalg.matrix import Matrix
from ..runtime import arrays
from ..runtime.types import Array
from .expression import Expression
from .hyperparameters import Hyperparameters
from .observations import as_points
from .pairs import Pairs
from .parameters import Given


class Covariance(Expression):
    """A covariance function k(x, x') made of device functions.

    Sums and products of covariance functions are covariance functions, too. Where both have a hyperparameter of the same name,
    `rename` one of them, or `fix` it at a number.

    Attributes
    ----------
    name, source, description : str
    parameters : tuple of str
        Names of the hyperparameters.
    domains : dict
        Hyperparameter -> domain.
    inputs : tuple of Input
        Distances and scalar products of two points that the function takes.
    function : Function
        Function of the inputs, then the hyperparameters.

    Notes
    -----
    The lengthscale of a function of ``sqdist / lengthscale**2`` may be a vector with a value for each column of the points
    (automatic relevance determination): they are divided by it before their distance is taken. The same holds for ``dot``.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = np.array([[0.0], [1.0], [3.0]])
    >>> gs.rbf(x, amplitude=1.0, lengthscale=2.0).round(4)
    array([[1.    , 0.8825, 0.3247],
           [0.8825, 1.    , 0.6065],
           [0.3247, 0.6065, 1.    ]])
    >>> seasonal = gs.rbf + gs.periodic.rename(amplitude="season", lengthscale="roughness").fix(period=1.0)
    >>> seasonal
    <gpustats.rbf + periodic(amplitude, lengthscale, season, roughness)>
    """

    def __call__(self, x: ArrayLike, x2: Given = None, **hyperparameters: ArrayLike) -> Array:
        """Matrix of covariances.

        Parameters
        ----------
        x : (n, p) or (n,) array_like
            Points in rows; numbers are points of one column.
        x2 : (m, p) or (m,) array_like, optional
            By default x.
        **hyperparameters : float, or (p,) array_like for a lengthscale

        Returns
        -------
        (n, m) ndarray, or a device array where x is one
            float32 where x is, else float64.
        """
        given = [as_points(x, "x")] + ([] if x2 is None else [as_points(x2, "x2")])
        columns = given[0].shape[1]
        if given[-1].shape[1] != columns:
            raise ValueError(f"x has {columns} columns, and x2 {given[-1].shape[1]}: they must have the same")
        runtime, dtype = target_of(given, ["x", "x2"][: len(given)], None)
        values = Hyperparameters(self, columns, hyperparameters)
        pairs = Pairs(self, runtime, dtype, columns, tuple(values.vectors))
        placed = [moved(runtime, as_read(runtime, a, dtype)) for a in given]
        shape = placed[0].shape[0], placed[-1].shape[0]
        out = runtime.empty(shape, dtype)
        if 0 not in shape:
            pairs.matrix(Matrix.over(runtime, out), placed[0], placed[-1], values)
        return out if any(map(arrays.is_device_array, given)) else runtime.to_host(out)

    def kernel_source(self, shape: str, dtype: str = "float64", dialect: str = "cuda") -> str:
        """Source of a kernel of the covariance function, for points of 8 columns and a number for each hyperparameter.

        Parameters
        ----------
        shape : str
            "covariance" is the matrix of covariances with a number added to its diagonal; "covariance_gradient", the sums that
            the derivatives of a marginal likelihood are made of; "marginal", marginal likelihoods of few observations, with
            derivatives; "vecchia", likelihoods by Vecchia's approximation, with derivatives; "local_design", the search for a
            `LocalGP`'s designs, and "local_ray" that along rays; "local_fit", its estimates and predictions, and "local_joint"
            joint predictions.
        dtype : {"float64", "float32"}
            Local Gaussian processes are always computed in float64.
        dialect : {"cuda", "opencl"}
        """
        return shown_source("covariance", self, shape, dtype, dialect)
