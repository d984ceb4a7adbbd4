"""`python -m bench.sequences`: log-likelihoods of sequences, with their gradients, beside scans of JAX and PyTensor.

The function of a sequence is one of `gpustats.series`. JAX goes through many sequences at once in `jax.lax.scan`, and so does
PyTensor in `pytensor.scan`, on a CPU; both differentiate the scan by themselves, and compile value and gradient together. One
long series is a Kalman filter by `jax.lax.associative_scan` on a GPU (Särkkä & García-Fernández, 2021, Temporal parallelization
of Bayesian smoothers), since a scan takes some 10 µs for each step there; statsmodels has it on a CPU. hmmlearn has the values
of hidden Markov models on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

import gpustats as gs

from .peers import HALF_LOG_2PI, JAX, GPUStats, Peer
from .report import DIFFERENCE, RATIO, TIMES, TIMES_NOTE, Report, Row, Table, attempt, difference, options, size

NOTE = TIMES_NOTE + """\
gpustats takes parameters from the host and returns value and gradient there. difference: of the value, relative to it, and of
each derivative, relative to the largest, from those of gpustats; statsmodels has only those in standard deviations, hmmlearn
none.
"""
COLUMNS = TIMES | RATIO | DIFFERENCE

Numbers = dict[str, Any]  # by name
#: Where a scan begins, and a step: (state, numbers of all sequences at one time) -> the next state, the terms.
Scan = tuple[list[Any], Callable[[list[Any], list[Any]], tuple[list[Any], Any]]]


@dataclass(frozen=True)
class Case:
    """Model of `gpustats.series`, written as a scan, too.

    Attributes
    ----------
    title : str
    model : str
        Name in `gpustats.series`, or the text of a row function.
    simulate : callable
        ``simulate(rng, n, length)`` gives the sequences, (n, length) by name.
    parameters : dict
    scan : callable
        ``scan(xp, zeros, **parameters)`` with a library whose functions `xp` has by the same names; `zeros` is (n,).
    in_parallel : callable, optional
        ``in_parallel(jax, y, **parameters)``, log-likelihood of one long series y, (length,), parallel in time: then the case
        is of one series.
    chain : callable, optional
        ``chain(**parameters)``, of a hidden Markov chain of normal numbers: probabilities of the first state and of moves,
        means and standard deviations.
    """

    title: str
    model: str
    simulate: Callable[[np.random.Generator, int, int], dict[str, np.ndarray]]
    parameters: dict[str, float]
    scan: Callable[..., Scan]
    in_parallel: Callable[..., Any] | None = None
    chain: Callable[..., tuple[Any, ...]] | None = None


def trials(rng: np.random.Generator, n: int, length: int) -> dict[str, np.ndarray]:
    return {"choice": rng.integers(0, 2, (n, length)).astype(float), "reward": rng.random((n, length))}


def returns(rng: np.random.Generator, n: int, length: int) -> dict[str, np.ndarray]:
    return {"y": rng.standard_t(6.0, (n, length))}


def signals(rng: np.random.Generator, n: int, length: int) -> dict[str, np.ndarray]:
    return {"y": rng.normal(size=(n, length)) + 2 * (rng.random((n, length)) < 0.3)}


def rescorla_wagner(xp: Any, zeros: Any, alpha: Any, beta: Any) -> Scan:
    def step(state: list[Any], now: list[Any]) -> tuple[list[Any], Any]:
        (v,), (choice, reward) = state, now
        eta = beta * v
        return [v + alpha * (reward - v)], choice * eta - xp.softplus(eta)

    return [zeros], step


def garch(xp: Any, zeros: Any, mu: Any, omega: Any, alpha: Any, beta: Any, variance: Any) -> Scan:
    def step(state: list[Any], now: list[Any]) -> tuple[list[Any], Any]:
        (h,), (y,) = state, now
        square = (y - mu) ** 2
        return [omega + alpha * square + beta * h], -0.5 * (xp.log(h) + square / h) - HALF_LOG_2PI

    return [zeros + variance], step


def hidden_markov(
    xp: Any, zeros: Any, initial: Any, p_01: Any, p_10: Any, mu_0: Any, mu_1: Any, sigma_0: Any, sigma_1: Any
) -> Scan:
    def step(state: list[Any], now: list[Any]) -> tuple[list[Any], Any]:
        (w_0, w_1), (y,) = state, now
        z_0, z_1 = (y - mu_0) / sigma_0, (y - mu_1) / sigma_1
        d_0, d_1 = -0.5 * z_0 * z_0 - xp.log(sigma_0), -0.5 * z_1 * z_1 - xp.log(sigma_1)
        top = xp.maximum(d_0, d_1)
        w_0, w_1 = w_0 * xp.exp(d_0 - top), w_1 * xp.exp(d_1 - top)
        total = w_0 + w_1
        w_0, w_1 = w_0 / total, w_1 / total
        return [w_0 * (1 - p_01) + w_1 * p_10, w_0 * p_01 + w_1 * (1 - p_10)], top + xp.log(total) - HALF_LOG_2PI

    return [zeros + 1 - initial, zeros + initial], step


def walk(rng: np.random.Generator, n: int, length: int) -> dict[str, np.ndarray]:
    return {"y": 0.3 * rng.normal(size=(n, length)).cumsum(1) + rng.normal(size=(n, length))}


def local_level(xp: Any, zeros: Any, sigma: Any, sigma_level: Any, level: Any, level_sd: Any) -> Scan:
    def step(state: list[Any], now: list[Any]) -> tuple[list[Any], Any]:
        (mean, variance), (y,) = state, now
        d, f = y - mean, variance + sigma**2
        after = [mean + d * variance / f, variance * sigma**2 / f + sigma_level**2]
        return after, -0.5 * (xp.log(f) + d * d / f) - HALF_LOG_2PI

    return [zeros + level, zeros + level_sd**2], step


def local_level_in_parallel(jax: Any, y: Any, sigma: Any, sigma_level: Any, level: Any, level_sd: Any) -> Any:
    jnp, r, q = jax.numpy, sigma**2, sigma_level**2

    def combine(i: Any, j: Any) -> Any:
        (a_i, b_i, c_i, e_i, j_i), (a_j, b_j, c_j, e_j, j_j) = i, j
        share = 1 / (1 + c_i * j_j)
        return (
            a_j * a_i * share, a_j * (b_i + c_i * e_j) * share + b_j, a_j**2 * c_i * share + c_j,
            a_i * (e_j - j_j * b_i) * share + e_i, a_i**2 * j_j * share + j_i,
        )  # fmt: skip

    first = jnp.arange(y.size) == 0
    prior = jnp.where(first, level_sd**2, q)
    gain = prior / (prior + r)
    a = jnp.where(first, 0, 1 - gain)
    b = jnp.where(first, level + gain * (y - level), gain * y)
    e, j = jnp.where(first, 0, y / (q + r)), jnp.where(first, 0, 1 / (q + r))
    _, means, variances, _, _ = jax.lax.associative_scan(combine, (a, b, prior * (1 - gain), e, j))
    mean = jnp.concatenate([jnp.array([level]), means[:-1]])
    f = jnp.concatenate([jnp.array([level_sd**2]), variances[:-1] + q]) + r
    return (-0.5 * (jnp.log(f) + (y - mean) ** 2 / f) - HALF_LOG_2PI).sum()


STATES = 4
MOVES = [f"p_{i}_{j}" for i in range(STATES) for j in range(STATES - 1)]  # probabilities; the last one is what is left
HIDDEN_4 = {f"mu_{i}": float(m) for i, m in enumerate(np.linspace(-2, 2, STATES))} | {"sigma": 1.1}
HIDDEN_4 |= {name: 0.15 + 0.05 * (k % 3) for k, name in enumerate(MOVES)}
HIDDEN_MARKOV_4 = f"""
__device__ real hidden_markov_4(const real *y, int n, {", ".join(f"real {name}" for name in HIDDEN_4)})
{{
    real mu[4] = {{{", ".join(f"mu_{i}" for i in range(STATES))}}}, state[4] = {{0.25, 0.25, 0.25, 0.25}}, joint[4], move[4][4];
    real loglik = 0, inverse = 1 / sigma;
    {" ".join(
        f"move[{i}][{j}] = {f'p_{i}_{j}' if j < STATES - 1 else ' - '.join(['1', *(f'p_{i}_{k}' for k in range(STATES - 1))])};"
        for i in range(STATES) for j in range(STATES)
    )}
    for (int t = 0; t < n; t++) {{
        real total = 0;
        for (int i = 0; i < 4; i++) {{
            real z = (y[t] - mu[i]) * inverse;
            joint[i] = state[i] * exp(-0.5 * z * z);
            total += joint[i];
        }}
        loglik += log(total * inverse) - HALF_LOG_2PI;
        real scale = 1 / total;
        for (int j = 0; j < 4; j++) {{
            real sum = 0;
            for (int i = 0; i < 4; i++)
                sum += joint[i] * move[i][j];
            state[j] = sum * scale;
        }}
    }}
    return loglik;
}}"""


def hidden_markov_4(xp: Any, zeros: Any, sigma: Any, **parameters: Any) -> Scan:
    move = [[parameters[f"p_{i}_{j}"] for j in range(STATES - 1)] for i in range(STATES)]
    move = [[*its, 1 - sum(its)] for its in move]
    inverse = 1 / sigma

    def step(state: list[Any], now: list[Any]) -> tuple[list[Any], Any]:
        (y,) = now
        scaled = [(y - parameters[f"mu_{i}"]) * inverse for i in range(STATES)]
        joint = [w * xp.exp(-0.5 * z * z) for w, z in zip(state, scaled, strict=True)]
        total = sum(joint)
        after = [sum(w * its[j] for w, its in zip(joint, move, strict=True)) / total for j in range(STATES)]
        return after, xp.log(total * inverse) - HALF_LOG_2PI

    return [zeros + 1 / STATES] * STATES, step


def chain_of_2(
    initial: float, p_01: float, p_10: float, mu_0: float, mu_1: float, sigma_0: float, sigma_1: float
) -> tuple[Any, ...]:
    return [1 - initial, initial], [[1 - p_01, p_01], [p_10, 1 - p_10]], [mu_0, mu_1], [sigma_0, sigma_1]


def chain_of_4(sigma: float, **parameters: float) -> tuple[Any, ...]:
    move = [[parameters[f"p_{i}_{j}"] for j in range(STATES - 1)] for i in range(STATES)]
    means = [parameters[f"mu_{i}"] for i in range(STATES)]
    return [1 / STATES] * STATES, [[*its, 1 - sum(its)] for its in move], means, [sigma] * STATES


HIDDEN = {"initial": 0.3, "p_01": 0.1, "p_10": 0.2, "mu_0": 0.1, "mu_1": 1.8, "sigma_0": 0.9, "sigma_1": 1.1}
CASES = [
    Case("Rescorla-Wagner", "rescorla_wagner", trials, {"alpha": 0.3, "beta": 2.0}, rescorla_wagner),
    Case("hidden Markov, 2 states", "hidden_markov", signals, HIDDEN, hidden_markov, chain=chain_of_2),
    Case("hidden Markov, 4 states", HIDDEN_MARKOV_4, signals, HIDDEN_4, hidden_markov_4, chain=chain_of_4),
    Case(
        "GARCH", "garch", returns, {"mu": 0.05, "omega": 0.1, "alpha": 0.1, "beta": 0.8, "variance": 1.0}, garch
    ),
    Case(
        "local level", "local_level", walk, {"sigma": 0.9, "sigma_level": 0.3, "level": 0.1, "level_sd": 2.0}, local_level,
        local_level_in_parallel,
    ),
]  # fmt: skip


# -- Each library as a good user of it writes the work: (peer, case, data) -> a function that starts it, which returns the value
# -- and the derivatives in the order of the parameters.


def with_gpustats(peer: GPUStats, case: Case, data: dict[str, np.ndarray]) -> Callable[[], tuple[Any, ...]]:
    model = gs.series[case.model] if case.model in gs.series else case.model
    rows = gs.Rows(model, **{name: gs.sequences(numbers) for name, numbers in data.items()})

    def call() -> tuple[Any, ...]:
        value, gradient = rows.value_and_grad(**case.parameters)
        return value, *gradient.values()

    return call


def with_jax(peer: JAX, case: Case, data: dict[str, np.ndarray]) -> Callable[[], tuple[Any, ...]]:
    jax, jnp = peer.jax, peer.jax.numpy
    xp = SimpleNamespace(exp=jnp.exp, log=jnp.log, maximum=jnp.maximum, softplus=jax.nn.softplus)
    by_time = [peer.put(np.ascontiguousarray(numbers.T)) for numbers in data.values()]
    parameters = {name: peer.put(value) for name, value in case.parameters.items()}

    def log_likelihood(parameters: Numbers, by_time: list[Any]) -> Any:
        if case.in_parallel and peer.gpu:
            return case.in_parallel(jax, by_time[0][:, 0], **parameters)
        start, step = case.scan(xp, jnp.zeros(by_time[0].shape[1]), **parameters)
        return jax.lax.scan(step, start, by_time)[1].sum()

    work = jax.jit(jax.value_and_grad(log_likelihood))

    def call() -> tuple[Any, ...]:
        value, gradient = work(parameters, by_time)
        return value, *(gradient[name] for name in parameters)

    return call


class PyTensor(Peer):
    """Peer for PyTensor's scan, compiled as it does by default."""

    name = "PyTensor"
    asynchronous = False

    def __init__(self, gpu: bool):
        import pytensor

        self.pytensor = pytensor


