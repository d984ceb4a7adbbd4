"""Numbers of each step of the sequences of a model: what its function writes on the way."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..draws.generator import Rng, as_generator
from ..rewriting.stepwise import NotStepwise
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from .leaves import Sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..parallel.pieces import Pieces
    from ..runtime.types import Value
    from .binding import Binding
    from .on_device import OnDevice
    from .parameters import Packing

    Compute = Callable[[Sequence[Value]], Sequence[np.ndarray]]

MOST_TAKEN = 0.25  # of a device's memory; more sets of parameters are evaluated one part after another


class BySteps:
    """Model whose rows are sequences."""

    _bound: Binding
    _own: OnDevice
    _pieces: Pieces | None

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
            Names of the outputs that are computed; by default all but those that are drawn, see `draws`.

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
        known = [n for n in self.outputs if n not in self._bound.drawn]
        names = self._named(outputs, known, "outputs by step: declare some behind its numbers, such as `real *value`")
        if drawn := [n for n in names if n not in known]:
            raise ValueError(f"outputs: {drawn[0]} is drawn: `draws` gives it")
        found = self._by_step(len(names), args, kwargs, lambda values: self._own.found("steps", names, values)[0])
        return dict(zip(names, found, strict=True))

    def draws(
        self, *args: ArrayLike, rng: Rng = None, outputs: str | Collection[str] | None = None, **kwargs: ArrayLike
    ) -> dict[str, np.ndarray]:
        """Draws of each step: of hidden states given the numbers, or of numbers from the model.

        A function of sequences that has outputs by step, see `steps`, may take a stream, ``rng_t *rng``, behind its numbers.
        What it writes may then be made of random numbers: ``normal(rng)``, ``poisson_sample(rng, mu)`` and other samplers. Of
        the models of `series`, ``simulated`` is a draw of the series from the model, for which the data tell the length alone;
        ``drawn_…`` are draws of states given all numbers.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: see the class. Each set of parameters has draws of its own: an array of 100 equal
            numbers gives a hundred.
        rng : optional
            A seed, or a generator: see `gpustats.Density.rvs`.
        outputs : str or collection of str, optional
            Names of the outputs; by default all that are drawn.

        Returns
        -------
        dict
            As `steps`. A seed stands for the same draws on all devices, and depends on what outputs are asked for.

        Raises
        ------
        ValueError
            Where the function draws nothing, has no output of this name, or no sequences.

        Examples
        --------
        A level and its numbers, of a hundred posterior draws of the parameters:

        >>> import numpy as np, gpustats as gs
        >>> rows = gs.Rows(gs.series.local_level, y=gs.sequences([[1.0, 1.4, 0.7]]))
        >>> sigma = np.random.default_rng(1).uniform(0.4, 0.6, 100)
        >>> drawn = rows.draws(sigma=sigma, sigma_level=0.2, level=0.0, level_sd=2.0, rng=1)
        >>> drawn["drawn_level"].shape, drawn["simulated"].shape
        ((100, 3), (100, 3))
        """
        names = self._named(outputs, self._bound.drawn, "draws: it needs a stream, `rng_t *rng`, and outputs by step")
        generator = as_generator(rng)
        found = self._by_step(len(names), args, kwargs, lambda values: self._own.draws(names, values, generator))
        return dict(zip(names, found, strict=True))

    def _named(self, outputs: str | Collection[str] | None, default: Sequence[str], what: str) -> tuple[str, ...]:
        """Names of the outputs that a call asks for."""
        if outputs is None:
            if not default:
                raise ValueError(f"{self._bound.row.name} has no {what}")
            return tuple(default)
        names = (outputs,) if isinstance(outputs, str) else tuple(outputs)
        if unknown := [n for n in names if n not in self.outputs]:
            listed = ", ".join(self.outputs) or "those declared: there are none"
            raise ValueError(f"outputs: {unknown[0]!r} is none of {listed}")
        return names

    def terms_by_step(self, *args: ArrayLike, **kwargs: ArrayLike) -> np.ndarray:
        """What each step adds to the function's value in its row: the log-density of a number, given those before it.

        It is for functions that go through their sequences in one loop, and whose value is a sum over its turns: those of
        `series`, and of your own. What leave-future-out cross-validation and leave-one-out within a sequence take.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: see the class.

        Returns
        -------
        (T,) ndarray, or (*sets, T)
            In the order in which `sequences` got the numbers of the first sequence: see `steps`. Those of a row add up to what
            `terms` gives, with weights. 0 where a number is missing; what is part of no turn counts with the first number.

        Raises
        ------
        ValueError
            Where the value of the function is no sum over the turns of one loop, with the reason. Such a function may have an
            output, ``real *term``, to which it writes what is wanted: see `steps`.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> rows = gs.Rows(gs.series.ar1, y=gs.sequences([[0.3, 0.1], [np.nan, -0.2, 0.4]], missing=True))
        >>> rows.terms_by_step(mu=0.0, phi=0.5, sigma=1.0).round(4)
        array([-1.0965, -0.9202,  0.    , -1.0778, -1.0439])
        """
        try:
            return self._by_step(1, args, kwargs, lambda values: self._own.found("terms_by_step", (), values)[0])[0]
        except NotStepwise as error:
            advice = "declare an output, `real *term`, and write the term of each step to it"
            raise ValueError(f"{self._bound.row.name} has no terms by step, as {error}: {advice}") from None

    def _by_step(
        self, n_outputs: int, args: Sequence[Value], kwargs: Mapping[str, Value], compute: Compute
    ) -> list[np.ndarray]:
        """Numbers of each step, (*sets, T), of so many outputs, that a function computes for values of the parameters."""
        leaf = next((leaf for leaf in self._bound.leaves.values() if isinstance(leaf, Sequences)), None)
        if leaf is None:
            name = self._bound.row.name
            raise ValueError(f"{name} has no sequences, and so no steps: give it its data as gs.sequences(…)")
        if self._pieces is not None:
            where = self._pieces.where
            raise ValueError(f"numbers of each step are of sequences on one device, and these lie in pieces: {where}")
        values, _ = self._values(args, kwargs)
        packing, _ = self._bound.packing(values)
        if not n_outputs:
            return []
        bytes_of_set = 2 * n_outputs * leaf.numbers.size * self._bound.dtype.itemsize
        most = max(int(MOST_TAKEN * self._own.runtime.device.memory) // max(bytes_of_set, 1), 1)
        if packing.n_sets <= most:
            parts = [compute(values)]
        else:
            parts = [compute(_of_sets(values, packing, first, first + most)) for first in range(0, packing.n_sets, most)]
        found = parts[0] if len(parts) == 1 else [np.concatenate(its) for its in zip(*parts, strict=True)]
        return [numbers.reshape(*packing.lead, -1) for numbers in found]


def _of_sets(values: Sequence[Value], packing: Packing, first: int, end: int) -> list[Value]:
    """Values of the parameters in some of their sets."""
    found: list[Value] = []
    for value, shape, core in zip(values, packing.shapes.values(), packing.cores.values(), strict=True):
        if len(shape) > len(core):
            every = np.broadcast_to(to_host(value) if is_device_array(value) else value, packing.lead + core)
            value = every.reshape(packing.n_sets, *core)[first:end]
        found.append(value)
    return found
