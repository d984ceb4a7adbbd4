"""Words of domains: what they mean, what is told of others, and densities whose comment gives none."""

import re
from pathlib import Path

import pytest

import gpustats as gs
from gpustats.language.domains import DOMAINS, ELSEWHERE

_GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "own-density.md"
_TEXT = "real f_logpdf(real x, real s)\n{\n    return -x * x / s;\n}"


def test_the_guide_lists_all_words():
    assert re.findall(r"^\| `(\w+)` \| (.*) \|$", _GUIDE.read_text(encoding="utf-8"), re.M) == [
        (word, domain.meaning) for word, domain in DOMAINS.items()
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    {
        "unit interval": "unit", "the unit interval": "unit", "probability": "unit", "integers": "integer", "int": "integer",
        "natural number": "nonnegative integer", "count": "nonnegative integer", "strictly positive": "positive",
        "Positive integers": "positive", "non-negative": "nonnegative", "> 0": "positive", ">= 0": "nonnegative",
        "real number": "real", "number": "real", "float": "real", "binary": "unit integer", "sorted vector": "ordered vector",
        "probabilities": "simplex",
    }.items(),
)  # fmt: skip
def test_what_is_meant(written, meant):
    with pytest.raises(gs.DeviceFunctionError, match=rf"is not a domain, for s: did you mean {meant}\?"):
        gs.register(f"// f: a test\n// s: {written}\n{_TEXT}")


@pytest.mark.parametrize("written", ["negative", "(0, 1)", "in [0, 1]", "> 1", "matrix"])
def test_what_has_no_word_is_told_all_of_them(written):
    with pytest.raises(gs.DeviceFunctionError, match=f"there are {', '.join(DOMAINS)}; a description"):
        gs.register(f"// f: a test\n// s: {written}\n{_TEXT}")


def test_words_elsewhere_are_words_here():
    assert not ELSEWHERE.keys() & DOMAINS.keys() and {*" ".join(ELSEWHERE.values()).split()} <= DOMAINS.keys()


def test_help_names_arguments_without_a_domain():
    bare = gs.register(f"// f: a test\n// x: real\n{_TEXT}")
    assert bare.domains == {"x": "real", "s": "real"} and "The comment gives no domain of s: any number" in bare.__doc__
    whole = gs.register(f"// f: a test\n// x: real    s: real\n{_TEXT}", replace=True)
    assert whole.domains == bare.domains and "no domain" not in whole.__doc__ + gs.normal.__doc__
