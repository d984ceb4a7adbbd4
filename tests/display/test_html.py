"""Pieces of HTML, each of which escapes what it is given and closes what it opens."""

import math

import pytest
from markup import Markup

from gpustats.display import html, svg


def test_texts_are_escaped_once():
    made = html.table([("<b>", 'a & "b"'), (html.code("x < 1"), html.text("<i>"))], ["<", "&"])
    read = Markup(made)
    assert read.elements.count("td") == 2 and not {"b", "i"} & set(read.elements)
    assert {"<b>", 'a & "b"', "x < 1", "<i>", "<", "&"} <= set(read.texts)


def test_rows_in_the_middle_of_long_tables_are_left_out():
    assert html.ends(1000, 6) == [0, 1, 2, html.GAP, 997, 998, 999] and html.left_out(1000, 6) == "… 994 more"
    assert html.ends(6, 6) == [0, 1, 2, 3, 4, 5]


def test_facts_without_a_text_are_left_out():
    assert Markup(html.facts({"a": 1, "b": "", "c": 0})).texts == ["a", "1", "c", "0"]


def test_objects_with_facts():
    class Thing(html.Shown):
        def _facts(self):
            return {"<size>": 3}

    assert Markup(Thing()._repr_html_()).texts == ["Thing", "<size>", "3"]


def points_of(picture, element):
    return [tuple(map(float, p.split(","))) for p in picture.split(f"<{element} points=\"")[1].split('"')[0].split()]


def test_curve():
    picture = svg.curve([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, math.nan, 1.0])
    assert Markup(picture).elements[0] == "svg" and Markup(picture).texts == ["0", "3"]
    (x0, y0), (x1, y1), (x3, y3) = points_of(picture, "polyline")
    assert x0 < x1 < x3 and y1 < y3 < y0 and (x3 - x0) == pytest.approx(3 * (x1 - x0), abs=0.2)
    assert y0 - y1 == pytest.approx(2 * (y0 - y3), abs=0.2)


def test_bars():
    picture = svg.bars([2, 3, 4], [0.5, math.inf, 0.25])
    assert Markup(picture).texts == ["2", "4"] and picture.count("M") == 2


def test_band():
    picture = svg.band([1.0, 2.0], [0.0, 1.0], [2.0, 4.0])
    assert [y for _, y in points_of(picture, "polygon")][0] > [y for _, y in points_of(picture, "polyline")][0]
    assert len(points_of(picture, "polygon")) == 4


def test_no_picture_of_nothing():
    assert svg.curve([1.0], [1.0]) == svg.bars([], []) == svg.band([1.0], [0.0], [2.0]) == ""
    assert svg.curve([math.nan] * 3, [1.0] * 3) == ""
    Markup(svg.curve([1.0, 1.0], [0.0, 0.0]))  # all in one place
