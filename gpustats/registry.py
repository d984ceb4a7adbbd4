"""Registration of densities, covariance functions and sequence models from the sources that users write."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import Any

from .density import ELLIPTICAL, densities
from .language.derivative import differentiate_by
from .language.kinds import add_kind
from .language.library import library
from .language.nodes import Function
from .processes.kind import COVARIANCE
from .rows.kind import SEQUENCE_MODEL

add_kind(ELLIPTICAL)
add_kind(COVARIANCE)
add_kind(SEQUENCE_MODEL)


def _gradient(function: Function, wrt: Sequence[str], functions: MutableMapping[str, Function]) -> Function:
    from .rewriting.differentiate import gradient  # here, as it takes long

    return gradient(function, wrt, functions)


differentiate_by(_gradient)


def register(source: str | Path, *, replace: bool = False) -> Any:
    """Make a density, a covariance function or a sequence model of a few lines of C.

    Parameters
    ----------
    source : str or Path
        The text of a device function ``name_logpdf``, ``name_logpmf``, ``name_cov`` or ``name_loglik`` (see CONTRIBUTING.md),
        or the path of a file with it. A string without a newline that names an existing file is a path as well. Its comment
        gives the domains of the arguments: `real`, any number, is what it says nothing of.
    replace : bool
        Whether one of the same name may be replaced.

    Returns
    -------
    Density, gp.Covariance or SequenceModel
        Also to be found at ``gs.densities[name]``, ``gs.covariances[name]``, ``gs.series[name]``.

    Raises
    ------
    DeviceFunctionError
        With line and column, where the source breaks the rules of the language, or the name is taken.

    Examples
    --------
    >>> import gpustats as gs
    >>> density = gs.register('''
    ... // pareto2: Pareto distribution that starts at zero
    ... // x: nonnegative    alpha: positive, shape    scale: positive
    ... __device__ real pareto2_logpdf(real x, real alpha, real scale)
    ... {
    ...     return log(alpha / scale) - (alpha + 1) * log1p(x / scale);
    ... }
    ... ''', replace=True)
    >>> round(float(density.logpdf(1.0, alpha=2.0, scale=3.0)), 6)
    -1.268511
    """
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source and source.endswith(".cu")):
        source = Path(source).read_text(encoding="utf-8")
    made = library.register(source, replace)
    if COVARIANCE.includes(made.kind):
        from .processes.registry import covariances  # here, as it takes long

        return covariances[made.name]
    if SEQUENCE_MODEL.includes(made.kind):
        from .rows.series import series

        return series[made.name]
    return densities[made.name]
