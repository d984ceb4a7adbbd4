"""Libraries that are measured, each with log-densities as a good user of it writes them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable

import numpy as np
from scipy import stats

import gpustats as gs
from gpustats.runtime import choose

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class Peer:
    """Library to measure. Subclasses fill `functions`: name of a density -> function of (x, *parameters), broadcasting.

    mvnormal takes x (N, d), means (K, d), lower factors of the covariances (K, d, d) and returns (N, K).
    """

    name: str
    kinds = "table", "sum", "gradient"
    asynchronous = True  # calls return before the work is done
    functions: dict[str, Callable]

    def __init__(self, gpu: bool):
        """Import the library; ImportError where it is missing."""

    def put(self, a: np.ndarray):
        """Array `a` where the library computes."""
        return a

    def compile(self, f: Callable) -> Callable:
        """Function `f` as the library runs it fastest."""
        return f

    def prepare(self, density: str, parameters: list[np.ndarray]) -> list[np.ndarray]:
        """Parameters as this library prefers them, made before the clock starts."""
        return parameters

    def bind(self, case) -> Callable[[], object]:
        """Function that starts the work of `case`, its data in place."""
        x, parameters = case.data()
        arguments = [self.put(a) for a in (x, *self.prepare(case.density, parameters))]
        f = self.functions[case.density]
        if case.kind == "gradient":
            x, *rest = arguments
            work = self.compile(self.value_and_grad(lambda p, x: f(x, *p).sum()))
            rest = tuple(p[0] for p in rest)
            return lambda: work(rest, x)
        if case.kind == "table":
            column = (slice(None), None)
            work = self.compile(f if case.dim else lambda x, *p: f(x[column], *p))
        else:
            work = self.compile(lambda x, *p: f(x, *(q[:, None] for q in p)).sum(-1))
        return lambda: work(*arguments)

    def value_and_grad(self, f: Callable) -> Callable:
        """Function of (parameters, x) that returns f's value and its derivatives in all parameters."""
        raise NotImplementedError

    def wait(self, result) -> None:
        """Wait until `result` is there."""

    def host(self, result) -> np.ndarray:
        """Result as an array; a value with its derivatives as one vector."""
        return np.array([result[0], *result[1]], float) if isinstance(result, tuple) else np.asarray(result)


class GPUStats(Peer):
    """Peer for gpustats: device arrays on a GPU, NumPy arrays on a CPU. A sum is a `gs.Likelihood`, always waited for."""

    name = "gpustats"

    def __init__(self, gpu):
        self.runtime = choose.get()
        self.asynchronous = not self.runtime.host_visible
        self.wait = lambda result: self.runtime.synchronize()
        self.put = gs.to_device if self.asynchronous else np.asarray
        self.functions = dict(gs.densities)

    def bind(self, case):
        x, parameters = case.data()
        x, density = self.put(x), gs.densities[case.density]
        if case.kind == "table":
            parameters = [self.put(p) for p in parameters]
        if case.dim:
            mean, factor = parameters
            column = x.reshape(case.n, 1, case.dim)
            return lambda: density.logpdf(column, mean, scale_tril=factor)
        if case.kind == "table":
            column, logp = x.reshape(-1, 1), density.logpmf if density.discrete else density.logpdf
            return lambda: logp(column, *parameters)
        likelihood = gs.Likelihood(density, x)
        arguments = [p[:, None] for p in parameters] if case.k > 1 else [float(p[0]) for p in parameters]
        return lambda: (likelihood.value_and_grad if case.kind == "gradient" else likelihood)(*arguments)

    def host(self, result):
        if isinstance(result, tuple):
            return np.array([result[0], *result[1].values()])
        return np.atleast_1d(gs.to_host(result))


class NumPy(Peer):
    """Peer for NumPy code that users write by hand."""

    name = "NumPy"
    asynchronous = False


class Statsmodels(Peer):
    """Peer for regressions."""

    name = "statsmodels"
    asynchronous = False

    def __init__(self, gpu):
        import statsmodels.api  # noqa: F401


