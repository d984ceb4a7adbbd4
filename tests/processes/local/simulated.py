"""Nearest points, local designs and estimates."""

import dataclasses

import numpy as np
from references_local import greedy_design, joint_design, joint_student, mspe_design
from simulator import close, kernel_shape

import gpustats as gs
from gpustats.processes.local.correlation import Correlation
from gpustats.processes.local.defaults import darg, garg
from gpustats.processes.local.design import Design
from gpustats.processes.local.fit import LocalFit
from gpustats.processes.local.nearest import Nearest
from gpustats.processes.local.ray import RaySearch
from gpustats.runtime import choose


@kernel_shape
def local_nearest(dtype, rng):
    """All points and those within a sample's distance, and where the sample says nothing: all as far; in parts."""
    runtime = choose.get()
    uniform = rng.uniform(size=(4200, 2))
    grid, equal = np.round(4 * uniform[:90]), np.ones((4200, 1))
    for X, k, start, rows in (
        (uniform, 20, 3, None), (grid, 33, 33, None), (equal, 70, 2, None), (uniform[:3], 5, 4, None), (grid, 33, 5, 40),
        (equal, 70, 2, 4100),
    ):  # fmt: skip
        x = rng.uniform(size=(3, X.shape[1]))
        got = gs.to_host(Nearest(runtime, X, "device", rows).find(runtime.to_device(x), k, start))
        distances = sum((X[:, e] - x[:, e, None]) ** 2 for e in range(X.shape[1]))
        want = np.argsort(distances, axis=1, kind="stable")[:, :k]
        n = want.shape[1]
        np.testing.assert_array_equal(got[:, : min(start, n)], want[:, :start])
        np.testing.assert_array_equal(np.sort(got[:, :n]), np.sort(want))
        assert (got[:, n:] == -1).all()


