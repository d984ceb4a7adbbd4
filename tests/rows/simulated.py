"""Sums over rows."""

import dataclasses
from unittest import mock

import numpy as np
from scipy import sparse, special, stats
from simulator import close, kernel_shape

import gpustats as gs
from gpustats.glm.design_matrix import DesignMatrix
from gpustats.glm.products import DesignProducts
from gpustats.rows import blocks, passes, spans
from gpustats.rows import parts as in_parts
from gpustats.rows.column_products import ColumnProducts, Matrix, lanes_of
from gpustats.rows.placed import Placed
from gpustats.runtime import choose


@kernel_shape
def rows(dtype, rng):
    """Rows as they came and by groups, whose segments many threads or one take; all leaves; two orders of the rows; sets."""

    def items(n, persons, sets):
        y, p, i = rng.integers(0, 2, n).astype(np.uint8), rng.integers(0, persons, n), rng.integers(0, 3, n)
        theta, d, w = rng.normal(size=(*sets, persons)), rng.normal(size=(*sets, 3)), rng.uniform(size=n).astype(dtype)
        model = gs.Rows(
            "real item(int y, real theta, real d) { return bernoulli_logit_logpmf(y, d * theta); }",
            weights=w, y=y, theta=gs.gather(p), d=gs.gather(i),
        )  # fmt: skip
        value, gradient = model.value_and_grad(theta=theta, d=d)
        theta, d = theta.astype(dtype).astype(float)[..., p], d.astype(dtype).astype(float)[..., i]
        slope = w * (y - special.expit(d * theta))
        close(value, (w * special.log_expit(np.where(y, d * theta, -d * theta))).sum(-1), dtype)
        close(gradient["theta"], _by_group(slope * d, p, persons), dtype)
        close(gradient["d"], _by_group(slope * theta, i, 3), dtype)

    items(600, 4, (2,))
    items(150, 90, ())
    n, k = 130, 3
    X, y = rng.normal(size=(n, k)).astype(dtype), rng.normal(size=n).astype(dtype)
    i, j = rng.integers(0, 4, n), rng.integers(0, 2, n)
    model = gs.Rows(
        "real row(real y, real eta, real m, real h, real before, real s) { return normal_logpdf(y, eta + m + h - before, s); }",
        y=y, eta=gs.dot(X, of="beta"), m=gs.gather(i, j), h=gs.per_row(), before=gs.per_row(of="h", offset=-1),
    )  # fmt: skip
    beta, m, h, s = (rng.normal(size=size).astype(dtype) for size in (k, (4, 2), n + 1, ()))
    given = dict(beta=beta, m=m, h=h, s=s * s + 1)
    value, gradient = model.value_and_grad(**given)
    mu, sigma = X.astype(float) @ beta + m[i, j] + np.diff(h.astype(float)), float(given["s"])
    z = (y - mu) / sigma
    close(value, stats.norm.logpdf(y, mu, sigma).sum(), dtype)
    close(model.terms(**given), stats.norm.logpdf(y, mu, sigma), dtype)
    close(gradient["beta"], X.T @ (z / sigma), dtype)
    close(gradient["m"].ravel(), np.bincount(2 * i + j, z / sigma, 8), dtype)
    close(gradient["h"], np.append(0, z / sigma) - np.append(z / sigma, 0), dtype)
    close(gradient["s"], ((z * z - 1) / sigma).sum(), dtype)
    close(model.hessian(**given), np.array([[((1 - 3 * z * z) / sigma**2).sum()]]), dtype)


@kernel_shape
def second_derivatives(dtype, rng):
    """Second derivatives in a table, in coefficients and in a number: by group, by column, and products of columns."""
    n, k = 150, 6
    X, t, y = rng.normal(size=(n, k)).astype(dtype), rng.normal(size=n).astype(dtype), rng.normal(size=n).astype(dtype)
    source = """real f(real y, real t, real eta, real a, real b, real s) {
        real rest = y - eta - a - b * t;
        return -s * rest * rest; }"""
    for g in (rng.integers(0, 40, n), rng.integers(0, 2, n)):
        model = gs.Rows(source, y=y, t=t, eta=gs.dot(X, of="beta"), a=gs.gather(g), b=gs.gather(g))
        beta, a, b = rng.normal(size=k), rng.normal(size=g.max() + 1), rng.normal(size=g.max() + 1)
        found = model.hessian(beta=beta, a=a, b=b, s=1.0, wrt=("beta", "a", "b", "s")).toarray()
        members = np.eye(len(a))[g]
        J = np.c_[X.astype(float), members, members * t[:, None]]
        rest = y - X.astype(float) @ beta - a[g] - b[g] * t
        close(found[:-1, :-1], -2 * J.T @ J, dtype)
        close(found[-1, :-1], 2 * rest @ J, dtype)