class SciPy(Peer):
    """Peer without derivatives: central differences, as scipy.optimize would take them."""

    name = "SciPy"
    asynchronous = False

    def value_and_grad(self, f):
        def work(p, x):
            steps = [1e-5 * np.eye(len(p))[i] * max(1, abs(p[i])) for i in range(len(p))]
            return f(p, x), tuple((f(p + h, x) - f(p - h, x)) / (2 * h.sum()) for h in steps)

        return work

    @staticmethod
    def mvnormal(x, mean, covariance):
        """Log-densities (N, K) of x (N, d) for means (K, d) and covariances (K, d, d)."""
        pairs = zip(mean, covariance, strict=True)
        return np.stack([stats.multivariate_normal.logpdf(x, m, c) for m, c in pairs], axis=-1)

    functions = {
        "normal": stats.norm.logpdf,
        "gamma": lambda x, alpha, beta: stats.gamma.logpdf(x, alpha, scale=1 / beta),
        "student_t": stats.t.logpdf,
        "negative_binomial": lambda x, mu, alpha: stats.nbinom.logpmf(x, alpha, alpha / (alpha + mu)),
        "mvnormal": mvnormal,
    }

    def prepare(self, density, parameters):
        return _with_covariance(parameters) if density == "mvnormal" else parameters


class JAX(Peer):
    name = "JAX"

    def __init__(self, gpu):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")  # else float32 is right to 1e-3 only
        if not gpu:
            jax.config.update("jax_platforms", "cpu")
        self.jax, self.gpu = jax, gpu
        self.put, self.compile = jax.numpy.asarray, jax.jit
        js = jax.scipy.stats
        self.functions = {
            "normal": js.norm.logpdf,
            "gamma": lambda x, alpha, beta: js.gamma.logpdf(x, alpha, scale=1 / beta),
            "student_t": js.t.logpdf,
            "negative_binomial": lambda x, mu, alpha: js.nbinom.logpmf(x, alpha, alpha / (alpha + mu)),
            "mvnormal": self._whiten,
        }

    def _whiten(self, x, mean, factor):
        jnp = self.jax.numpy
        eye = jnp.broadcast_to(jnp.eye(x.shape[1], dtype=x.dtype), factor.shape)
        inverse = self.jax.scipy.linalg.solve_triangular(factor, eye, lower=True)
        z = jnp.einsum("nj,kij->nki", x, inverse) - jnp.einsum("kj,kij->ki", mean, inverse)
        log_det = jnp.log(jnp.diagonal(factor, axis1=1, axis2=2)).sum(-1)
        return -0.5 * (z * z).sum(-1) - (log_det + x.shape[1] * HALF_LOG_2PI)

    def value_and_grad(self, f):
        return self.jax.value_and_grad(f)

    def wait(self, result):
        self.jax.block_until_ready(result)


class JAXStats(JAX):
    """Peer for jax.scipy.stats where good users pick another function."""

    name = "jax.scipy"

    def __init__(self, gpu):
        super().__init__(gpu)
        logpdf = self.jax.scipy.stats.multivariate_normal.logpdf
        self.functions = {"mvnormal": self.jax.vmap(logpdf, in_axes=(None, 0, 0), out_axes=1)}

    def prepare(self, density, parameters):
        return _with_covariance(parameters)


class PyTorch(Peer):
    name = "PyTorch"

    def __init__(self, gpu):
        import torch
        from torch import distributions as d

        self.torch, self.gpu = torch, gpu
        self.asynchronous = gpu
        self.put = lambda a: torch.as_tensor(a, device="cuda" if gpu else "cpu")
        known = {"validate_args": False}
        self.functions = {
            "normal": lambda x, mu, sigma: d.Normal(mu, sigma, **known).log_prob(x),
            "gamma": lambda x, alpha, beta: d.Gamma(alpha, beta, **known).log_prob(x),
            "student_t": lambda x, nu, mu, sigma: d.StudentT(nu, mu, sigma, **known).log_prob(x),
            "negative_binomial": lambda x, mu, alpha: d.NegativeBinomial(
                alpha, probs=mu / (mu + alpha), **known
            ).log_prob(x),
            "mvnormal": self._whiten,  # d.MultivariateNormal takes 100 times as long
        }

    def _whiten(self, x, mean, factor):
        torch = self.torch
        k, d = mean.shape
        inverse = torch.linalg.solve_triangular(factor, torch.eye(d, dtype=x.dtype, device=x.device), upper=False)
        z = (x @ inverse.reshape(k * d, d).T).reshape(-1, k, d) - torch.einsum("kj,kij->ki", mean, inverse)
        log_det = factor.diagonal(dim1=1, dim2=2).log().sum(-1)
        return -0.5 * (z * z).sum(-1) - (log_det + d * HALF_LOG_2PI)

    def value_and_grad(self, f):
        def work(p, x):
            p = [q.detach().requires_grad_() for q in p]
            value = f(p, x)
            return value.detach(), self.torch.autograd.grad(value, p)

        return work

    def wait(self, result):
        if self.gpu:
            self.torch.cuda.synchronize()

    def host(self, result):
        if isinstance(result, tuple):
            return np.array([result[0].item(), *(g.item() for g in result[1])])
        return result.cpu().numpy()


