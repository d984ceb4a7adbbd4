"""Registered sequence models, by their names: what `gpustats.Rows` takes in the place of a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..display.html import Shown, table
from ..language.device_function import DeviceFunction
from ..language.library import Registry, library
from ..language.nodes import Function
from ..language.outputs import drawn
from .kind import SEQUENCE_MODEL


@dataclass(frozen=True, eq=False, repr=False)
class SequenceModel(Shown):
    """Sequence model: the log-likelihood of a sequence, for `gpustats.Rows`.

    Row functions of your own call it by its C name: ``garch_loglik(y, n, mu, omega, alpha, beta, variance)``.

    Attributes
    ----------
    name, source, description, reference : str
    sequences : tuple of str
        Names of the sequences of a row, of one length.
    parameters : tuple of str
        Names of the numbers behind these, in their order.
    domains : dict
        Sequence or parameter -> domain.
    outputs : dict
        Output by step -> what it is: see `gpustats.Rows.steps`.
    drawn : tuple of str
        Those of the outputs that are drawn: see `gpustats.Rows.draws`.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.series.garch
    <gpustats.series.garch(y; mu, omega, alpha, beta, variance)>
    >>> y = np.array([[0.1, -0.4, 0.3], [0.2, 0.1, -0.1]])
    >>> rows = gs.Rows(gs.series.garch, y=gs.sequences(y))
    >>> round(rows(mu=0.0, omega=0.01, alpha=0.1, beta=0.8, variance=0.1), 6)
    -0.143279
    """

    definition: DeviceFunction
    functions: dict[str, Function] = field(init=False)  # all functions of it and those that they call, by their names

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", library.closure(self.definition.functions.values()))

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def source(self) -> str:
        """The text of C."""
        return self.definition.source

    @property
    def description(self) -> str:
        return self.definition.description

    @property
    def reference(self) -> str:
        """The publication that the model is from."""
        return self.definition.reference

    @property
    def sequences(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.definition.arguments if a.rank)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.definition.arguments if not a.rank)

    @property
    def domains(self) -> dict[str, str]:
        return {a.name: a.domain for a in self.definition.arguments}

    @property
    def outputs(self) -> dict[str, str]:
        return {a.name: a.description for a in self.definition.outputs}

    @property
    def drawn(self) -> tuple[str, ...]:
        return tuple(drawn(self.definition.as_written(self.function)))

    @property
    def function(self) -> Function:
        """Function of the sequences, their length, and the parameters."""
        function = self.definition.role(*SEQUENCE_MODEL.endings)
        assert function is not None
        return function

    def _title(self) -> str:
        return f"{self.name}: {self.description}"

    def _facts(self) -> Mapping[str, object]:
        return {
            "log-likelihood of": ", ".join(self.sequences),
            "parameters": table([(n, self.domains[n]) for n in self.parameters]),
            "outputs by step": table(list(self.outputs.items())),
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<gpustats.series.{self.name}({', '.join(self.sequences)}; {', '.join(self.parameters)})>"


class Series(Registry[SequenceModel]):
    """Registered sequence models by name, also as attributes; built-in ones are parsed when first asked for."""

    def __init__(self) -> None:
        super().__init__(SEQUENCE_MODEL, SequenceModel)

    def __getattr__(self, name: str) -> SequenceModel:
        if name.startswith("_"):  # what copies and pickles look for, before there is anything here
            raise AttributeError(name)
        if name not in self:
            raise AttributeError(self._unknown(name))
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})


series = Series()
