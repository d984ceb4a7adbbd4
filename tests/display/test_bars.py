"""Bars of long work: in a terminal, in a notebook, as plain text without Rich; nothing where nobody asked for one."""

import builtins
import sys
import time

import numpy as np
import pytest

import gpustats as gs
from gpustats.display import bars


@pytest.fixture
def shown(monkeypatch):
    """Bars of a test, which remember what they showed."""
    made = []

    class Remembered(bars.Bar):
        def __init__(self, n, what):
            super().__init__(n, what)
            self.states, self.stopped = [], False
            made.append(self)

        def draw(self):
            self.states.append((self.done, self.note))

        def stop(self):
            self.stopped = True

    monkeypatch.setattr(bars, "_shown", Remembered)
    return made


@pytest.fixture
def without_rich(monkeypatch):
    """As if Rich were not installed."""
    real = builtins.__import__

    def imported(name, *args, **kwargs):
        if name.partition(".")[0] == "rich":
            raise ImportError("no Rich")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", imported)


def count_to_three(n=3, **options):
    with bars.bar(n, what="things", **options) as advance:
        for i in range(3):
            advance(1, f"last {i}")


def test_nothing_is_shown_to_who_did_not_ask(capfd):
    count_to_three()
    assert capfd.readouterr() == ("", "")


def test_terminal(capfd):
    count_to_three(shown=True)
    said = capfd.readouterr().out
    assert "things" in said and "3/3" in said and "last 2" in said
    count_to_three(None, shown=True)
    assert "things" in (said := capfd.readouterr().out) and " 3 " in said


def test_plain_text_without_rich(without_rich, capfd, monkeypatch):
    count_to_three(shown=True)
    assert capfd.readouterr() == ("", "things 3 of 3 last 2\n")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(bars, "MESSAGE_INTERVAL", 0.0)
    count_to_three(None, shown=True)
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and "\rthings 1 last 0" in said and said.endswith("\rthings 3 last 2\n")


def test_notebook(monkeypatch):
    display = pytest.importorskip("IPython.display")
    drawn = []

    class Output:
        def update(self, html):
            drawn.append(html.data)

    monkeypatch.setattr(bars, "_is_notebook", lambda: True)
    monkeypatch.setattr(display, "display", lambda html, display_id: drawn.append(html.data) or Output())
    with bars.bar(2, True, "<things>") as advance:
        advance(2, "a < b")
    assert drawn[0] == '<progress value="0" max="2"></progress> &lt;things&gt; 0 of 2'
    assert drawn[-1] == '<progress value="2" max="2"></progress> &lt;things&gt; 2 of 2 a &lt; b'
    count_to_three(None, shown=True)
    assert drawn[-1] == '<progress value="1" max="1"></progress> things 3 last 2'  # it does not go on moving for ever


def test_beside_a_bar_of_another_program():
    from rich.progress import Progress

    with Progress():
        count_to_three(shown=True)


def test_bars_within_a_bar_are_told_behind_it(shown):
    with bars.bar(2, True, "steps") as advance:
        count_to_three()
        count_to_three(shown=True)
        advance(1)
    (own,) = shown
    assert own.states[:4] == [(0, "things 1 of 3 last 0"), (0, "things 2 of 3 last 1"), (0, "things 3 of 3 last 2"), (0, "")]
    assert own.states[-1] == (1, "") and own.stopped


def test_an_error_ends_a_bar(shown):
    with pytest.raises(RuntimeError), bars.bar(2, True):
        raise RuntimeError
    assert shown[0].stopped
    count_to_three(shown=True)
    assert len(shown) == 2  # it is no longer the one behind which others are told


@pytest.mark.parametrize("within", [False, True])
def test_slow_work_is_told(shown, monkeypatch, within):
    monkeypatch.setattr(bars, "SLOW", 0.02)

    def compiled(seconds):
        with bars.told_if_slow("compiling"):
            time.sleep(seconds)

    compiled(0.1)
    assert not shown
    with bars.bar(5, True, "steps") if within else gs.progress():
        compiled(0.0)
        assert not any(one.states or not within for one in shown)
        compiled(0.3)
    if within:
        assert shown[0].states == [(0, "compiling"), (0, "")]
    else:
        assert [one.what for one in shown] == ["compiling"] and shown[0].stopped