@kernel_shape
def column_products(dtype, rng):
    """Products of columns with weights and with a vector: as a CPU's lanes and as a GPU's blocks have them, in any layout."""
    runtime = choose.get()
    whole = runtime.device
    for device in (whole, dataclasses.replace(whole, type="gpu", warp=32, compute_units=2)):
        runtime.device = device
        for n, k in ((1, 1), (70, 3), (130, 9), (40, 70)):
            X, w = rng.normal(size=(n, k)).astype(dtype), rng.normal(size=n).astype(dtype)
            kept = Placed(runtime)
            lanes = lanes_of(device, X.itemsize)
            by_columns = Matrix(kept(np.ascontiguousarray(X.T)), n, k, X.dtype, lanes, by_columns=True)
            for products in (DesignProducts(DesignMatrix(X, runtime, X.dtype)), ColumnProducts(by_columns, runtime)):
                close(products.weighted(w), (X.T.astype(float) * w) @ X.astype(float), dtype)
                close(products.with_total(w), np.append(w @ X.astype(float), w.astype(float).sum()), dtype)
    runtime.device = whole


def _by_group(numbers, groups, n):
    return np.stack([numbers[..., groups == g].sum(-1) for g in range(n)], -1)


@kernel_shape
def sequences(dtype, rng):
    """Sequences of many lengths side by side, by groups and with numbers of the rows; an array of the function's own."""
    source = """
    real path(const real *y, const real *w, int n, real a, real b, real c)
    {
        real last[2] = {0, b}, total = 0;
        for (int t = 0; t < n; t++) {
            real now = a * last[0] + b * last[1] + w[t];
            last[1] = last[0];
            last[0] = now;
            total += (y[t] - now) * c;
        }
        return total;
    }"""
    lengths = [*rng.integers(1, 9, 70), 40]
    y, w = ([rng.normal(size=n).astype(dtype) for n in lengths] for _ in range(2))
    n, a, b, c = len(lengths), 0.5, 0.25, rng.normal(size=(2, 71)).astype(dtype)
    group = rng.integers(0, 3, n)

    def sums(y, w):
        for its, weights in zip(y, w, strict=True):
            last, total = [0.0, b], 0.0
            for v, weight in zip(its.astype(float), weights.astype(float), strict=True):
                last = [a * last[0] + b * last[1] + weight, last[0]]
                total += v - last[0]
            yield total

    wanted = np.array(list(sums(y, w)))
    model = gs.Rows(source, y=gs.sequences(y), w=gs.sequences(w), c=gs.per_row())
    value, gradient = model.value_and_grad(a=a, b=b, c=c)
    close(value, (c.astype(float) * wanted).sum(-1), dtype)
    close(gradient["c"], np.stack([wanted] * 2), dtype)
    close(model.terms(a=a, b=b, c=c), c.astype(float) * wanted, dtype)
    table = rng.normal(size=3).astype(dtype)
    of_groups = gs.Rows(source, y=gs.sequences(y), w=gs.sequences(w), c=gs.gather(group))
    value, gradient = of_groups.value_and_grad(a=a, b=b, c=table)
    close(value, (table.astype(float)[group] * wanted).sum(), dtype)
    close(gradient["c"], _by_group(wanted, group, 3), dtype)
    y, w = rng.normal(size=(2, 37, 5)).astype(dtype)  # of one length
    model = gs.Rows(source, y=gs.sequences(y), w=gs.sequences(w))
    close(model.terms(a=a, b=b, c=1.0), list(sums(y, w)), dtype)


