"""Leave-one-out cross-validation and WAIC, against ArviZ with a table of log-likelihoods."""

import threading
import warnings
from unittest import mock

import elpd
import numpy as np
import pytest
from scipy import special, stats

import gpustats as gs
from gpustats.comparison import loo
from gpustats.comparison.smoothing import Tail, psis, turned
from gpustats.runtime import choose

N, C, D, G = 60, 2, 150, 7
GROWTH = "real growth(real y, real x, real a, real b, real sigma) { return normal_logpdf(y, a + b * x, sigma); }"


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the Pareto k|the variance of")
        yield


@pytest.fixture
def rng():
    return np.random.default_rng()


class Growth:
    """Hierarchical model with its draws and its table."""

    def __init__(self, rng, dtype=float):
        self.g, self.x = rng.integers(0, G, N), rng.normal(size=N).astype(dtype)
        self.g[:G] = np.arange(G)
        self.y = (0.3 * self.g + self.x / 2 + rng.standard_t(3, N)).astype(dtype)
        self.rows = gs.Rows(GROWTH, y=self.y, x=self.x, a=gs.gather(self.g))
        self.draws = {
            "a": 0.3 * np.arange(G) + 0.2 * rng.normal(size=(C, D, G)), "b": 0.5 + 0.1 * rng.normal(size=(C, D)),
            "sigma": 1 + rng.random((C, D)),
        }  # fmt: skip
        mu = self.draws["a"][..., self.g] + self.draws["b"][..., None] * self.x
        self.table = stats.norm.logpdf(self.y, mu, self.draws["sigma"][..., None])


def test_rows_are_compared_as_by_arviz(rng):
    """At once and in pieces, from arrays and from a tree, with the relative efficiency that follows from all draws."""
    model = Growth(rng)
    want = elpd.loo(model.draws, model.table)
    for given in ({}, {"chunk": 17}, {"memory": 100_000}):
        elpd.close(elpd.numbers(gs.loo(model.rows, model.draws, **given)), want)
    others = {**model.draws, "another": np.zeros((C, D, 3))}  # which counts for the efficiency, being constant: not a number
    elpd.close(elpd.numbers(gs.loo(model.rows, elpd.tree(model.draws))), want)
    found = gs.loo(model.rows, elpd.tree(others), r_eff=0.7)
    flat = {n: v.reshape(-1, *v.shape[2:]) for n, v in model.draws.items()}
    elpd.close(elpd.numbers(gs.loo(model.rows, flat, r_eff=0.7)), elpd.numbers(found), 1e-15)
    assert found.n_samples == C * D and found.n_data_points == N and "pareto" in repr(found).lower()


def test_arviz_takes_the_results(rng):
    """Its comparison of models, and its plot."""
    model = Growth(rng)
    best = gs.loo(model.rows, model.draws)
    worse = gs.loo(gs.Likelihood(gs.normal, model.y), {"mu": 9 + model.draws["b"], "sigma": 1.0})
    table = (elpd.arviz if elpd.OLD else elpd.arviz_stats).compare({"worse": worse, "best": best})
    assert list(table.index) == ["best", "worse"]
    pytest.importorskip("matplotlib").use("agg")
    if elpd.OLD:
        assert elpd.arviz.plot_khat(best).collections
    else:
        pytest.importorskip("arviz_plots").plot_khat(best)


def test_rows_in_files_are_read_in_pieces(rng, tmp_path):
    """Rows that lie in pieces already: of a memory map, which is never read as a whole but for groups that are strewn."""
    model = Growth(rng)
    np.save(tmp_path / "y.npy", model.y)
    y = np.load(tmp_path / "y.npy", mmap_mode="r")
    rows = gs.Rows(GROWTH, y=y, x=model.x, a=gs.gather(model.g), chunk=20)
    elpd.close(elpd.numbers(gs.loo(rows, model.draws, chunk=17)), elpd.loo(model.draws, model.table))
    want = elpd.numbers(gs.loo(model.rows, model.draws, groups=model.g))
    elpd.close(elpd.numbers(gs.loo(rows, model.draws, groups=model.g, chunk=17)), want)


