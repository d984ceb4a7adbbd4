"""PyTensor's modes for graphs that are computed once or twice: to rewrite them takes longer than it saves."""

from pytensor.compile import Mode

QUICK = "FAST_COMPILE"
AS_WRITTEN = Mode("py", None)  # also without what makes graphs canonical
REWRITTEN = Mode("py", "fast_run")  # as models are for users