@kernel_shape
def sequences_back(dtype, rng):
    """Many derivatives, for which a loop goes back through the sequences: numbers, a table by groups, sets; checkpoints."""
    names = [f"c{i}" for i in range(12)]
    source = f"""
    real wave(const real *y, int n, real shift, {", ".join(f"real {name}" for name in names)})
    {{
        real c[12] = {{{", ".join(names)}}}, now = shift, total = 0;
        for (int t = 0; t < n; t++) {{
            int k = t % 12;
            if (y[t] > 0) {{
                now = 0.5 * now + c[k] * y[t];
            }} else {{
                total += 0.25 * now;
            }}
            for (int i = 0; i < k - t + 2; i++)
                total += 0.5 * now * now;
        }}
        return total;
    }}"""
    stored = passes.Pass.stored
    y, n = [rng.normal(size=n).astype(dtype) for n in [*rng.integers(1, 9, 70), 40]], 71

    def of(its, shift, c):
        """The sum of a sequence, and its derivatives in the shift and in c."""
        now, total, d_now, d_total = shift, 0.0, np.eye(13)[0], np.zeros(13)
        for t, v in enumerate(its.astype(float)):
            if v > 0:
                now, d_now = 0.5 * now + c[t % 12] * v, 0.5 * d_now + v * np.eye(13)[1 + t % 12]
            else:
                total, d_total = total + 0.25 * now, d_total + 0.25 * d_now
            turns = max(t % 12 - t + 2, 0) / 2
            total, d_total = total + turns * now**2, d_total + 2 * turns * now * d_now
        return np.append(total, d_total)

    for sets, checkpoints in (((), False), ((2,), False), ((2,), True)):
        if checkpoints:
            passes.Pass.stored = lambda made, n: np.inf if made.tapes else 0
        c, group = rng.normal(size=(*sets, 12)).astype(dtype), rng.integers(0, 3, n)
        for leaf, shift, rows in ((gs.per_row(), rng.normal(size=n).astype(dtype), np.arange(n)),
                                  (gs.gather(group), rng.normal(size=3).astype(dtype), group)):  # fmt: skip
            model = gs.Rows(source, y=gs.sequences(y), shift=leaf)
            value, gradient = model.value_and_grad(shift=shift, **dict(zip(names, np.moveaxis(c, -1, 0), strict=True)))
            wide = np.array([[of(*its, own) for its in zip(y, shift[rows].astype(float), strict=True)]
                             for own in c.reshape(-1, 12).astype(float)])  # fmt: skip
            close(np.ravel(value), wide[..., 0].sum(-1), dtype)
            close(gradient["shift"], np.bincount(rows, wide[..., 1].sum(0), shift.size), dtype)
            for i, name in enumerate(names):
                close(np.ravel(gradient[name]), wide[..., 2 + i].sum(-1), dtype)
    passes.Pass.stored = stored


@kernel_shape
def sparse_designs(dtype, rng):
    """Products with a sparse matrix, whose first column and first row have entries everywhere; also of ones alone."""
    n, k = 90, 40
    full = np.where(rng.random((n, k)) < 0.1, rng.normal(size=(n, k)), 0).astype(dtype)
    full[:, 0], full[0] = 0.5, -1.5
    y, sets = rng.normal(size=n).astype(dtype), rng.normal(size=(2, k)).astype(dtype)
    for X in (full, (full != 0).astype(dtype)):
        square = "real f(real y, real eta) { return -0.5 * (y - eta) * (y - eta); }"
        model = gs.Rows(square, y=y, eta=gs.dot(sparse.csr_array(X), of="beta"))
        value, gradient = model.value_and_grad(beta=sets)
        left = y - sets.astype(float) @ X.T
        close(value, -0.5 * (left**2).sum(-1), dtype)
        close(gradient["beta"], left @ X, dtype)


@kernel_shape
def sparse_blocks(dtype, rng):
    """The same of large matrices, by blocks, of which there are several small ones here."""
    small = dict(LEAST_ENTRIES=1, LEAST_OF_TILE=0, SUMS=32, NUMBERS=16, THREADS=64, LONGEST=4, ENTRIES_AT_ONCE=200)
    with mock.patch.multiple(blocks, **small):
        sparse_designs(dtype, rng)


