"""Form of a source that defines a sequence model, and the checks of it."""

from __future__ import annotations

from ..language.kinds import Kind
from ..language.nodes import INT, OUTPUT, REAL, RNG, VECTOR, Function


def _fault(function: Function) -> str:
    types = [p.type for p in function.parameters]
    n_sequences = next((i for i, kind in enumerate(types) if kind != VECTOR), len(types))
    if not n_sequences or types[n_sequences : n_sequences + 1] != [INT] or function.parameters[n_sequences].name != "dim":
        return f"{function.name} must take its sequences first, `const real *y`, and then their length, `int n`"
    late = [p.written for p in function.parameters[n_sequences + 1 :] if p.type not in (REAL, RNG, OUTPUT)]
    return f"{function.name} must take numbers behind the length of its sequences: {late[0]} is none" if late else ""


SEQUENCE_MODEL = Kind(
    "sequence model", "sequence models", ("loglik",), file_ending="_loglik", fault=_fault, of_sequences=True
)