def test_devices_share_the_rows(rng):
    """Each device takes its own rows, with numbers of the rows' own, and finds the bits of one device; a bad row is named."""
    y, devices = rng.normal(size=90), [choose.get().device.id] * 2
    draws = {"mu": rng.normal(size=(200, 90)) / 5, "sigma": np.exp(rng.normal(size=200) / 20)}
    for model in (lambda **o: gs.Rows(gs.normal, x=y, mu=gs.per_row(), **o), lambda **o: gs.Likelihood(gs.normal, y, **o)):
        threads = set()
        one, two = model(), model(devices=devices)
        with mock.patch.object(loo, "psis", lambda *a, own=threads: own.add(threading.get_ident()) or psis(*a)):
            found = elpd.numbers(gs.loo(two, draws, r_eff=1.0))
        assert len(threads) == 2 and np.array_equal(found.by_row, elpd.numbers(gs.loo(one, draws, r_eff=1.0)).by_row)
    y[70] = np.nan
    with pytest.raises(ValueError, match="the log-likelihood of row 70 is nan"):
        gs.loo(model(devices=devices), draws, r_eff=1.0)


def test_groups_are_left_out_together(rng):
    model = Growth(rng)
    labels = np.array(list("abcdefg"))[model.g]
    table = np.stack([model.table[..., model.g == i].sum(-1) for i in range(G)], -1)
    want = elpd.loo(model.draws, table)
    for chunk in (None, 13, 1):
        found = gs.loo(model.rows, model.draws, groups=labels, chunk=chunk)
        elpd.close(elpd.numbers(found), want)
    assert list(found.pareto_k.coords["group"].values) == list("abcdefg")


def test_rows_of_a_group_come_in_any_order(rng):
    """Groups that are none of the model's, numbers of the rows, and sequences, whose rows are gone through in that order."""
    sequences = [rng.normal(size=n) for n in rng.integers(1, 9, N)]
    text = """real drifting(const real *y, int n, real mu, real sigma) {
        real sum = 0;
        for (int t = 0; t < n; t++)
            sum += normal_logpdf(y[t], mu * (t + 1), sigma);
        return sum;
    }"""
    rows = gs.Rows(text, y=gs.sequences(sequences), mu=gs.per_row())
    mu, sigma = rng.normal(size=(C, D, N)) / 9, 1 + rng.random((C, D))
    means = [mu[..., i, None] * (np.arange(y.size) + 1) for i, y in enumerate(sequences)]
    terms = [stats.norm.logpdf(y, mean, sigma[..., None]) for y, mean in zip(sequences, means, strict=True)]
    table = np.stack([term.sum(-1) for term in terms], -1)
    draws = {"mu": mu, "sigma": sigma}
    by = rng.integers(0, 5, N)
    elpd.close(elpd.numbers(gs.loo(rows, draws, chunk=25)), elpd.loo(draws, table))
    sums = np.stack([table[..., by == i].sum(-1) for i in np.unique(by)], -1)
    elpd.close(elpd.numbers(gs.loo(rows, draws, groups=by, chunk=25)), elpd.loo(draws, sums))


@pytest.mark.parametrize("named", [False, True])
def test_regressions(rng, named):
    model, X = Growth(rng), rng.normal(size=(N, 2))
    groups = {"a": model.g} if named else model.g
    glm = gs.GLM(gs.normal, model.y, X, eta="mu", groups=groups)
    beta, a, sigma = rng.normal(size=(C, D, 2)) / 5, model.draws["a"], model.draws["sigma"]
    draws = {"beta": beta, "a" if named else "alpha": a, "sigma": sigma}
    table = stats.norm.logpdf(model.y, beta @ X.T + a[..., model.g], sigma[..., None])
    for chunk in (None, 17):
        elpd.close(elpd.numbers(gs.loo(glm, draws, chunk=chunk)), elpd.loo(draws, table))


def test_regression_of_outcomes(rng):
    X, y = rng.normal(size=(N, 2)), rng.integers(0, 3, N)
    glm = gs.GLM(gs.categorical_logit, y, X)
    draws = {"beta": rng.normal(size=(C, D, 2, 3)), "alpha": rng.normal(size=(C, D, 3))}
    logits = np.einsum("nk,cdkj->cdnj", X, draws["beta"]) + draws["alpha"][..., None, :]
    table = special.log_softmax(logits, -1)[..., np.arange(N), y]
    elpd.close(elpd.numbers(gs.loo(glm, draws)), elpd.loo(draws, table))