def with_pytensor(peer: PyTensor, case: Case, data: dict[str, np.ndarray]) -> Callable[[], tuple[Any, ...]]:
    pytensor, pt = peer.pytensor, peer.pytensor.tensor
    xp = SimpleNamespace(exp=pt.exp, log=pt.log, maximum=pt.maximum, softplus=pt.softplus)
    by_time = [pytensor.shared(np.ascontiguousarray(numbers.T)) for numbers in data.values()]
    parameters = {name: pt.dscalar(name) for name in case.parameters}
    start, step = case.scan(xp, 0 * by_time[0][0], **parameters)

    def flat(*given: Any) -> list[Any]:
        now, state = list(given[: len(by_time)]), list(given[len(by_time) : len(by_time) + len(start)])
        after, terms = step(state, now)
        return [*after, terms]

    found = pytensor.scan(
        flat, sequences=by_time, outputs_info=[*start, None], non_sequences=list(parameters.values()), strict=True,
        return_updates=False,
    )  # fmt: skip
    value = found[-1].sum()
    work = pytensor.function(list(parameters.values()), [value, *pytensor.grad(value, list(parameters.values()))])
    work.trust_input = True
    given = [np.asarray(v, float) for v in case.parameters.values()]
    return lambda: tuple(work(*given))


