"""Layouts of the kernels of rows on a GPU, and the order in which their numbers are added."""

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest

import gpustats as gs
from gpustats.evaluation import sums
from gpustats.evaluation.repeated import Result, Results
from gpustats.kernels.layout import REFERENCE_DEVICES
from gpustats.rows import layout
from gpustats.runtime import choose

GPU = REFERENCE_DEVICES["cuda"]
CODE = SimpleNamespace(row_size=10, mixed_cost=100.0, n_sums=3)


@pytest.mark.parametrize("n, at_once, of_thread", [
    (100, 1, 1), (100_000, 1, 2), (300_000, 2, 4), (10**6, 8, 16), (10**8, 8, 16), (None, 8, 16),
])  # fmt: skip
def test_few_rows_are_spread_over_all_multiprocessors(n, at_once, of_thread):
    made = layout.layout_for(GPU, CODE, 3, None, 8, n)
    assert (made.unroll, made.segment) == (at_once, of_thread * made.threads)
    if n is not None and n >= 10**5:
        assert layout.blocks_of_rows(GPU, made, -(-n // made.segment), 0) >= GPU.compute_units


def test_rows_with_many_numbers_are_taken_one_by_one():
    assert [layout.layout_for(GPU, CODE, held, None, 8, 10**6).unroll for held in (16, 17, 64)] == [8, 1, 1]


def test_groups_of_many_rows_have_more_blocks():
    large, small = (layout.layout_for(GPU, CODE, 3, mean, 8, 10**7) for mean in (1000.0, 100.0))
    assert large.resident > small.resident and large.unroll == small.unroll == 4
    light = SimpleNamespace(row_size=10, mixed_cost=1.0, n_sums=3)
    assert [layout.layout_for(GPU, light, 3, mean, 8, 10**7).unroll for mean in (1000.0, 100.0)] == [4, 2]


@pytest.mark.parametrize("registers, again", [(128, False), (129, True), (170, True), (171, False), (None, False)])
def test_a_kernel_of_a_few_registers_too_many_is_compiled_again(registers, again, monkeypatch):
    runtime, sources = choose.get(), []

    def kernel(source, name, threads, shared=0):
        sources.append(source)
        return SimpleNamespace(registers=registers, endless=False)

    rows = gs.Rows("real f(real y, real m) { return normal_logpdf(y, m, 1); }", y=np.ones(10**5))
    monkeypatch.setattr(runtime, "dialect", "cuda")
    monkeypatch.setattr(runtime, "device", dataclasses.replace(GPU, memory=runtime.device.memory))
    monkeypatch.setattr(runtime, "kernel", kernel)
    rows.kernel_source()
    assert [re.search(r"^KERNEL\((.*?)\)", source, re.MULTILINE)[1] for source in sources] == ["256", "256, 2"][: 1 + again]


def test_the_way_in_which_blocks_are_added_does_not_depend_on_the_number_of_sums(monkeypatch):
    made = []
    kernel = lambda runtime, name, threads, **constants: made.append(constants) or (lambda *given: None)  # noqa: E731
    monkeypatch.setattr(sums, "_BLOCK_ADDER", SimpleNamespace(kernel=kernel))
    for blocks, adders in ((1, 32), (66, 256), (528, 1024), (5000, 1024)):
        for n in (1, 13_000):
            sums.add_block_sums(None, None, 0, None, n, blocks, threads=1024, side=8)
            assert made.pop()["adders"] == adders
    sums.add_block_sums(None, None, 0, None, 5, 1000, threads=8, side=8)  # of a CPU
    assert made.pop()["adders"] == 8


def test_parts_that_lie_side_by_side_are_read_at_once():
    """Columns of coefficients, each by itself, are those of a matrix; parts of one element are added."""
    column = lambda c: (slice(None), c)  # noqa: E731
    numbers = np.arange(10.0)
    parts = [Result("W", np.array([[1 + 3 * c, 2 + 3 * c, 3 + 3 * c]]), (1, 3, 2), column(c)) for c in (0, 1)]
    read = Results(parts, shapes={"W": (3, 2)})
    np.testing.assert_array_equal(read(numbers)[1]["W"], [[1, 4], [2, 5], [3, 6]])
    twice = Results([*parts, parts[0]], shapes={"W": (3, 2)})
    np.testing.assert_array_equal(np.reshape(twice(numbers)[1]["W"], (3, 2)), [[2, 4], [4, 5], [6, 6]])
    found = Results([Result("s", np.array([[3]]), (1,))], shapes={"s": ()})(numbers)[1]["s"]
    assert type(found) is float and found == 3.0