class CuPy(Peer):
    """Peer for CuPy, fused by hand: one elementwise or reduction kernel, terms of parameters alone computed before."""

    name = "CuPy"
    kinds = "table", "sum"
    expressions = {  # of x, p, q, r and the constant c
        "normal": "c - T(0.5) * ((x - p) / q) * ((x - p) / q)",
        "gamma": "c + (p - T(1)) * log(x) - q * x",
        "student_t": "c - T(0.5) * (p + T(1)) * log1p((x - q) / r * ((x - q) / r) / p)",
        "negative_binomial": "c + x * r + lgamma(x + q) - lgamma(x + T(1))",
    }

    def __init__(self, gpu):
        if not gpu:
            raise ImportError("CuPy needs an NVIDIA GPU")
        import cupy
        from cupyx.scipy.special import gammaln

        self.cupy, self.put = cupy, cupy.asarray
        self.functions = {**self.expressions, "mvnormal": self._whiten}
        log = cupy.log

        def constant(density, p, q, r=None):
            if density == "normal":
                return p, q, q, -log(q) - HALF_LOG_2PI
            if density == "gamma":
                return p, q, q, p * log(q) - gammaln(p)
            if density == "student_t":
                return p, q, r, gammaln((p + 1) / 2) - gammaln(p / 2) - 0.5 * log(math.pi * p) - log(r)
            return p, q, log(p / (p + q)), q * log(q / (p + q)) - gammaln(q)

        self.constant = constant
        self.kernels = {}
        for density, e in self.expressions.items():
            inputs = "T x, T p, T q, T r, T c"
            self.kernels[density, "table"] = cupy.ElementwiseKernel(inputs, "T y", f"y = {e}", f"{density}_table")
            self.kernels[density, "sum"] = cupy.ReductionKernel(
                inputs, "T y", e, "a + b", "y = a", "0", f"{density}_sum"
            )

    def bind(self, case):
        x, parameters = case.data()
        x, *parameters = (self.put(a) for a in (x, *parameters))
        if case.dim:
            return lambda: self._whiten(x, *parameters)
        kernel = self.kernels[case.density, case.kind]
        if case.kind == "table":
            column = x[:, None]
            return lambda: kernel(column, *self.constant(case.density, *parameters))
        parameters = [p[:, None] for p in parameters]
        return lambda: kernel(x, *self.constant(case.density, *parameters), axis=1)

    def _whiten(self, x, mean, factor):
        cupy = self.cupy
        k, d = mean.shape
        inverse = cupy.linalg.inv(factor)
        z = (x @ inverse.reshape(k * d, d).T).reshape(-1, k, d) - cupy.einsum("kj,kij->ki", mean, inverse)
        log_det = cupy.log(cupy.diagonal(factor, axis1=1, axis2=2)).sum(-1)
        return -0.5 * (z * z).sum(-1) - (log_det + d * HALF_LOG_2PI)

    def wait(self, result):
        self.cupy.cuda.get_current_stream().synchronize()

    def host(self, result):
        return self.cupy.asnumpy(result)


def _with_covariance(parameters):
    mean, factor = parameters
    return [mean, factor @ factor.transpose(0, 2, 1)]
