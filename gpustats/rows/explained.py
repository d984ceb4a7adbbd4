"""What a model of rows says of how a device goes through them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..evaluation.arguments import check_wrt_among
from .leaves import Sequences, StepGather

if TYPE_CHECKING:
    from ..parallel.pieces import Pieces
    from ..runtime.types import Value
    from .binding import Binding
    from .long_sequences import LongSequences
    from .long_steps import LongSteps
    from .on_device import OnDevice


class Explained:
    """Model of rows that explains itself."""

    _bound: Binding
    _own: OnDevice
    _pieces: Pieces | None

    if TYPE_CHECKING:

        def _named(self, outputs: str | Collection[str] | None, default: Sequence[str], what: str) -> tuple[str, ...]: ...

        def _values(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[list[Value], Sequence[str]]: ...

    def explain(
        self, *args: ArrayLike, wrt: str | Collection[str] | None = None, outputs: str | Collection[str] | None = None,
        **kwargs: ArrayLike,
    ) -> str:  # fmt: skip
        """Sentence on how `value_and_grad` goes through the rows: a row in each thread, or parts of long sequences, and why.

        Of sequences in threads it tells how they are differentiated: forwards, or backwards with the variables of each turn, or
        of some, stored. With `outputs` it is on `steps` and `draws`, or on `terms_by_step`.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: see the class.
        wrt : str or collection of str, optional
            Names of parameters; by default all. With none it is of the value alone.
        outputs : str or collection of str, optional
            Names of outputs by step that are asked for together; or ``"terms_by_step"``.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            Where the function has no such output, or is no sum over the steps.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> rows = gs.Rows(gs.series.local_level, y=gs.sequences([[1.0, 2.0, 1.5]]))
        >>> rows.explain(sigma=1.0, sigma_level=0.5, level=0.0, level_sd=np.inf)[:25]
        'a sequence in each thread'
        """
        if self._pieces is not None:
            return f"the rows lie in pieces: {self._pieces.where}"
        if not any(isinstance(leaf, Sequences | StepGather) for leaf in self._bound.leaves.values()):
            return "rows in threads side by side"
        names = tuple(self._bound.parameters) if wrt is None else check_wrt_among(wrt, self._bound.parameters) if wrt else ()
        values = self._values(args, kwargs)[0]
        packing, _ = self._bound.packing(values)
        evaluator = self._own.evaluator(self._bound.length(packing.shapes))
        found: LongSequences | LongSteps | str
        if outputs is None:
            found = evaluator.in_parts(names, packing)
        elif outputs == "terms_by_step":
            found = evaluator.terms_in_parts(packing)
        else:
            found = evaluator.steps_in_parts(self._bound.writing(self._named(outputs, (), "")), packing)
        if isinstance(found, str):
            how = f"; {evaluator.differentiated(names, packing)}" if names and outputs is None else ""
            return f"a sequence in each thread: {found}{how}"
        rounds, left = found.rounds(packing).start(values)()
        mean = rounds / (found.spans.n_sequences * packing.n_sets * found.n_loops)
        how = f"{found.described}; their states are found in {mean:.2g} rounds on average"
        return f"{how}, and {left} sequences gone through step by step" if left else how
