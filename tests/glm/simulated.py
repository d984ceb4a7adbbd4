"""Generalised linear models."""

import dataclasses

import numpy as np
from scipy import special
from simulator import close, kernel_shape

import gpustats as gs
from gpustats.runtime import choose


@kernel_shape
def glm(dtype, rng):
    """Rows in tiles and rows read in place; numbers and vectors as linear predictors; values by set, row and group."""

    def logit(n, k, sets, groups=None, **given):
        X, y = rng.normal(size=(n, k)).astype(dtype), rng.integers(0, 2, n)
        beta = (rng.normal(size=(*sets, k)) / np.sqrt(k)).astype(dtype)
        alpha = rng.normal(size=(*sets, 1 if groups is None else groups.max() + 1)).astype(dtype)
        model = gs.GLM(gs.bernoulli_logit, y, X, groups=groups, **given)
        value, gradient = model.value_and_grad(beta, alpha)
        eta = beta.astype(float) @ X.T.astype(float) + (alpha if groups is None else alpha[..., groups])
        slope = y - special.expit(eta)
        close(value, special.log_expit(np.where(y, eta, -eta)).sum(-1), dtype)
        close(gradient["beta"], slope @ X.astype(float), dtype)
        if groups is None:
            close(gradient["alpha"], slope.sum(-1, keepdims=True), dtype)
        else:
            close(gradient["alpha"], np.stack([slope[..., groups == g].sum(-1) for g in range(groups.max() + 1)], -1), dtype)
        if n == 130:
            close(model(beta, alpha), value, dtype)
            close(model.linear_predictor(beta, alpha), eta, dtype)
        if n == 70:
            close(model.logpdf(beta, alpha), special.log_expit(np.where(y, eta, -eta)), dtype)

    for n, k, sets in ((1, 1, ()), (70, 6, (3,)), (130, 7, ()), (9, 65, (3,)), (2, 1101, ())):
        logit(n, k, sets, **(dict(offset=np.zeros(n), weights=np.ones(n)) if sets else {}))
    logit(40, 3, (20,))
    runtime = choose.get()
    whole = runtime.device
    runtime.device = dataclasses.replace(whole, shared_memory=8192)  # too little for the rows, or for the coefficients, too
    for k, sets in ((1100, ()), (1101, (2,))):
        logit(2, k, sets)
    runtime.device = whole
    logit(600, 2, (2,), groups=np.r_[np.zeros(550, int), np.arange(50) % 7])
    X, beta = rng.normal(size=(50, 4)).astype(dtype), rng.normal(size=(3, 4)).astype(dtype)
    y, sigma = rng.normal(size=50).astype(dtype), rng.uniform(1, 2, (3, 50)).astype(dtype)
    value, gradient = gs.GLM(gs.normal_identity, y, X).value_and_grad(beta, 0.0, sigma)
    z = (y - beta.astype(float) @ X.T.astype(float)) / sigma
    close(value, (-0.5 * z * z - np.log(sigma * np.sqrt(2 * np.pi))).sum(-1), dtype)
    close(gradient["beta"], (z / sigma) @ X.astype(float), dtype)
    close(gradient["sigma"], (z * z - 1) / sigma, dtype)
    cutpoints = np.sort(rng.normal(size=(3, 50, 2)), -1).astype(dtype)
    got = gs.GLM(gs.ordered_logit, np.zeros(50), X).value_and_grad(beta, 0.0, cutpoints, wrt="beta")
    eta = cutpoints[..., 0] - beta.astype(float) @ X.T.astype(float)
    close(got[0], special.log_expit(eta).sum(-1), dtype)
    close(got[1]["beta"], -special.expit(-eta) @ X.astype(float), dtype)
    y, groups = rng.integers(0, 3, 50), np.arange(50) % 5
    beta, alpha = rng.normal(size=(2, 4, 3)).astype(dtype), rng.normal(size=(2, 5, 3)).astype(dtype)
    value, gradient = gs.GLM(gs.categorical_logit, y, X, groups=groups).value_and_grad(beta, alpha)
    eta = X.astype(float) @ beta.astype(float) + alpha[:, groups]
    slope = np.eye(3)[y] - special.softmax(eta, -1)
    close(value, np.take_along_axis(special.log_softmax(eta, -1), y[None, :, None], -1).sum((1, 2)), dtype)
    close(gradient["beta"], X.T.astype(float) @ slope, dtype)
    close(gradient["alpha"], np.stack([slope[:, groups == g].sum(1) for g in range(5)], 1), dtype)


@kernel_shape
def glm_products(dtype, rng):
    """Many sets as on a device that multiplies small matrices: blocks of eight and of sixteen sets, whole and not."""
    runtime = choose.get()
    whole = runtime.device
    runtime.device = dataclasses.replace(whole, type="gpu", warp=32, compute_units=2, products=True)
    for n, k, sets in ((70, 6, 3), (130, 7, 20), (33, 20, 9), (17, 130, 2)):
        X, y = rng.normal(size=(n, k)).astype(dtype), rng.integers(0, 2, n)
        beta, alpha = (rng.normal(size=(sets, k)) / np.sqrt(k)).astype(dtype), rng.normal(size=(sets, 1)).astype(dtype)
        value, gradient = gs.GLM(gs.bernoulli_logit, y, X).value_and_grad(beta, alpha)
        eta = beta.astype(float) @ X.T.astype(float) + alpha
        slope = y - special.expit(eta)
        close(value, special.log_expit(np.where(y, eta, -eta)).sum(-1), dtype)
        close(gradient["beta"], slope @ X.astype(float), dtype)
        close(gradient["alpha"], slope.sum(-1, keepdims=True), dtype)
    runtime.device = whole
