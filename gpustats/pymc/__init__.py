"""PyMC distributions of gpustats' densities, of those that come along and of one's own.

>>> import numpy as np, pymc as pm, gpustats as gs, gpustats.pymc as gpm
>>> y = np.random.default_rng(1).normal(3.0, 2.0, 1000)
>>> with pm.Model() as model:
...     mu, sigma = pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 5)
...     _ = gpm.Normal("y", mu, sigma, observed=y)
>>> round(float(model.compile_logp()({"mu": 3.0, "sigma_log__": 0.7})), 3)
-2104.608

Everything PyMC does with a model works: NUTS (PyMC's and nutpie's), MAP, SMC, predictive draws, LOO. One step of a sampler
costs one evaluation on the device, of the log-likelihood and all of its gradients together.

There is a class for every density, built in or registered. Those that PyMC has, too, have its name and take what PyMC's
take: all parametrisations, defaults, the same order. The others have their own name in CamelCase, and parameters as in
gpustats, in its order or by name. Time series, conditional autoregressions and normal variables on a grid are PyMC's, with
log-densities from here. Those of matrices take many at once. PyMC's distributions in which there is nothing to evaluate are
handed on as they are, and so is `ZeroSumNormal`, a few squares that take PyTensor less than a call of the device.
`distribution` makes a class of any other density, `Mixture` one of a mixture of any, `GLM` one of observations with a linear
predictor, `GPMarginal` one of noisy observations of a Gaussian process, `GPVecchia` that of very many. `laplace_marginal` is
a likelihood whose effects are integrated out. `linalg` has the Cholesky factorisation, triangular systems and log-determinants
for models that need them. `fused` puts the sums of unmodified models on the device; `batched` evaluates a model at many points
at once, `smc` has kernels for particles.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..compiler.fusion.explain import explain
    from ..compiler.fusion.rewrite import fuse, fused
    from . import linalg
    from .comparison import compute_log_likelihood, loo, waic
    from .distributions import distribution, log_density
    from .glm import GLM
    from .gp import GPMarginal, GPVecchia
    from .laplace import laplace_marginal
    from .many_points.batched import batched
    from .mixture import Mixture

__all__ = [
    "GLM", "GPMarginal", "GPVecchia", "Mixture", "batched", "compute_log_likelihood", "distribution", "explain", "fuse",
    "fused", "laplace_marginal", "linalg", "log_density", "loo", "waic",
]  # fmt: skip

# PyMC is imported when first needed: the processes that evaluate for forked ones need none of it.
_LAZY = {
    "GLM": "glm", "GPMarginal": "gp", "GPVecchia": "gp", "Mixture": "mixture", "distribution": "distributions",
    "laplace_marginal": "laplace",
    "log_density": "distributions", "compute_log_likelihood": "comparison", "loo": "comparison", "waic": "comparison",
    "batched": "many_points.batched", "explain": ".compiler.fusion.explain", "fuse": ".compiler.fusion.rewrite",
    "fused": ".compiler.fusion.rewrite",
}  # fmt: skip


if os.environ.get("GPUSTATS_FUSE"):
    importlib.import_module("..compiler.fusion.rewrite", __name__)


def __getattr__(name: str) -> Any:
    if name in ("linalg", "smc"):
        return importlib.import_module(f".{name}", __name__)
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    if name[:1].isupper():
        try:
            return importlib.import_module(".classes", __name__).class_of(name)
        except AttributeError:
            pass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}, and there is no density of such a name")


def __dir__() -> list[str]:
    names = importlib.import_module(".classes", __name__).class_names()
    return sorted({*(n for n in globals() if n.startswith("__")), *__all__, "smc", *names})
