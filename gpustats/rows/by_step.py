"""Numbers of each step of the sequences of a model: what its function writes on the way."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .leaves import Sequences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..runtime.types import Value
    from .binding import Binding
    from .on_device import OnDevice


class BySteps:
    """Model whose rows are sequences."""

    _bound: Binding
    _own: OnDevice

    if TYPE_CHECKING:

        def _values(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[list[Value], Sequence[str]]: ...

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs by step of the function: see `steps`."""
        return tuple(self._bound.outputs)

    def steps(
        self, *args: ArrayLike, outputs: str | Collection[str] | None = None, **kwargs: ArrayLike
    ) -> dict[str, np.ndarray]:
        """Numbers of each step that the function writes: values that are learned, states, forecasts, residuals.

        A function of sequences may have outputs behind its numbers, ``real *value``, to which it writes a number at each step,
        ``value[t] = …``, and which it may read there, too. They are none of the parameters, and log-likelihood and derivatives
        are computed without them.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: see the class.
        outputs : str or collection of str, optional
            Names of the outputs that are computed; by default all of `outputs`.

        Returns
        -------
        dict
            Name of each output -> (T,) ndarray, or (*sets, T): the numbers of all sequences in the order in which `sequences`
            got those of the first one, be it by keys, and so beside the columns of a table of the data; nan for steps to which
            the function writes nothing, and where parameters are wrong. In the type of the computation.

        Raises
        ------
        ValueError
            Where the function has no outputs, none of this name, or no sequences.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> person = '''
        ... __device__ real person(const real *choice, const real *reward, int n, real rate, real weight, real *value)
        ... {
        ...     real now = 0, loglik = 0;
        ...     for (int t = 0; t < n; t++) {
        ...         value[t] = now;
        ...         loglik += bernoulli_logit_logpmf(choice[t], weight * now);
        ...         now += rate * (reward[t] - now);
        ...     }
        ...     return loglik;
        ... }'''
        >>> choices, rewards = [[1, 1, 0], [0, 1]], [[1.0, 0.0, 1.0], [0.5, 0.5]]
        >>> rows = gs.Rows(person, choice=gs.sequences(choices), reward=gs.sequences(rewards))
        >>> rows.steps(rate=0.5, weight=2.0)
        {'value': array([0.  , 0.5 , 0.25, 0.  , 0.25])}
        """
        bound, name = self._bound, self._bound.row.name
        known = self.outputs
        if not known:
            raise ValueError(f"{name} has no outputs by step: declare some behind its numbers, such as `real *value`")
        if not any(isinstance(leaf, Sequences) for leaf in bound.leaves.values()):
            raise ValueError(f"{name} has no sequences, and so no steps: give it its data as gs.sequences(…)")
        names = known if outputs is None else (outputs,) if isinstance(outputs, str) else tuple(outputs)
        if unknown := [n for n in names if n not in known]:
            raise ValueError(f"outputs: {unknown[0]!r} is none of {', '.join(known)}")
        if not names:
            return {}
        found, packing = self._own.found("steps", names, self._values(args, kwargs)[0])
        return {n: numbers.reshape(*packing.lead, -1) for n, numbers in zip(names, found, strict=True)}
