"""What a kernel takes, read from its source."""

import struct

import pytest

import gpustats as gs
from gpustats.errors import CompileError
from gpustats.runtime.signature import signature_of

SOURCE = """
typedef float real;
#define KERNEL(threads) extern "C" __global__ void
DEVICE real twice(real x) { return 2 * x; }
KERNEL(64) twice_all(GLOBAL real *RESTRICT out, index_t offset, const int n, real a, double b,
    GLOBAL const int *RESTRICT index)
{
}
KERNEL(1) nothing()
{
}
extern "C" __global__ void plain(const double2 *source, long long n) {
}
KERNEL(1) unknown(size_t n)
{
}
"""


@pytest.mark.parametrize(("name", "signature"), [("twice_all", "PqifdP"), ("nothing", ""), ("plain", "Pq")])
def test_one_character_for_each_parameter(name, signature):
    assert signature_of(SOURCE, name) == signature
    assert struct.calcsize(signature) >= 4 * len(signature)


def test_a_number_is_of_the_type_that_real_is():
    assert signature_of(SOURCE.replace("float", "double"), "twice_all") == "PqiddP"


@pytest.mark.parametrize("name", ["twice", "absent"])
def test_a_function_that_is_no_kernel(name):
    with pytest.raises(CompileError, match=f"no kernel {name}"):
        signature_of(SOURCE, name)


def test_an_argument_of_another_type():
    with pytest.raises(CompileError, match="unknown takes n as size_t: a kernel takes pointers and index_t"):
        signature_of(SOURCE, "unknown")


def test_both_dialects_of_a_density_take_the_same():
    dialects = [gs.normal.kernel_source("table", dialect=dialect) for dialect in ("cuda", "opencl")]
    assert {signature_of(source, "normal_logpdf_checked_table") for source in dialects} == {"PqqqqqPqqPqqPqq"}