def test_likelihoods(rng):
    """Numbers of all draws, parameters of each row, one that is the same for all draws, and vectors."""
    y = rng.normal(size=N)
    mu, sigma = rng.normal(size=(C, D)) / 9, 1 + rng.random((C, D, N))
    table = stats.norm.logpdf(y, mu[..., None], sigma)
    draws = {"mu": mu, "sigma": sigma}
    found = gs.loo(gs.Likelihood(gs.normal, y), draws, chunk=25)
    elpd.close(elpd.numbers(found), elpd.loo(draws, table))
    found = gs.loo(gs.Likelihood(gs.normal, y), {"mu": mu, "sigma": 1.5})
    elpd.close(elpd.numbers(found), elpd.loo({"mu": mu}, stats.norm.logpdf(y, mu[..., None], 1.5)))
    y, mu, cov = rng.normal(size=(N, 2)), rng.normal(size=(C, D, 2)) / 9, np.array([[1.0, 0.3], [0.3, 2.0]])
    table = stats.multivariate_normal.logpdf(y - mu[..., None, :], np.zeros(2), cov)
    found = gs.loo(gs.Likelihood(gs.mvnormal, y), {"mu": mu, "cov": np.broadcast_to(cov, (C, D, 2, 2))}, r_eff=0.8)
    elpd.close(elpd.numbers(found), elpd.loo({"mu": mu}, table, reff=0.8))


@pytest.mark.parametrize("vectors", [False, True])
def test_mixtures(rng, vectors):
    log_weights = np.log(rng.dirichlet([3, 2], size=(C, D)))
    if vectors:
        y, mu = rng.normal(size=(N, 2)), rng.normal(size=(C, D, 2, 2))
        terms, own = stats.norm.logpdf(y, mu[..., None, :]).sum(-1), {"cov": np.broadcast_to(np.eye(2), (C, D, 2, 2, 2))}
    else:
        y, mu = rng.normal(size=N), rng.normal(size=(C, D, 2))
        terms, own = stats.norm.logpdf(y, mu[..., None], 1.2), {"sigma": 1.2}
    table = special.logsumexp(log_weights[..., None] + terms, axis=-2)
    mixture = gs.Mixture(gs.mvnormal if vectors else gs.normal, y)
    found = gs.loo(mixture, {"log_weights": log_weights, "mu": mu, **own}, chunk=40, r_eff=1.2)
    elpd.close(elpd.numbers(found), elpd.loo({"mu": mu}, table, reff=1.2))


def test_waic(rng):
    model = Growth(rng)
    found = elpd.numbers(gs.waic(model.rows, model.draws, chunk=25))
    if elpd.OLD:
        with warnings.catch_warnings(action="ignore"):
            elpd.close(found, elpd.numbers(elpd.arviz.waic(elpd.tree(model.draws, model.table), pointwise=True)))
    table = model.table.reshape(-1, N)
    np.testing.assert_allclose(found.p, table.var(0).sum(), rtol=1e-11)
    np.testing.assert_allclose(found.by_row, special.logsumexp(table, 0) - np.log(C * D) - table.var(0), rtol=1e-11)


def test_float32(rng):
    """Terms in float32, whose smoothing is in float64."""
    model = Growth(rng, np.float32)
    found = elpd.numbers(gs.loo(model.rows, model.draws))
    want = elpd.loo(model.draws, model.table)
    elpd.close(found._replace(pareto_k=None, p=None), want, 3e-5)
    np.testing.assert_allclose(found.pareto_k, want.pareto_k, atol=0.02)


def smoothed(table, r_eff=1.0):
    """Log density without each row, and Pareto k, of a table (draws, N)."""
    runtime, table = choose.get(), np.ascontiguousarray(table)
    array = table if runtime.host_visible else runtime.to_device(table)
    terms = turned(runtime, *runtime.memory(array), *table.shape, table.dtype)
    return psis(terms, Tail.of(len(table), r_eff, elpd.OLD))


