"""The command that compares with scipy.stats."""

import against_scipy
import pytest


def test_where_scipy_agrees(capsys):
    assert not against_scipy.main(["poisson", "--sets", "1"])
    lines = capsys.readouterr().out.splitlines()
    table = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in lines[-13:]}
    assert table["pdf"][0] == 34 and table["ppf"][:2] == [26, 26] and table["entropy"][0] == 2
    assert all(sum(row[1:]) == row[0] and not row[3] and not row[4] for row in table.values())


def test_what_is_exact():
    """Where the quadrature and Newton's method judge, closed forms are known."""
    exact = against_scipy.exact
    assert exact("exponential", "ppf", 0.3, [2.0]) == pytest.approx(0.17833747196936622, rel=1e-15)
    assert exact("exponential", "kurtosis", 0, [2.0]) == pytest.approx(6, rel=1e-12)
    assert exact("geometric", "isf", 0.1, [0.5]) == 4 and exact("geometric", "var", 0, [0.5]) == pytest.approx(2, rel=1e-12)


def test_a_wrong_value_is_listed(monkeypatch):
    monkeypatch.setattr(against_scipy, "CLOSE", 1e-18)  # closer than float64
    counts, lines = against_scipy.compare("logistic", 1, 1, 2)
    assert any(line.startswith("logistic.") and "exact" in line for line in lines)
    assert sum(count["scipy's"] + count["neither"] for count in counts.values()) > 0