class StatsModels(Peer):
    """Peer for statsmodels' Kalman filter; derivatives by complex steps."""

    name = "statsmodels"
    asynchronous = False

    def __init__(self, gpu: bool):
        from statsmodels.tsa.statespace import structural

        self.structural = structural


def with_statsmodels(peer: StatsModels, case: Case, data: dict[str, np.ndarray]) -> Callable[[], tuple[Any, ...]]:
    at = case.parameters
    model = peer.structural.UnobservedComponents(data["y"][0], "local level", loglikelihood_burn=0)
    model.ssm.initialize_known(np.array([at["level"]]), np.array([[at["level_sd"] ** 2]]))
    sd = np.array([at["sigma"], at["sigma_level"]])

    def call() -> tuple[Any, ...]:
        slopes = model.score(sd**2, method="approx", approx_complex_step=True) * 2 * sd
        return model.loglike(sd**2), *slopes, np.nan, np.nan

    return call


class HMMLearn(Peer):
    """Peer for hmmlearn's forward algorithm, which is C++."""

    name = "hmmlearn, value alone"
    asynchronous = False

    def __init__(self, gpu: bool):
        from hmmlearn import hmm

        self.hmm = hmm


def with_hmmlearn(peer: HMMLearn, case: Case, data: dict[str, np.ndarray]) -> Callable[[], tuple[Any, ...]]:
    assert case.chain is not None
    start, move, means, sd = case.chain(**case.parameters)
    model = peer.hmm.GaussianHMM(len(start), "diag", implementation="scaling")
    model.startprob_, model.transmat_ = np.array(start), np.array(move)
    model.means_, model.covars_ = np.array(means)[:, None], np.square(sd)[:, None]
    (y,) = data.values()
    column, lengths = y.reshape(-1, 1), np.full(len(y), y.shape[1])
    return lambda: (model.score(column, lengths), *[np.nan] * len(case.parameters))