@pytest.mark.parametrize("n_draws, r_eff", [(3000, 1.0), (3000, 0.02), (700, 1.9), (40, 0.5)])
def test_nasty_rows(rng, n_draws, r_eff):
    """Tails from light to as heavy as there are, of any scale, and one far draw."""
    table = np.concatenate(
        [-np.abs(rng.standard_t(df, (n_draws, 4))) * scale for df in (1, 3, 50) for scale in (1e-8, 1e-3, 1, 30)], axis=1
    )  # fmt: skip
    table[:, 0] = rng.normal(size=n_draws)
    table[0, 0] = -600
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        if elpd.OLD:
            log_weights, k = elpd.arviz.psislw(-table.T, r_eff)
        else:
            log_weights, k = elpd.arviz_stats.base.array_stats.psislw(table.T, r_eff=r_eff)
    found, fits = smoothed(table, r_eff), ~np.isnan(log_weights).any(1)  # else ArviZ has nan, and here nothing is smoothed
    known = np.isfinite(k) & fits
    np.testing.assert_allclose(found[known, 1], k[known], rtol=1e-7, atol=1e-7)  # k itself is known to so many digits
    assert (np.isfinite(found[:, 1]) == known).all()
    want = np.where(fits, special.logsumexp(log_weights + table.T, axis=1), special.logsumexp(-table, axis=0))
    want[~fits] = np.log(n_draws) - want[~fits]
    np.testing.assert_allclose(found[:, 0], want, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found[:, 2], special.logsumexp(table, axis=0) - np.log(n_draws), rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(not elpd.OLD, reason="ArviZ 1 raises errors for rows without a tail")
@pytest.mark.parametrize("n_draws", [2, 3, 8, 19, 26, 1000])
def test_few_draws_and_ties(rng, n_draws):
    """Constant ratios, of which none is smoothed, and equal ones, as rejected proposals leave them."""
    table = rng.normal(size=(n_draws, 5))
    table[:, 1] = -1.5
    table[:, 2] = np.round(table[:, 2])
    table[:, 3] = np.repeat(table[: -(-n_draws // 5), 3], 5)[:n_draws]
    table[:, 4] = np.where(np.arange(n_draws) < n_draws // 2, 0.0, -1e-300)
    with warnings.catch_warnings(action="ignore"):
        log_weights, k = elpd.arviz.psislw(-table.T, 1.0)
    found = smoothed(table)
    np.testing.assert_allclose(found[:, 1], k, rtol=1e-9)
    np.testing.assert_allclose(found[:, 0], special.logsumexp(log_weights + table.T, axis=1), rtol=1e-10, atol=1e-12)


def test_one_row_and_none(rng):
    y = rng.normal(size=1)
    draws = {"mu": rng.normal(size=(C, D)), "sigma": 1.0}
    found = elpd.numbers(gs.loo(gs.Likelihood(gs.normal, y), draws))
    assert found.by_row.shape == (1,) and np.isfinite(found.elpd)
    found = elpd.numbers(gs.loo(gs.Rows(gs.normal, x=np.empty(0)), draws))
    assert found.elpd == 0 and found.by_row.shape == (0,)


def test_warnings_say_how_many(rng):
    model = gs.Likelihood(gs.normal, np.array([0.0, 0.1, 40.0]))
    draws = {"mu": rng.normal(size=(C, D)) / 9, "sigma": 1.0}
    with pytest.warns(UserWarning, match=r"the Pareto k of 1 of 3 rows is greater than 0\.\d\d"):
        assert gs.loo(model, draws).warning
    with pytest.warns(UserWarning, match=r"the variance of the log density of 1 rows"):
        assert gs.waic(model, draws).warning


def changed(name, change):
    return lambda draws: {**draws, name: change(draws[name])}


def spoilt(draws):
    draws["sigma"][1, 3] = 0.0
    return draws


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda d: {"a": d["a"]}, r"draws has no 'b': the model takes a, b, sigma, and there are a"),
        (lambda d: {**d, "c": 1.0}, r"draws has 'c', and the model's parameters are a, b, sigma"),
        (changed("a", lambda v: v[..., :3]), r"a has shape .* axis 0 of the table must have 7 elements"),
        (changed("b", lambda v: v[:, :3]), r"b has shape \(2, 3\); all must begin with the same axes"),
        (changed("b", lambda v: v[..., None]), r"b has shape \(2, 150, 1\); all must begin with the same axes"),
        (changed("a", lambda v: v[0, 0, 0]), r"a has shape \(\), and a value of it has 1 axes"),
        (lambda d: {n: v[0, 0] for n, v in d.items()}, r"no parameter has an axis of draws"),
        (lambda d: {n: v[:1, :1] for n, v in d.items()}, r"draws has 1 of them, and 2 is the least number"),
        (changed("b", lambda v: np.where(np.arange(D) == 3, np.nan, v)), r"b is nan at draw 3 of chain 0"),
        (spoilt, r"the log-likelihood of row 0 is nan or infinite at draw 3 of chain 1; so are 59 more"),
    ],
)  # fmt: skip
def test_draws_that_do_not_fit(rng, change, message):
    model = Growth(rng)
    with pytest.raises(ValueError, match=message):
        gs.loo(model.rows, change(model.draws), r_eff=1.0)


def test_other_bad_input(rng):
    model = Growth(rng)
    with pytest.raises(ValueError, match=r"the log-likelihood of the rows of group 3 is nan or infinite at draw 3 of chain 1"):
        table = spoilt(model.draws)
        rows = gs.Rows(GROWTH.replace("sigma)", "sigma)", 1), y=model.y, x=model.x, a=gs.gather(model.g))
        gs.loo(rows, table, groups=np.full(N, 3), r_eff=1.0)
    with pytest.raises(ValueError, match=r"groups has shape \(3,\), and must have one for each of the 60 rows"):
        gs.loo(model.rows, model.draws, groups=[1, 2, 3], r_eff=1.0)
    with pytest.raises(ValueError, match="groups has no label in 30 rows, first in row 0"):
        gs.loo(model.rows, model.draws, groups=np.where(np.arange(N) % 2 == 0, np.nan, 1.0), r_eff=1.0)
    with pytest.raises(ValueError, match="r_eff must be a positive number, not 0"):
        gs.loo(model.rows, model.draws, r_eff=0)
    with pytest.raises(ValueError, match=r"shape \(9, 5\), which may be \(chain, draw\), or \(draw, row\) for the 5 rows"):
        gs.loo(gs.Likelihood(gs.normal, np.zeros(5)), {"mu": np.zeros((9, 5)), "sigma": np.ones((9, 5))})
    with pytest.raises(ValueError, match="the relative efficiency of the draws is nan"):
        gs.loo(model.rows, {**model.draws, "b": np.full((C, 2), 0.0), "a": np.zeros((C, 2, G)), "sigma": np.ones((C, 2))})
    with pytest.raises(ValueError, match="chunk must be a positive number of rows, not 0"):
        gs.loo(model.rows, model.draws, chunk=0, r_eff=1.0)
    with pytest.raises(TypeError, match="draws must be a dict of arrays or an ArviZ tree with a posterior group, not list"):
        gs.loo(model.rows, [model.draws])
    with pytest.raises(TypeError, match="the model must be a Rows, a GLM, a Likelihood or a Mixture, not function"):
        gs.loo(smoothed, model.draws)
    with pytest.raises(ValueError, match="has no data, whose rows could be left out"):
        gs.loo(gs.Rows("real f(real a) { return a; }", a=gs.per_row()), {"a": np.zeros((9, 3))})
    with pytest.raises(ValueError, match=r"only observations along one axis are rows"):
        gs.loo(gs.Likelihood(gs.normal, np.zeros((3, 2))), {"mu": np.zeros(9), "sigma": 1.0})


def test_memory_is_bounded(rng):
    """No piece has more rows than the memory given allows, and the numbers do not depend on it."""
    from gpustats.comparison.draws import read_draws
    from gpustats.comparison.sources import source_of
    from gpustats.parallel.pieces import Options

    model = Growth(rng)
    source = source_of(model.rows)
    draws = read_draws(model.draws, source.names)
    pieces = [(len(rows), terms.nbytes) for rows, terms, _ in source.pieces(draws, Options(memory=200_000))]
    assert sum(n for n, _ in pieces) == N and len(pieces) > 1
    assert max(2 * nbytes for _, nbytes in pieces) <= 200_000


def test_labels_are_no_parameters():
    """Draws by the labels of a fit are told by which names they are wanted."""
    rng = np.random.default_rng(0)
    data = {"died": rng.integers(0, 2, 50).astype(float), "age": rng.normal(size=50)}
    glm = gs.GLM.from_formula("died ~ age", data, gs.bernoulli_logit)
    draws = {label: rng.normal(size=(2, 20)) for label in ("age", "Intercept")}
    with pytest.raises(ValueError, match="'age', and the model's parameters are beta, alpha: beta has the coefficients"):
        gs.loo(glm, draws)
