"""Random device functions: gpustats' numbers for them are compared with those of an interpreter that knows nothing of gpustats.

`grammar` makes a program (`tree`) of a seed, `interpreter` says what it is worth at some points and how far rounding may carry
it from there (`numbers`), `compiled` asks gcc, and `compare` asks gpustats, one entry point after another. `workers` does so
in child processes, as a program may crash or hang; `shrink` makes small what went wrong. `python -m tests.fuzz --help`.
"""