def test_compilation_is_told(shown, monkeypatch):
    monkeypatch.setattr(bars, "SLOW", 0.0)
    with gs.progress():
        gs.register(f"""
// told: a density that was never compiled
// x: real
real told_logpdf(real x) {{ return -fabs(x) * {time.time()!r}; }}
""", replace=True).logpdf([1.0, 2.0])  # fmt: skip
    assert bars.COMPILING in [one.what for one in shown]


def test_streams(shown, rng):
    x = rng.normal(size=1000)
    likelihood = gs.Likelihood(gs.normal, x, chunk=100, memory=3 * 800)
    value = likelihood(0.0, 1.0)
    assert not shown
    with gs.progress():
        assert likelihood(0.0, 1.0) == value
    assert shown[0].what == "rows" and shown[0].done == shown[0].n == 1000
    likelihood.fit(progress=True)
    assert [one.what for one in shown[1:]] == ["steps, at most"]
    notes = {note for _, note in shown[1].states}
    assert "rows 500 of 1000" in notes


def test_fits(shown, rng):
    x = rng.gamma(2.0, size=(50, 40))
    fit = gs.gamma.fit(x, progress=True)
    assert fit.converged.all() and [(one.what, one.done) for one in shown] == [("data sets", 50)]
    assert (50, "") in shown[0].states and any("done 50 of 50" in note for _, note in shown[0].states)
    gs.gamma.fit(x[0], memory=200, progress=True)
    gs.Mixture(gs.normal, np.r_[x[0], x[1] + 9]).fit(2, progress=True, rng=1)
    assert {one.what for one in shown[1:]} == {"steps, at most"} and shown[2].done > 0


def test_searches_of_processes(shown, rng):
    x = np.linspace(0, 1, 20)
    ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.sin(6 * x) + 0.1 * rng.normal(size=20))
    fit = ml.fit({"amplitude": 1.0, "lengthscale": 0.3, "sigma": 0.1}, restarts=2, rng=1, progress=True)
    (own,) = shown
    assert own.what == "evaluations" and own.done > 5 and own.states[-1][1] == f"log-likelihood {fit.loglik:.6g}"
    emulator = gs.gp.Emulator(ml, **fit.values)
    calibration = gs.gp.Calibration(lambda points: points[:, 1] * points[:, 0], x, 2 * x, [(0, 3)], False)
    found = calibration.fit(candidates=10, searches=1, tolerance=0.1, rng=1, progress=True)
    calibration.sample(3, tune=2, walkers=6, start=found, rng=1, progress=True)
    assert [(one.what, one.n, one.stopped) for one in shown[1:]] == [("u searched", None, True), ("steps", 5, True)]
    assert shown[2].done == 5
    gs.gp.minimize(lambda x: (x.sum(), []), [(0, 1)], start=2, end=4, candidates=10, draws=8, rng=1, progress=True)
    assert shown[3].done == 4 and shown[3].states[-1][1].startswith("least ")
    assert emulator.n == 20


def test_comparisons(shown, rng):
    y = rng.normal(size=60)

    def refit(kept, left_out):
        return gs.Likelihood(gs.normal, y[left_out]), {"mu": y[kept].mean() + 0.1 * rng.normal(size=50), "sigma": 1.0}

    gs.kfold(refit, gs.folds(60, 3, rng=1), progress=True)
    with gs.progress():
        gs.waic(gs.Likelihood(gs.normal, y), {"mu": 0.1 * rng.normal(size=(1, 50)), "sigma": 1.0}, chunk=20)
    assert [(one.what, one.done) for one in shown] == [("folds", 3), ("rows", 60)]


def test_a_bar_of_fewer_items_than_expected_is_full_at_the_end(monkeypatch):
    shown = []

    class Noted(bars.Bar):
        def draw(self):
            shown.append((self.done, self.n))

    monkeypatch.setattr(bars, "_shown", Noted)
    with bars.bar(200, True, "steps, at most") as advance:
        advance(1)
        advance(2)
    assert shown == [(1, 200), (3, 200), (3, 3)]
    with pytest.raises(KeyboardInterrupt), bars.bar(200, True) as advance:
        advance(1)
        raise KeyboardInterrupt
    assert shown[-1] == (1, 200)
