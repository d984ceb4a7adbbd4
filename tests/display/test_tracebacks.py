"""Errors in a user's text, in an IPython shell as a notebook has one: the message stands, without our own lines."""

import subprocess
import sys

import pytest

pytest.importorskip("IPython")

SHELL = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="nocolor")
for cell in {cells!r}:
    shell.run_cell(cell, store_history=True)
"""
WRONG = '''import gpustats as gs

def make():
    return gs.register("""
// dented: a density
// x: real    a: positive
real dented_logpdf(real x, real a) { return x * b; }
""")

make()'''
REFUSED = '''from gpustats.errors import CompileError

def compile():
    raise CompileError("kernel.cl:2:3: error: no such thing", "int a;\\nint b = c;\\n")

compile()'''


def shown(*cells):
    """What a fresh shell prints for some cells."""
    done = subprocess.run(
        [sys.executable, "-c", SHELL.format(cells=cells)], capture_output=True, text=True, timeout=120, check=True
    )  # fmt: skip
    return done.stdout + done.stderr


def test_a_wrong_snippet():
    text = shown(WRONG)
    assert "DeviceFunctionError: line 4, column 49: b is not defined here" in text
    assert ">    4 | real dented_logpdf(real x, real a) { return x * b; }" in text
    assert "Cell In[1], line 10\n    make()" in text and "Cell In[1], line 4" in text
    assert text.count("\n") < 15 and "gpustats/language" not in text and "interactiveshell" not in text


def test_a_kernel_that_a_compiler_refuses():
    text = shown(REFUSED)
    assert "CompileError: the kernel does not compile\nkernel.cl:2:3: error: no such thing" in text
    assert ">    2 | int b = c;" in text and "Cell In[1], line 6\n    compile()" in text
    assert text.count("\n") < 15


def test_the_whole_traceback_is_there_for_who_asks():
    text = shown("%xmode Verbose", WRONG)
    assert "b is not defined here" in text and "gpustats/language/expressions.py" in text