@kernel_shape
def step_tables(dtype, rng):
    """Elements of tables that the steps of sequences gather, of one axis and of two, in rows as they come and by groups."""
    source = """
    real pairs(const int *seen, const real *one, const real *other, int n, real slope)
    {
        real total = 0;
        for (int t = 0; t < n; t++)
            if (seen[t] > 0) total += slope * one[t] * other[n - 1 - t] * seen[t];
        return total;
    }"""
    lengths = [*rng.integers(0, 9, 70), 300]
    offsets, n = np.append(0, np.cumsum(lengths)), len(lengths)
    person, steps = np.repeat(np.arange(n), lengths), np.arange(offsets[-1])
    mirrored = offsets[person] + offsets[person + 1] - 1 - steps
    seen, i, j = (rng.integers(0, k, offsets[-1]) for k in (3, 5, 4))
    group, k = rng.integers(0, 2, n), gs.sequences(j, offsets, empty=True)
    one = gs.gather(gs.sequences(i, offsets, empty=True))
    leaves = dict(seen=gs.sequences(seen.astype(dtype), offsets, empty=True), one=one)
    for slope, rows in ((rng.normal(size=2).astype(dtype), group), (rng.normal(size=n).astype(dtype), np.arange(n))):
        leaf = gs.gather(group) if slope.size == 2 else gs.per_row()
        model = gs.Rows(source, **leaves, other=gs.gather(group, k), slope=leaf)
        one, other = rng.normal(size=(3, 5)).astype(dtype), rng.normal(size=(2, 4)).astype(dtype)
        value, gradient = model.value_and_grad(one=one, other=other, slope=slope)
        first, second = one.astype(float)[:, i], other.astype(float)[group[person], j]
        factor = seen * slope.astype(float)[rows][person]
        terms = factor * first * second[mirrored]
        close(value, terms.sum(-1), dtype)
        close(gradient["one"], _by_group(factor * second[mirrored], i, 5) * np.ones((3, 1)), dtype)
        wanted = np.zeros((2, 4))
        np.add.at(wanted, (group[person[mirrored]], j[mirrored]), (factor * first).sum(0))
        close(gradient["other"], wanted, dtype)
        close(gradient["slope"], np.bincount(rows[person], (seen * first * second[mirrored]).sum(0), slope.size), dtype)


@kernel_shape
def steps(dtype, rng):
    """Outputs by step of sequences of many lengths, of which one reads another: sets, groups, some steps without a number.

    What is drawn is the same wherever a row lies, and in whatever set.
    """
    source = """
    real walk(const real *y, int n, real a, real *level, real *behind, rng_t *rng, real *drawn)
    {
        real now = 0, sum = 0;
        for (int t = 0; t < n; t++) {
            now = a * now + y[t];
            level[t] = now;
        }
        for (int t = n - 1; t >= 1; t--) {
            sum += level[t - 1];
            behind[t] = sum;
        }
        for (int t = 0; t < n; t++)
            drawn[t] = a * uniform(rng);
        return now;
    }"""
    y = [rng.normal(size=n).astype(dtype) for n in [*rng.integers(1, 9, 70), 40]]
    group, a = rng.integers(0, 3, 71), rng.normal(size=(2, 3)).astype(dtype) / 2

    def of(its, a):
        level = np.array([(a ** np.arange(t, -1, -1) * its[: t + 1]).sum() for t in range(its.size)])
        return level, np.append(np.nan, np.cumsum(level[-2::-1])[::-1])

    first = gs.Rows(source, y=gs.sequences(y)).draws(1.0, rng=1)["drawn"]
    assert np.unique(first).size > 0.99 * first.size and first.min() > 0 and first.max() < 1
    lengths = list(map(len, y))
    for leaf, given, rows in ((None, a[:, :1], np.zeros(71, int)), (gs.gather(group), a, group)):
        model = gs.Rows(source, y=gs.sequences(y), **({} if leaf is None else {"a": leaf}))
        found = model.steps(given[:, 0] if leaf is None else given)
        own = [[of(its.astype(float), v) for its, v in zip(y, values[rows], strict=True)] for values in given.astype(float)]
        for i, name in enumerate(("level", "behind")):
            wanted = np.stack([np.concatenate([its[i] for its in values]) for values in own])
            assert np.array_equal(np.isnan(found[name]), np.isnan(wanted))
            close(np.nan_to_num(found[name]), np.nan_to_num(wanted), dtype)
        drawn = model.draws(given[:, 0] if leaf is None else given, rng=1)["drawn"]
        close(drawn[0], first * np.repeat(given[0, rows].astype(float), lengths), dtype)


