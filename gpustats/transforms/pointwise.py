"""Transforms of a function's value at every point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..evaluation.pointwise import log_density_of

if TYPE_CHECKING:
    from ..density import Density
    from ..evaluation.pointwise import Pointwise

__all__ = ["Exp", "Grad"]


class Differentiable(Protocol):
    """Function with a derivative: of observations, or a covariance function."""

    def derivative(self, wrt: str | None = None) -> Any: ...


def Exp(inner: Pointwise | Density) -> Pointwise:
    """Exponential of a function: the density of a log-density.

    Parameters
    ----------
    inner : Pointwise or Density
        A density's logarithm, or anything a transform made.

    Examples
    --------
    >>> import gpustats as gs
    >>> pdf = gs.transforms.Exp(gs.normal)
    >>> round(float(pdf(0.0, 0.0, 1.0)), 6)
    0.398942
    """
    function: Pointwise = log_density_of(inner)
    return function.map("exp", "exp({})")


def Grad(inner: Differentiable | Density, wrt: str | None = None) -> Any:
    """Derivative of a function with respect to one argument, at every point.

    Parameters
    ----------
    inner : Pointwise, Density or gp.Covariance
        A density's logarithm, or anything a transform made; or a covariance function.
    wrt : str, optional
        Name of an argument that is not a whole number; the observation (of a covariance function, what it sees of two points)
        if not given. Where it is a vector, the derivative takes another argument, last: ``component``, the number of the
        element.

    Examples
    --------
    >>> import gpustats as gs
    >>> score = gs.transforms.Grad(gs.normal, "mu")
    >>> round(float(score(2.0, 0.5, 1.0)), 6)
    1.5
    >>> round(float(gs.transforms.Grad(score, "mu")(2.0, 0.5, 1.0)), 6)
    -1.0
    >>> gs.transforms.Grad(gs.rbf, "amplitude")([0.0, 1.0], amplitude=2.0, lengthscale=1.0).round(3)
    array([[4.   , 2.426],
           [2.426, 4.   ]])
    """
    function: Differentiable = log_density_of(inner)
    return function.derivative(wrt)
