"""Exceptions and warnings of gpustats' own.

Wrong shapes are ValueError, wrong types TypeError, as in NumPy.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Collection
from pathlib import Path
from typing import Any

# clang (Intel's OpenCL) writes `file:line:column: error: …`, PoCL `error: file:line:column: …`, NVRTC and nvcc
# `file(line): error: …`.
_ERROR = re.compile(
    r"^(?:error: [^\n]*?:(\d+):\d+:\s|[^\n]*?[:(](\d+)(?:[:,]\d+)?\)?:\s+(?:fatal |catastrophic )?error\b)", re.MULTILINE
)


def numbered(source: str, lines: set[int] | None = None, context: int = 2) -> str:
    """Source with line numbers; only the neighbourhood of `lines`, marked, where they are given."""
    text = source.removesuffix("\n").split("\n")  # as compilers and editors count
    wanted = lines or set()
    shown = [
        f"{'>' if number in wanted else ' '}{number:5d} | {line}"
        for number, line in enumerate(text, start=1)
        if not wanted or any(abs(number - line_) <= context for line_ in wanted)
    ]
    return "\n".join(shown)


class _OfUsersCode(Exception):
    """Error that users' code explains and ours does not: IPython shows the lines that called, and the message.

    Its ``%xmode Verbose`` shows the whole traceback.
    """

    def _render_traceback_(self) -> list[str]:
        python = sys.modules.get("IPython")
        shell: Any = None if python is None else python.get_ipython()
        if shell is not None and shell.InteractiveTB.mode == "Verbose":
            whole: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, self.__traceback__)
            return whole
        ours = [Path(__file__).parent, *([] if python is None else [Path(str(python.__file__)).parent])]
        lines = []
        for frame in traceback.extract_tb(self.__traceback__):
            if not any(Path(frame.filename).is_relative_to(folder) for folder in ours):
                # of a cell, such as "Cell In[1]"
                named = None if shell is None else shell.compile.format_code_name(frame.filename)
                place = " ".join(named) if named else f"File {frame.filename}"
                lines.append(f"{place}, line {frame.lineno}\n    {frame.line}")
        return [*lines, f"{type(self).__name__}: {self}"]


class DeviceFunctionError(_OfUsersCode, ValueError):
    """Device function that breaks the rules of the language.

    Parameters
    ----------
    message : str
        Mistake, and what to do.
    line, column : int, optional
        Place of the mistake, counted from 1, in the user's own text.
    source : str, optional
        The user's text.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None, source: str | None = None) -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.source = message, line, column, source

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        place = f"line {self.line}" + (f", column {self.column}" if self.column else "")
        text = f"{place}: {self.message}"
        if self.source:
            text += "\n" + numbered(self.source, {self.line}, context=1)
        return text

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.message, self.line, self.column, self.source)


class NoMaximumError(ValueError):
    """Likelihood without a maximum: it grows for ever in the direction of some parameters, so that there is no fit.

    Parameters
    ----------
    message : str
        Which parameters, why, and what to do.
    parameters : collection of str
        Their names.
    """

    def __init__(self, message: str, parameters: Collection[str]) -> None:
        super().__init__(message, frozenset(parameters))
        self.parameters = frozenset(parameters)

    def __str__(self) -> str:
        return str(self.args[0])


class AccuracyWarning(UserWarning):
    """Warning of a number that exists, but is nan as it cannot be computed as accurately as promised, such as a moment.

    ``warnings.simplefilter("error", gs.AccuracyWarning)`` makes it an error.
    """


class NoDeviceError(RuntimeError):
    """No device to compute on; the message lists what was looked for and what to install."""


class DeviceLostError(RuntimeError):
    """Loss of a device: nothing can be computed any more in the context that was used, and what lay there is gone.

    After a kernel's stray access, or a reset of the driver, all calls in that context fail. The message says what works again.
    """


class CompileError(_OfUsersCode, RuntimeError):
    """Rejection of a kernel by the device's compiler.

    Parameters
    ----------
    log : str
        Messages of the compiler.
    source : str
        The whole generated source.
    """

    def __init__(self, log: str, source: str) -> None:
        super().__init__(log, source)
        self.log, self.source = log, source

    @property
    def lines(self) -> list[int]:
        """Lines of `source` in which the compiler found errors."""
        return sorted({int(match[1] or match[2]) for match in _ERROR.finditer(self.log)})

    def __str__(self) -> str:
        lines = {line for line in self.lines if line <= self.source.count("\n") + 1}
        if not lines:
            return f"the kernel does not compile\n{self.log.strip()}"
        return f"the kernel does not compile\n{self.log.strip()}\n\n{numbered(self.source, lines)}"


class CompilerCrash(CompileError):
    """Failure of the device's compiler: instead of rejecting a kernel it crashes, or does not end."""

    def __str__(self) -> str:
        return f"{self.log.strip()}\n\n{numbered(self.source)}"
