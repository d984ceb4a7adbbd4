"""The model of times on more GPUs: it holds where one and two were measured, and its page has its numbers."""

from pathlib import Path

import pytest

from bench import scale

PAGE = (Path(__file__).parents[1] / "docs" / "scale.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("work, predicted, measured", [pytest.param(*check, id=check[0]) for check in scale.checks()])
def test_predictions_are_near_what_was_measured(work, predicted, measured):
    assert predicted == pytest.approx(measured, rel=0.2)


def test_the_page_has_the_tables():
    assert all(table in PAGE for table in scale.tables())
    costs = scale.sums().known.cost, scale.local().known.cost, 1e5 * scale.exact().known.cost, scale.cluster()[0]
    assert all(scale.said(cost) in PAGE for cost in costs)


def test_a_pair_is_what_its_kind_is_read_from():
    kind = scale.Kind("sums", scale.Pair("a sum", 8.0, 5.0, 2.0))
    assert kind.on(2, 8.0, 2.0) == 5.0
    assert kind.on(8, 8.0, 2.0, cluster=100.0) == 1.0 + 7 * 1.0
    assert kind.on(16, 8.0, 2.0, cluster=100.0) == 0.5 + 7 * 1.0 + 2 * 100.0
    assert kind.on(1, 8.0) == 8.0