BINDS: dict[type[Peer], Callable[..., Callable[[], tuple[Any, ...]]]] = {
    GPUStats: with_gpustats, JAX: with_jax, PyTensor: with_pytensor, StatsModels: with_statsmodels,
    HMMLearn: with_hmmlearn,
}  # fmt: skip


def rows(report: Report, case: Case, peers: list[Peer], n: int, length: int) -> list[Row]:
    """Rows of a case: one for each library."""
    data = case.simulate(np.random.default_rng(15), n, length)
    expected = np.array(with_gpustats(GPUStats(report.gpu), case, data)())

    def measured(peer: Peer) -> Row:
        call = BINDS[type(peer)](peer, case, data)
        found = np.array([np.asarray(number, float) for number in call()])
        known = ~np.isnan(found) | isinstance(peer, GPUStats | JAX | PyTensor)
        return {"difference": difference(found[known], expected[known])} | report.measure(call, peer)

    made = []
    for peer in peers:
        if isinstance(peer, StatsModels) and case.model != "local_level" or isinstance(peer, HMMLearn) and not case.chain:
            continue
        row = {"work": f"{case.title}, {n:,} × {length:,}", "peer": peer.name, "time": "waited_us", "n": n, "length": length}
        made.append(attempt(row, measured, peer))
    return made


def main(argv: list[str] | None = None) -> int:
    parser = options("sequences", __doc__)
    parser.add_argument("--n", type=size, help="number of sequences (default: 100,000, on a CPU 1,000)")
    parser.add_argument("--length", type=size, help="of each (default: 100)")
    parser.add_argument("--long", type=size, help="length of one long series (default: 10,000,000, on a CPU 100,000)")
    args = parser.parse_args(argv)
    report = Report(args)
    n = report.default(args.n, gpu=100_000, cpu=1_000, quick=50)
    length = report.default(args.length, gpu=100, cpu=100, quick=20)
    long = report.default(args.long, gpu=10_000_000, cpu=100_000, quick=500)
    peers = report.peers(BINDS, cpu_only=[PyTensor, StatsModels, HMMLearn])
    for case in report.wanted(CASES):
        report.rows += rows(report, case, peers, *((1, long) if case.in_parallel else (n, length)))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
