"""Hidden Markov models as row functions: text of the forward algorithm for states of any density."""

from __future__ import annotations

from collections.abc import Collection

from ..density import Density
from ..kernels.template import Template
from ..rewriting.checks import inside

_HIDDEN_MARKOV = Template.beside(__file__, "hidden_markov")
MOST_STATES = 16


def hidden_markov(n_states: int, density: Density, *, shared: Collection[str] = ()) -> str:
    """Text of a row function: the log-likelihood of a sequence whose numbers come from hidden states of a Markov chain.

    The chain begins in each state with the same probability. Missing numbers, nan, are passed over.

    Parameters
    ----------
    n_states : int
        Number of states, K, of 2 to 16.
    density : Density
        Built-in or registered density of a number, given the state.
    shared : collection of str
        Parameters of the density that all states have in common.

    Returns
    -------
    str
        Function of the sequence ``y`` and of numbers: for each state i ``<parameter>_<i>`` of the density's own, then what is
        shared, and ``log_odds_<i>_<j>``, i unlike j, the log-odds of going from state i to state j rather than staying. Its
        outputs by step, see `gpustats.Rows.steps`, are ``path``, the states of the most likely path, and ``filtered_<i>`` and
        ``smoothed_<i>``, the probability of state i given the numbers so far and given all numbers. Of `gpustats.Rows.draws`
        they are ``drawn_state``, the states given all numbers, and ``simulated``, numbers from the model, for densities with a
        sampler of their own.

    Raises
    ------
    ValueError
        For fewer than 2 states or more than 16, a density of vectors, or names in `shared` that it does not have.

    References
    ----------
    Rabiner (1989), A tutorial on hidden Markov models and selected applications in speech recognition.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> rows = gs.Rows(gs.hidden_markov(2, gs.normal, shared=["sigma"]), y=gs.sequences([[-1.0, -1.2, 1.1], [0.9]]))
    >>> rows.parameters
    ('mu_0', 'mu_1', 'sigma', 'log_odds_0_1', 'log_odds_1_0')
    >>> round(rows(mu_0=-1.0, mu_1=1.0, sigma=0.5, log_odds_0_1=-2.0, log_odds_1_0=-2.0), 6)
    -4.661343
    >>> states = rows.steps(mu_0=-1.0, mu_1=1.0, sigma=0.5, log_odds_0_1=-2.0, log_odds_1_0=-2.0)
    >>> states["path"], states["smoothed_1"].round(3)
    (array([0., 0., 1., 1.]), array([0.   , 0.   , 0.999, 0.999]))
    """
    if not 2 <= n_states <= MOST_STATES:
        raise ValueError(f"n_states is {n_states}: a chain has 2 to {MOST_STATES} states")
    if any(a.rank for a in density.definition.arguments):
        raise ValueError(f"{density.name} is a density of vectors: the numbers of a state need one of numbers")
    if unknown := [p for p in shared if p not in density.parameters]:
        raise ValueError(f"shared has {unknown[0]!r}: the parameters of {density.name} are {', '.join(density.parameters)}")
    observation, *others = density.definition.arguments
    names = {p: [p] * n_states if p in shared else [f"{p}_{i}" for i in range(n_states)] for p in density.parameters}
    own = [name for p, its in names.items() if p not in shared for name in its]
    odds = [f"log_odds_{i}_{j}" for i in range(n_states) for j in range(n_states) if i != j]
    return _HIDDEN_MARKOV.text(
        name="hidden_chain", k=n_states, density=density.name, ending="logpmf" if density.discrete else "logpdf",
        of_state=list(zip(*names.values(), strict=True)), inside=inside(observation.words, "y[t]"),
        samples=density.definition.role("sample") is not None,
        domains={name: a.domain for a in others if a.domain != "real" for name in names[a.name]},
        parameters=[*own, *(p for p in density.parameters if p in shared), *odds],
    )  # fmt: skip
