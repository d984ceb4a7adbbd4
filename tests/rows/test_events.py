"""Patients with doses, infusions and observations at ragged times: loops over events, against SciPy, piece by piece."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gpustats as gs

PATIENT = """
__device__ real patient(const real *time, const real *dose, const real *change, const real *seen, int n, real CL, real V,
                        real Q2, real V2, real ka, real sigma)
{
    real y[3] = {0, 0, 0}, infusion = 0, before = 0, loglik = 0;
    for (int i = 0; i < n; i++) {
        drug_advance(before, time[i], y, infusion, CL, V, Q2, V2, ka);
        if (!isnan(seen[i]))
            loglik += normal_logpdf(seen[i], y[1] / V, sigma);
        y[0] += dose[i];
        infusion += change[i];
        before = time[i];
    }
    return loglik;
}"""
RATES = """
__device__ void drug(real t, const real *y, real *rate, real infusion, real CL, real V, real Q2, real V2, real ka)
{
    rate[0] = -ka * y[0];
    rate[1] = infusion + ka * y[0] - (CL + Q2) / V * y[1] + Q2 / V2 * y[2];
    rate[2] = Q2 / V * y[1] - Q2 / V2 * y[2];
}"""
NAMES = ["infusion", "CL", "V", "Q2", "V2", "ka"]
TEXTS = {
    "closed": gs.compartment_steps(2, absorption=True, infusion=True, name="drug"),
    "dopri5": RATES + gs.ode_steps("drug", 3, NAMES, rtol=1e-10, atol=1e-12),
    "rodas5p": RATES + gs.ode_steps("drug", 3, NAMES, method="rodas5p", rtol=1e-10, atol=1e-12),
}
AT = {"CL": 1.2, "V": 4.0, "Q2": 2.5, "V2": 11.0, "ka": 0.9, "sigma": 0.6}


def patients(rng, n):
    """Events in the order of their times: doses, beginnings and ends of infusions, observations; some have no observation."""
    found = []
    for i in range(n):
        events = [(t, d, 0.0, np.nan) for t, d in zip(rng.uniform(0, 40, i % 4), rng.uniform(20, 100, 4), strict=False)]
        for begin, length, rate in zip(rng.uniform(0, 30, i % 3), rng.uniform(0.5, 9, 3), rng.uniform(1, 20, 3), strict=False):
            events += [(begin, 0.0, rate, np.nan), (begin + length, 0.0, -rate, np.nan)]
        events += [(t, 0.0, 0.0, y) for t, y in zip(rng.uniform(0, 50, i + 1), rng.uniform(0, 6, i + 1), strict=True)]
        if i == 3:
            events += [(0.0, 50.0, 0.0, np.nan), (24.0, 50.0, 0.0, 1.5), (24.0, 0.0, 0.0, 2.0)]  # all at the same time
        found.append(np.array(sorted(events, key=lambda event: event[0])).reshape(-1, 4))
    return found


def reference(events, CL, V, Q2, V2, ka, sigma):
    y, infusion, before, loglik = np.zeros(3), 0.0, 0.0, 0.0
    matrix = np.array([[-ka, 0, 0], [ka, -(CL + Q2) / V, Q2 / V2], [0, Q2 / V, -Q2 / V2]])
    for time, dose, change, seen in events:
        if time > before:
            steady = np.array([0, infusion, 0])
            found = solve_ivp(lambda t, y, r=steady: matrix @ y + r, (before, time), y, method="LSODA", rtol=1e-11, atol=1e-12)
            y = found.y[:, -1]
        if not np.isnan(seen):
            loglik += -0.5 * ((seen - y[1] / V) / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)
        y[0] += dose
        infusion, before = infusion + change, time
    return loglik


@pytest.mark.parametrize("text", TEXTS)
def test_doses_and_infusions(text, rng):
    events = patients(rng, 9)
    columns = {name: [e[:, k] for e in events] for k, name in enumerate(["time", "dose", "change", "seen"])}
    rows = gs.Rows(
        TEXTS[text] + PATIENT, time=gs.sequences(columns["time"]), dose=gs.sequences(columns["dose"]),
        change=gs.sequences(columns["change"]), seen=gs.sequences(columns["seen"], missing=True),
        CL=gs.per_row(), V=gs.per_row(),
    )  # fmt: skip
    given = AT | {"CL": AT["CL"] * rng.uniform(0.5, 2, 9), "V": AT["V"] * rng.uniform(0.5, 2, 9)}
    own = [given | {"CL": given["CL"][i], "V": given["V"][i]} for i in range(9)]
    wanted = [reference(e, **of) for e, of in zip(events, own, strict=True)]
    np.testing.assert_allclose(rows.terms(**given), wanted, rtol=1e-7, atol=1e-7)
    value, gradient = rows.value_and_grad(**given)
    np.testing.assert_allclose(value, sum(wanted), rtol=1e-8)
    for name in AT:
        slopes = []
        for e, of in zip(events, own, strict=True):
            up, down = (reference(e, **of | {name: of[name] * (1 + sign * 1e-4)}) for sign in (1, -1))
            slopes.append((up - down) / (2e-4 * of[name]))
        wanted = slopes if name in ("CL", "V") else sum(slopes)
        np.testing.assert_allclose(gradient[name], wanted, rtol=1e-5, atol=1e-4, err_msg=name)


def test_many_derivatives(rng):
    """Twelve effects on two parameters, for which the loop goes back through the events: as by the chain rule from fewer."""
    events = patients(rng, 8)
    names = [f"b{i}" for i in range(12)]
    source = TEXTS["closed"] + PATIENT + f"""
    __device__ real with_effects(const real *time, const real *dose, const real *change, const real *seen, int n, const real x,
                                 real Q2, real V2, real ka, real sigma, {", ".join(f"real {name}" for name in names)})
    {{
        real log_cl = 0, log_v = 1;
        {" ".join(f"log_cl += b{i} * sin({i} * x);" for i in range(6))}
        {" ".join(f"log_v += b{i} * sin({i} * x);" for i in range(6, 12))}
        return patient(time, dose, change, seen, n, exp(log_cl), exp(log_v), Q2, V2, ka, sigma);
    }}"""
    columns = {name: [e[:, k] for e in events] for k, name in enumerate(["time", "dose", "change", "seen"])}
    leaves = {name: gs.sequences(column, missing=name == "seen") for name, column in columns.items()}
    x, b = rng.uniform(0, 1, 8), rng.normal(size=12) / 5
    rest = {name: AT[name] for name in ("Q2", "V2", "ka", "sigma")}
    value, gradient = gs.Rows(source, **leaves, x=x).value_and_grad(**rest, **dict(zip(names, b, strict=True)))
    few = gs.Rows(TEXTS["closed"] + PATIENT, **leaves, CL=gs.per_row(), V=gs.per_row())
    effects = np.sin(np.arange(12)[:, None] * x)
    cl, v = np.exp(b[:6] @ effects[:6]), np.exp(1 + b[6:] @ effects[6:])
    wanted, slopes = few.value_and_grad(CL=cl, V=v, **rest)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    own = np.concatenate([effects[:6] @ (slopes["CL"] * cl), effects[6:] @ (slopes["V"] * v)])
    np.testing.assert_allclose([gradient[name] for name in names], own, rtol=1e-9, atol=1e-9)
    for name in rest:
        np.testing.assert_allclose(gradient[name], slopes[name], rtol=1e-9)
