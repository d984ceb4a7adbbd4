"""Hidden Markov models of any number of states: sums over all paths of states, and the forward algorithm in NumPy."""

import itertools
import time

import numpy as np
import pytest
from scipy import special, stats

import gpustats as gs

RNG = np.random.default_rng(11)


def moves(k, log_odds):
    """Matrix of the probabilities to go from state to state."""
    odds = np.zeros((k, k), np.result_type(log_odds))
    odds[~np.eye(k, dtype=bool)] = log_odds
    e = np.exp(odds)
    return e / e.sum(1, keepdims=True)


def forward(y, k, log_density, log_odds):
    """Log-likelihood, also of complex numbers; `log_density` gives those of the states."""
    state, total, move = np.full(k, 1 / k), 0, moves(k, log_odds)
    for v in y:
        if not np.isnan(v):
            state = state * np.exp(log_density(v))
            total += np.log(state.sum())
            state = state / state.sum()
        state = state @ move
    return total


def test_all_paths():
    y, log_odds, mu = RNG.normal(size=5), RNG.normal(size=6), np.array([-1.0, 0.2, 1.5])
    move, total = moves(3, log_odds), 0.0
    for path in itertools.product(range(3), repeat=5):
        total += np.exp(stats.norm.logpdf(y, mu[list(path)], 0.7).sum()) / 3 * move[list(path[:-1]), list(path[1:])].prod()
    rows = gs.Rows(gs.hidden_markov(3, gs.normal, shared=["sigma"]), y=gs.sequences([y]))
    np.testing.assert_allclose(rows(*mu, 0.7, *log_odds), np.log(total), rtol=1e-12)


@pytest.mark.parametrize("k", [2, 4, 6])
def test_normal_numbers(k):
    """From 12 derivatives on, the loop goes back through the sequence."""
    y = [RNG.normal(size=n) * 2 for n in (1, 7, 40, 2)]
    y[2][[0, 5, 6]] = np.nan
    mu, sigma, log_odds = np.linspace(-2, 2, k), RNG.uniform(0.5, 1.5, k), RNG.normal(size=k * (k - 1)) - 1

    def total(numbers):
        m, s, odds = numbers[:k], numbers[k : 2 * k], numbers[2 * k :]
        return sum(forward(v, k, lambda x: -0.5 * ((x - m) / s) ** 2 - np.log(s) - 0.5 * np.log(2 * np.pi), odds) for v in y)

    rows, at = gs.Rows(gs.hidden_markov(k, gs.normal), y=gs.sequences(y, missing=True)), np.concatenate([mu, sigma, log_odds])
    value, gradient = rows.value_and_grad(*at)
    np.testing.assert_allclose(value, total(at), rtol=1e-12)
    exact = [total(at + 1e-30j * np.eye(at.size)[i]).imag / 1e-30 for i in range(at.size)]
    np.testing.assert_allclose(list(gradient.values()), exact, rtol=1e-10, atol=1e-11)
    assert list(gradient)[:k] == [f"mu_{i}" for i in range(k)]


def test_counts_and_discrete_numbers():
    y = [RNG.poisson(3, n).astype(float) for n in (30, 4)]
    rates, log_odds = np.array([1.0, 6.0]), np.array([-2.0, -1.0])
    rows = gs.Rows(gs.hidden_markov(2, gs.poisson), y=gs.sequences(y))
    wanted = sum(forward(v, 2, lambda x: stats.poisson.logpmf(x, rates), log_odds) for v in y)
    np.testing.assert_allclose(rows(*rates, *log_odds), wanted, rtol=1e-12)
    y = [RNG.integers(0, 2, n).astype(float) for n in (30, 4)]
    eta = np.array([-1.0, 2.0])
    rows = gs.Rows(gs.hidden_markov(2, gs.bernoulli_logit), y=gs.sequences(y))
    wanted = sum(forward(v, 2, lambda x: np.log(special.expit(np.where(x, eta, -eta))), log_odds) for v in y)
    np.testing.assert_allclose(rows(*eta, *log_odds), wanted, rtol=1e-12)


def test_numbers_that_no_state_has_and_numbers_far_away():
    rows = gs.Rows(gs.hidden_markov(2, gs.exponential), y=gs.sequences([[1.0, -1.0, 1.0], [1.0, 2.0]]))
    found = rows.terms(*[1.0] * len(rows.parameters))
    assert np.isnan(rows(-1.0, *[1.0] * (len(rows.parameters) - 1)))
    assert found[0] == -np.inf and np.isfinite(found[1])
    far = gs.Rows(gs.hidden_markov(2, gs.normal, shared=["sigma"]), y=gs.sequences([[1e4, -1e4]]))
    value, gradient = far.value_and_grad(-1.0, 1.0, 1.0, 0.0, 0.0)
    np.testing.assert_allclose(value, stats.norm.logpdf([1e4, -1e4], [1, -1], 1).sum() + 2 * np.log(0.5), rtol=1e-12)
    assert np.isfinite(list(gradient.values())).all()


def test_single_precision_and_many_steps():
    y = RNG.normal(size=5000)
    at = -1.0, 1.0, 0.8, -2.0, -1.0
    text = gs.hidden_markov(2, gs.normal, shared=["sigma"])
    single = gs.Rows(text, y=gs.sequences([y.astype(np.float32)]))(*at)
    np.testing.assert_allclose(single, gs.Rows(text, y=gs.sequences([y]))(*at), rtol=1e-4)


def test_sixteen_states_compile():
    begun = time.perf_counter()
    rows = gs.Rows(gs.hidden_markov(16, gs.normal, shared=["sigma"]), y=gs.sequences([RNG.normal(size=20)]))
    at = np.concatenate([np.linspace(-3, 3, 16), [0.5], np.full(240, -2.0)])
    value, gradient = rows.value_and_grad(*at)
    mu = at[:16]
    wanted = forward(rows._bound.leaves["y"].numbers, 16, lambda x: stats.norm.logpdf(x, mu, 0.5), at[17:])
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    assert len(gradient) == 257 and time.perf_counter() - begun < 120


@pytest.mark.parametrize("make, message", [
    (lambda: gs.hidden_markov(1, gs.normal), "2 to 16 states"), (lambda: gs.hidden_markov(17, gs.normal), "2 to 16 states"),
    (lambda: gs.hidden_markov(2, gs.mvnormal), "density of vectors"),
    (lambda: gs.hidden_markov(2, gs.normal, shared=["scale"]), "the parameters of normal are mu, sigma"),
])  # fmt: skip
def test_mistakes(make, message):
    with pytest.raises(ValueError, match=message):
        make()