@kernel_shape
def local_design(dtype, rng):
    """Candidates' numbers in shared and in global memory; whole rounds of threads, and not; nan; both criteria; clusters."""
    runtime = choose.get()
    X, x = rng.uniform(size=(150, 2)), rng.uniform(size=(3, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1]
    x[1] = np.nan
    candidates = np.argsort(((x[:, None] - X) ** 2).sum(-1), axis=1).astype(np.int32)
    whole = runtime.device
    alone = [
        (whole.shared_memory, 150, False, False, False), (8000, 150, True, False, False), (2400, 128, False, False, False),
        (whole.shared_memory, 150, False, True, False), (10000, 40, False, True, False),
        (whole.shared_memory, 150, False, False, True), (8000, 150, True, False, True), (2400, 128, False, False, True),
    ]  # fmt: skip
    clusters = [(k, separable, False, narrow, parts) for k, separable, narrow, parts in (
        (150, False, False, 1), (150, True, False, 2), (128, False, True, 4), (40, True, True, 1), (150, False, True, 8),
    )] if whole.cluster > 1 else []  # fmt: skip
    for shared_memory, k, separable, mspe, narrow, parts in (
        *((*of_one, 0) for of_one in alone), *((whole.shared_memory, *of_one) for of_one in clusters)
    ):
        runtime.device = dataclasses.replace(whole, shared_memory=shared_memory, cluster=whole.cluster if parts else 1)
        d = np.tile([0.5, 0.7], (3, 1)) if separable else np.full(3, 0.5)
        first = np.ascontiguousarray(candidates[:, :k])
        arrays = [runtime.to_device(a) for a in (X, x, first, d, np.full(3, 1e-3))]
        chosen = dict(parts=parts) if parts else {}
        search = Design(runtime, arrays[0], Correlation(), separable, runtime.to_device(y) if mspe else None, narrow, **chosen)
        got = gs.to_host(search.search(*arrays[1:], start=3, end=18 if narrow else 8))
        assert (got[1] == -1).all()
        for i in (0, 2):
            given = x[i], first[i], d[i], 1e-3, 3, 18 if narrow else 8
            np.testing.assert_array_equal(got[i], mspe_design(X, y, *given) if mspe else greedy_design(X, *given))
    runtime.device = whole


@kernel_shape
def local_fit(dtype, rng):
    """Estimates of lengthscales, nuggets, both and neither; matrices in shared and in global memory; nan; a singular matrix."""
    runtime = choose.get()
    X, y, x = rng.uniform(size=(40, 2)), rng.normal(size=40), rng.uniform(size=(4, 2))
    X[39] = X[38]
    n, whole = 9, runtime.device
    designs = np.argsort(((x[:, None] - X[:38]) ** 2).sum(-1), axis=1)[:, :n].astype(np.int32)
    designs[2, 3], designs[3, :2] = -1, [38, 39]
    for of_d, of_g, separable, near in ((0, 0, 0, 1), (0, 1, 1, 0), (1, 0, 0, 1), (1, 1, 1, 1), (1, 0, 1, 0), (0, 0, 0, 0)):
        priors = darg({"mle": bool(of_d)}, X), garg({"mle": bool(of_g)}, y)
        runtime.device = whole if near else dataclasses.replace(whole, shared_memory=800)
        d, g = np.full((4, 1 + separable), 0.3), np.array([1e-2, 1e-2, 1e-2, 1e-2 if of_g else 0])
        arrays = [runtime.to_device(a) for a in (X, y, x, designs, d, g)]
        found = LocalFit(runtime, *arrays[:2], Correlation(), n, bool(separable)).run(*arrays[2:], *priors)
        mean, scale, _, d, g, status = (runtime.to_host(a) for a in found)
        assert np.isnan(mean[2]) and status[3] == 0 if not of_g else (status[:2] > 1).all()
        for i in range(2):
            Z, k = X[designs[i]], np.exp(-((x[i] - X[designs[i]]) ** 2 / d[i]).sum(-1))
            K = np.exp(-((Z[:, None] - Z) ** 2 / d[i]).sum(-1)) + g[i] * np.eye(n)
            solved = np.linalg.solve(K, np.c_[k, y[designs[i]]])
            close(mean[i], solved[:, 0] @ y[designs[i]], np.float64)
            close(scale[i], np.sqrt(y[designs[i]] @ solved[:, 1] * (1 + g[i] - k @ solved[:, 0]) / n), np.float64)
    runtime.device = whole


@kernel_shape
def local_ray(dtype, rng):
    """Rays and gradients; matrices in shared and in global memory; all candidates, and nan."""
    runtime = choose.get()
    X, x = rng.uniform(size=(60, 2)), rng.uniform(size=(3, 2))
    x[1] = np.nan
    near = np.argsort(((x[:, None] - X) ** 2).sum(-1), axis=1, kind="stable").astype(np.int32)
    near[1] = -1
    whole, box, g = runtime.device, runtime.to_device(np.stack([X.min(0), X.max(0)])), runtime.to_device(np.full(3, 1e-3))
    for opt, memory, end, separable in ((False, 60000, 17, False), (True, 60000, 9, True), (True, 3500, 9, False)):
        runtime.device = dataclasses.replace(whole, shared_memory=memory)
        d = runtime.to_device(np.full((3, 2) if separable else 3, 0.5))
        candidates = np.ascontiguousarray(near[:, : 40 if opt else end])
        X_, x_, candidates = (runtime.to_device(a) for a in (X, x, candidates))
        search = RaySearch(runtime, X_, Correlation(), separable, box, 2, opt)
        got = runtime.to_host(search.search(x_, candidates, d, g, 3, end))
        assert (got[1] == -1).all()
        for i in (0, 2):
            assert len(set(got[i])) == end and set(got[i]) <= set(near[i, :40]) and (got[i, :3] == near[i, :3]).all()
    runtime.device = whole


@kernel_shape
def local_joint(dtype, rng):
    """Sets of references: what is nearest to them, designs for them, and their covariances; factors in both memories; a nan."""
    runtime = choose.get()
    X, sets = rng.uniform(size=(4200, 2)), rng.uniform(size=(3, 5, 2))
    sets[1, 2, 0] = np.nan
    y, d, g = np.sin(5 * X[:, 0]) + X[:, 1], np.full((3, 2), [0.5, 0.7]), np.full(3, 1e-3)
    X_, y_, sets_, d_, g_ = (runtime.to_device(a) for a in (X, y, sets, d, g))
    candidates = Nearest(runtime, X, "device").find(sets_, 30, 4)
    near = [np.argsort(((X[:, None] - sets[i]) ** 2).sum(-1).min(1), kind="stable")[:30] for i in (0, 2)]
    found, whole = runtime.to_host(candidates), runtime.device
    assert (found[1] == -1).all()
    for memory in (whole.shared_memory, 2000):
        runtime.device = dataclasses.replace(whole, shared_memory=memory)
        designs = Design(runtime, X_, Correlation(), separable=True).search(sets_, candidates, d_, g_, 4, 13)
        got = LocalFit(runtime, X_, y_, Correlation(), 13, True).joint(sets_, designs, d_, g_, memory != 2000)
        designs, mean, covariance = (runtime.to_host(a) for a in (designs, *got))
        assert (designs[1] == -1).all() and np.isnan(mean[1]).all()
        for i, nearest in zip((0, 2), near):
            np.testing.assert_array_equal(np.sort(found[i]), np.sort(nearest))
            np.testing.assert_array_equal(designs[i], joint_design(X, sets[i], nearest, d[i], 1e-3, 4, 13))
            want = joint_student(X[designs[i]], y[designs[i]], sets[i], d[i], 1e-3, memory != 2000)
            close(mean[i], want[0], np.float64)
            np.testing.assert_allclose(covariance[i], want[1], rtol=1e-8, atol=1e-9 * want[1].max())
    runtime.device = whole