@kernel_shape
def stiff(dtype, rng):
    """Steps of a stiff equation, whose numbers differ from thread to thread, and compartments in closed form."""
    source = "void fall(real t, const real *y, real *rate, real k) { rate[0] = -k * (y[0] - y[1]); rate[1] = -y[1] * y[1]; }"
    source += gs.ode_steps("fall", 2, ["k"], method="rodas4", rtol=1e-4, atol=1e-6) + """
    real last(real end, real k) { real y[2] = {2, 1}; fall_advance(0, end, y, k); return y[0]; }"""
    ends, k = rng.uniform(0.5, 2, 70).astype(dtype), (10 ** rng.uniform(3, 5, 70)).astype(dtype)
    rows = gs.Rows(source, end=ends, k=gs.per_row())
    np.testing.assert_allclose(rows.terms(k=k), 1 / (1 + ends.astype(float)), rtol=2e-3)
    _, gradient = rows.value_and_grad(k=k)
    np.testing.assert_allclose(gradient["k"], 0, atol=2e-3 / k.min())
    source = gs.compartment_steps(1, absorption=True, name="drug") + """
    real at(const real *time, int n, real CL, real V, real ka)
    {
        real y[2] = {1, 0}, before = 0, total = 0;
        for (int i = 0; i < n; i++) {
            drug_advance(before, time[i], y, CL, V, ka);
            total += y[1];
            before = time[i];
        }
        return total;
    }"""
    times = [np.sort(rng.uniform(0, 5, n)).astype(dtype) for n in rng.integers(1, 6, 70)]
    given, a, b = {"CL": 0.5, "V": 2.0, "ka": 1.5}, 1.5, 0.25
    wanted = [a / (a - b) * (np.exp(-b * t) - np.exp(-a * t)).sum() for t in (t.astype(float) for t in times)]
    rows = gs.Rows(source, time=gs.sequences(times))
    close(rows.terms(**given), np.array(wanted), dtype)
    slope = sum((-t * a / (a - b) * np.exp(-b * t) + a / (a - b) ** 2 * (np.exp(-b * t) - np.exp(-a * t))).sum() for t in times)
    close(rows.value_and_grad(**given)[1]["CL"], slope / given["V"], dtype)


PARTS = {"LEAST_STEPS": {"cpu": 1, "gpu": 1}, "LEAST_SPAN": 4, "SPANS_OF_UNIT": {"cpu": 100, "gpu": 100}}


@kernel_shape
def steps_in_parts(dtype, rng):
    """Outputs by step of few sequences in parts: forth, with one that is written before the loop, and back with whole numbers
    and random ones; terms. One sequence's state is not found."""
    source = """
    real path(const real *y, int n, real a, real r, real *level, real *behind, rng_t *rng, real *drawn)
    {
        real now = 0.25, sum = 0, total = 0;
        int k = 0;
        level[0] = now;
        for (int t = 1; t < n; t++) {
            now = r > 0 ? r * now * (1 - now) : a * now + y[t];
            level[t] = now;
        }
        for (int t = n - 1; t >= 0; t--) {
            real u = uniform(rng);
            if (y[t] > 1) k = t;
            sum = a * sum + level[t] + k;
            behind[t] = sum;
            drawn[t] = sum + u;
        }
        for (int t = 0; t < n; t++)
            total += a * y[t];
        return total;
    }"""
    y = [rng.normal(size=n).astype(dtype) for n in (90, 1, 9, 141)]
    a, r = np.array([0.5, -0.25]), np.array([0, 0, 0, 3.9])

    def of(its, a, r):
        level, behind, sum, k = [0.25], [], 0, 0
        for v in its[1:].astype(float):
            level.append(r * level[-1] * (1 - level[-1]) if r else a * level[-1] + v)
        for t in reversed(range(its.size)):
            k = t if its[t] > 1 else k
            sum = a * sum + level[t] + k
            behind.append(sum)
        return np.array([level, behind[::-1]])

    with mock.patch.multiple(in_parts, **PARTS), mock.patch.object(spans, "FOLDED", 4):
        model = gs.Rows(source, y=gs.sequences(y), r=gs.per_row())
        found, drawn = model.steps(a=a, r=r), model.draws(a=a, r=r, rng=1)["drawn"]
        terms, said = model.terms_by_step(a=a, r=r), model.explain(a=a, r=r, outputs="behind")
        assert "parts of 4 steps" in said and "and 2 sequences gone through step by step" in said
    calm = slice(0, 100)  # the last one is chaotic: other roundings make other numbers
    for i, name in enumerate(("level", "behind")):
        wanted = [np.concatenate([of(its, own, rate)[i] for its, rate in zip(y, r)])[calm] for own in a]
        close(found[name][:, calm], wanted, dtype)
    close(terms, np.outer(a, np.concatenate(y).astype(float)), dtype)
    u = drawn - found["behind"]
    assert u.min() > -1e-4 and u.max() < 1 + 1e-4 and np.unique(u.round(3)).size > 100


