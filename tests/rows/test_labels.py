"""Tables by labels, and coefficients by the names of columns, in models of rows and their fits."""

import pickle

import numpy as np
import pytest

import gpustats as gs

pd = pytest.importorskip("pandas")
RNG = np.random.default_rng(5)
TEAMS = np.array(["Ajax", "Bayern", "Celtic", "Dundee"])
GAME = """
// sigma: positive
real game(real goals, real x, real home, real away, real sigma) { return normal_logpdf(goals, x + home - away, sigma); }
"""


def data(home, away):
    return pd.DataFrame({"home": home, "away": away, "goals": RNG.normal(size=len(home)), "x": RNG.normal(size=len(home))})


def fitted(games, home, away, X):
    of_teams = {"home": gs.gather(home, of="team"), "away": gs.gather(away, of="team")}
    rows = gs.Rows(GAME, goals=games.goals, x=gs.dot(X, of="beta"), **of_teams)
    return rows, rows.fit(priors={"team": gs.normal(0.0, 1.0)})


def test_indices_of_a_table_share_their_labels():
    """Whichever labels each index has: they are those of numbers in the order of all labels."""
    games = data(TEAMS[RNG.integers(0, 3, 50)], TEAMS[RNG.integers(1, 4, 50)])
    rows, fit = fitted(games, games.home, games.away.astype("category"), games[["x"]])
    codes = [np.searchsorted(TEAMS, games[n]) for n in ("home", "away")]
    _, wanted = fitted(games, *codes, games[["x"]].to_numpy())
    assert {*fit.labels} == {"beta[x]", *(f"team[{t}]" for t in TEAMS), "sigma"}
    np.testing.assert_allclose(fit["team"], wanted["team"], rtol=1e-9)
    assert fit["team[Celtic]"] == fit["team"][2] and fit.wald("team[Ajax] = team[Dundee]").df == 1
    again = pickle.loads(pickle.dumps(rows)).fit(priors={"team": gs.normal(0.0, 1.0)})
    assert again.labels == fit.labels
    with pytest.raises(ValueError, match="team is gathered by labels and by numbers"):
        fitted(games, games.home, codes[1], games[["x"]])
    with pytest.raises(ValueError, match="an index of gather has no label in 1 row, first in row 0"):
        gs.gather(games.home.where(games.index > 0))


def test_tables_of_two_axes():
    games = data(TEAMS[[0, 1, 1, 2, 0]], RNG.integers(0, 2, 5))
    rows = gs.Rows(gs.normal, x=games.goals, mu=gs.gather(games.home.tolist(), games.away))
    fit = rows.fit(fixed={"sigma": 1.0}, priors={"mu": gs.normal(0.0, 1.0)})
    assert fit.labels == tuple(f"mu[{t}, {i}]" for t in TEAMS[:3] for i in range(2))