@kernel_shape
def long_sequences_in_parts(dtype, rng):
    """Parts of few sequences, in groups of groups; a nonlinear state, and a whole number; missing numbers keep both."""
    source = """
    real path(const real *y, int n, real a, real b, real c)
    {
        real now = c, total = 0;
        int unseen = 1;
        for (int t = 0; t < n; t++) {
            if (!isnan(y[t])) {
                total += (y[t] - now) * (unseen ? 2 : 1);
                unseen = 0;
                now = a * y[t] + b * tanh(now);
            }
        }
        return total + now;
    }"""
    y = [rng.normal(size=n).astype(dtype) for n in (90, 1, 9, 41)]
    y[0][:30] = np.nan

    def of(its, a, b, c):
        now, total, unseen = c, 0, True
        for v in its[~np.isnan(its)].astype(float):
            total, unseen, now = total + (v - now) * (2 if unseen else 1), False, a * v + b * np.tanh(now)
        return total + now

    a, b, c = 0.5, np.array([0.25, -0.5]), rng.normal(size=(2, 4)).astype(dtype)
    with mock.patch.multiple(in_parts, **PARTS), mock.patch.object(spans, "FOLDED", 4):
        model = gs.Rows(source, y=gs.sequences(y, missing=True), c=gs.per_row())
        value, gradient = model.value_and_grad(a=a, b=b, c=c)
        close(model(a=a, b=b, c=c), value, dtype)
        assert "parts of 4 steps" in model.explain(a=a, b=b, c=c)
    h = 1e-30j
    wanted = [[of(its, a, *own) for its, own in zip(y, zip([v] * 4, row), strict=True)] for v, row in zip(b, c.astype(float))]
    close(value, np.sum(wanted, 1), dtype)
    close(gradient["b"], [sum(of(its, a, v + h, own).imag / 1e-30 for its, own in zip(y, row)) for v, row in zip(b, c)], dtype)
    close(gradient["c"], [[of(its, a, v, own + h).imag / 1e-30 for its, own in zip(y, row)] for v, row in zip(b, c)], dtype)


@kernel_shape
def rows_products(dtype, rng):
    """Many sets as on a device that multiplies small matrices: two matrices, groups cut by tiles, numbers of the rows."""
    runtime = choose.get()
    whole = runtime.device
    runtime.device = dataclasses.replace(whole, type="gpu", warp=32, compute_units=2, products=True)
    for n, k, sets, persons in ((90, 6, 3, 4), (40, 33, 9, 30)):
        X, Z, i = rng.normal(size=(n, k)).astype(dtype), rng.normal(size=(n, 2)).astype(dtype), rng.integers(0, persons, n)
        y = rng.normal(size=n).astype(dtype)
        model = gs.Rows(
            "real row(real y, real m, real l, real a, real h, real s) { return normal_logpdf(y, m + a + h, s * exp(l)); }",
            y=y, m=gs.dot(X, of="beta"), l=gs.dot(Z, of="gamma"), a=gs.gather(i), h=gs.per_row(),
        )  # fmt: skip
        shapes = dict(beta=(sets, k), gamma=(sets, 2), a=(sets, persons), h=(sets, n))
        given = {name: (rng.normal(size=shape) / 4).astype(dtype) for name, shape in shapes.items()}
        s = rng.uniform(1, 2, sets).astype(dtype)
        value, gradient = model.value_and_grad(**given, s=s)
        beta, gamma, a, h = (v.astype(float) for v in given.values())
        sd = s[:, None] * np.exp(gamma @ Z.T.astype(float))
        z = (y - beta @ X.T.astype(float) - a[:, i] - h) / sd
        close(value, (stats.norm.logpdf(z) - np.log(sd)).sum(-1), dtype)
        close(gradient["beta"], (z / sd) @ X.astype(float), dtype)
        close(gradient["gamma"], (z * z - 1) @ Z.astype(float), dtype)
        close(gradient["a"], _by_group(z / sd, i, persons), dtype)
        close(gradient["h"], z / sd, dtype)
        close(gradient["s"], (z * z - 1).sum(-1) / s, dtype)
    runtime.device = whole
