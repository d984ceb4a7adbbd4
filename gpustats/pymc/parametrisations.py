"""Classes with PyMC's parametrisations, defaults and order of parameters, over gpustats' densities.

Most derive from PyMC's class of the same name, whose `dist` makes of what a user passes the parameters of PyMC's random
variable. These become the parameters of a density, and the random variable is that of `distribution`. The others have a
`dist` of their own: where PyMC's is no class of a distribution, or would lose digits or time on the way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions.continuous import get_tau_sigma
from pymc.distributions.dist_math import check_parameters
from pymc.distributions.distribution import Continuous, Discrete, Distribution
from pymc.exceptions import NotConstantValueError
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.elemwise import Elemwise

from ..compiler.evaluation.density import DensityFormula
from ..compiler.evaluation.formula import LogFunction
from ..density import Density, densities
from ..language.kinds import DENSITY
from ..language.library import library
from ..transforms import Hurdle, LocScale
from .counterparts import add_counterpart, class_name
from .distributions import distribution
from .parameters import as_parameter
from .random_variable import DensityRV, FormulaDistribution


class Parametrised(Distribution):
    """Base of the parametrised classes, behind PyMC's own, whose `dist` calls this one's."""

    #: the name of a density and its parameters, of those of PyMC's random variable
    of_pymc: Callable[..., tuple[str, Sequence[Any]]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Wrap the `dist` of a subclass.

        PyTensor makes float16 of numbers such as 0.5: PyMC's `dist` is not to compute with them.
        """
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith(f"{__package__}."):  # not those that users derive
            cls.__module__, cls.__doc__ = "gpustats.pymc", getattr(pm, cls.__name__).__doc__
        inner = cls.dist.__func__  # type: ignore[attr-defined]

        @functools.wraps(inner)
        def dist(cls: type[Distribution], *args: Any, **kwargs: Any) -> Any:
            with pytensor.config.change_flags(cast_policy="numpy+floatX"):
                return inner(cls, *args, **kwargs)

        cls.dist = classmethod(dist)  # type: ignore[assignment]

    @classmethod
    def dist(cls, *args: Any, **kwargs: Any) -> Any:
        """Random variable, of the parameters that PyMC's would have: a sequence, the first argument."""
        name, values = cls.of_pymc(*args[0])
        return _random_variable(name, *values, **kwargs)


def _random_variable(name: str, *parameters: Any, **kwargs: Any) -> Any:
    """Random variable of a density that gpustats ships."""
    return distribution(densities[name]).dist(*parameters, **kwargs)


# -- classes that derive from PyMC's


def _argument(variable: Any, function: str) -> Any:
    """Variable of which another is a function, such as ``"Sigmoid"``; None where it is none."""
    variable = pt.as_tensor_variable(variable)
    node = variable.owner
    if node is None:
        return None
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    last = variable.type.ndim - 1
    last_axis = getattr(op, "axis", last) in (-1, last, (last,))  # a tuple in newer versions
    return node.inputs[0] if type(op).__name__ == function and last_axis else None


def _reciprocal(scale: Any) -> Any:
    """Rate of a scale, which PyMC has made of a rate."""
    rate = _argument(scale, "Reciprocal")
    return 1 / scale if rate is None else rate


def _by_logits(name: str, function: str = "Sigmoid") -> Callable[..., tuple[str, Sequence[Any]]]:
    """Choice of a density for probabilities, which may be a function of logits.

    Logits have a density of their own: nothing is lost near 1.
    """

    def chosen(*parameters: Any) -> tuple[str, Sequence[Any]]:
        *others, p = parameters
        eta = _argument(p, function)
        return (name, parameters) if eta is None else (f"{name}_logit", (*others, eta))

    return chosen


#: PyMC's classes whose random variables have a density's parameters
_SAME_PARAMETERS = """
    Beta Cauchy Dirichlet DirichletMultinomial DiscreteUniform DiscreteWeibull ExGaussian Geometric Gumbel HalfCauchy
    HalfStudentT InverseGamma Kumaraswamy Laplace LogNormal Logistic Moyal Multinomial Normal Pareto Poisson PolyaGamma
    SkewStudentT StudentT TruncatedNormal Uniform VonMises Weibull
""".split()
#: PyMC's classes -> the density and its parameters, of those of PyMC's random variable
_CHANGED_PARAMETERS: dict[str, Callable[..., tuple[str, Sequence[Any]]]] = {
    "AsymmetricLaplace": lambda b, kappa, mu: ("asymmetric_laplace", (kappa, mu, b)),
    "Bernoulli": _by_logits("bernoulli"),
    "BetaBinomial": lambda n, alpha, beta: ("beta_binomial", (alpha, beta, n)),
    "Binomial": _by_logits("binomial"),
    "Categorical": _by_logits("categorical", "Softmax"),
    "Exponential": lambda scale: ("exponential", (_reciprocal(scale),)),
    "Gamma": lambda alpha, scale: ("gamma", (alpha, _reciprocal(scale))),
    "HalfNormal": lambda location, sigma: ("half_normal", (sigma,)),
    "HyperGeometric": lambda good, bad, n: ("hypergeometric", (good + bad, good, n)),
    "SkewNormal": lambda mu, sigma, alpha: ("skew_normal", (alpha, mu, sigma)),
    "Triangular": lambda lower, c, upper: ("triangular", (lower, upper, c)),
}


def _derived(name: str) -> type[Distribution]:
    """PyMC's class of a name with a random variable of gpustats'."""
    base = getattr(pm, name)
    of_pymc = _CHANGED_PARAMETERS.get(name) or (lambda *parameters: (_DENSITY_OF_CLASS[name], parameters))
    return type(name, (base, Parametrised), {"of_pymc": staticmethod(of_pymc), "__module__": __name__})


# -- classes with a `dist` of their own


class Interpolated(pm.Interpolated, Parametrised):
    of_pymc = staticmethod(lambda x_points, pdf_points, cdf_points: ("interpolated", (x_points, pdf_points)))

    @classmethod
    def dist(cls, x_points: Any, pdf_points: Any, *args: Any, **kwargs: Any) -> Any:
        return super().dist(np.asarray(x_points), np.asarray(pdf_points), *args, **kwargs)


class Rice(pm.Rice, Parametrised):
    @classmethod
    def dist(cls, nu: Any = None, sigma: Any = None, b: Any = None, *args: Any, **kwargs: Any) -> Any:
        nu, _, sigma = cls.get_nu_b(nu, b, sigma)
        return _random_variable("rice", nu, sigma, **kwargs)


class Wald(pm.Wald, Parametrised):
    @classmethod
    def dist(cls, mu: Any = None, lam: Any = None, phi: Any = None, alpha: Any = 0.0, **kwargs: Any) -> Any:
        mu, lam, _ = cls.get_mu_lam_phi(mu, lam, phi)
        alpha = pt.as_tensor_variable(alpha)
        if isinstance(alpha, Constant) and not alpha.data.any():
            return _random_variable("wald", mu, lam, **kwargs)
        alpha = check_parameters(alpha, alpha >= 0, msg="alpha >= 0")
        return distribution(_transformed(LocScale, "wald", _shifted_wald)).dist(mu, lam, loc=alpha, scale=1.0, **kwargs)


def _shifted_wald(mu: Any, lam: Any, loc: Any, scale: Any, **kwargs: Any) -> Any:
    return pm.Wald.dist(mu=mu, lam=lam, alpha=loc, **kwargs)


class NegativeBinomial(pm.NegativeBinomial, Parametrised):
    @classmethod
    def dist(cls, mu: Any = None, alpha: Any = None, p: Any = None, n: Any = None, *args: Any, **kwargs: Any) -> Any:
        return _random_variable("negative_binomial", *_mean_and_shape(mu, alpha, p, n), **kwargs)


def _mean_and_shape(mu: Any, alpha: Any, p: Any, n: Any) -> tuple[Any, Any]:
    """Mean and shape of a negative binomial distribution."""
    pm.NegativeBinomial.get_n_p(mu=mu, alpha=alpha, p=p, n=n)  # raises where they do not go together
    alpha = n if alpha is None else alpha
    return alpha * (1 - p) / p if mu is None else mu, alpha


class MvNormal(pm.MvNormal, Parametrised):
    @classmethod
    def dist(
        cls, mu: Any = 0, cov: Any = None, *, tau: Any = None, chol: Any = None, lower: bool = True, **kwargs: Any
    ) -> Any:
        scale = _scale(kwargs, cov=cov, precision=tau, scale_tril=chol, lower=lower)
        return _random_variable("mvnormal", _mean_vector(mu, scale), **scale, **kwargs)


class MvStudentT(pm.MvStudentT, Parametrised):
    @classmethod
    def dist(
        cls, nu: Any, *, Sigma: Any = None, mu: Any = 0, scale: Any = None, tau: Any = None, chol: Any = None,
        lower: bool = True, **kwargs: Any,
    ) -> Any:  # fmt: skip
        if Sigma is not None and scale is not None:
            raise ValueError("Specify only one of scale and Sigma")
        given = _scale(kwargs, cov=scale if Sigma is None else Sigma, precision=tau, scale_tril=chol, lower=lower)
        return _random_variable("mv_student_t", nu, _mean_vector(mu, given), **given, **kwargs)


def _scale(kwargs: dict[str, Any], lower: bool, **by_pymc: Any) -> dict[str, Any]:
    """Covariance matrix, or its factor or inverse, by gpustats' name, under which it may be among the keywords, too."""
    kwargs.pop("method", None)  # how PyMC draws
    matrices = {n: kwargs.pop(n, None) if v is None else v for n, v in by_pymc.items()}
    matrices = {n: pt.as_tensor_variable(v) for n, v in matrices.items() if v is not None}
    if len(matrices) != 1:
        raise ValueError("Incompatible parameterization. Specify exactly one of tau, cov, or chol.")
    ((name, matrix),) = matrices.items()
    if matrix.type.ndim < 2:
        raise ValueError(f"{name} must be a matrix, or several with leading axes; it has {matrix.type.ndim} dimensions")
    return {name: matrix if lower or name != "scale_tril" else matrix.mT}


def _mean_vector(mu: Any, scale: dict[str, Variable]) -> Variable:
    """Mean vector, with as many elements as the matrix has rows."""
    matrix: Any = next(iter(scale.values()))
    mu = pt.as_tensor_variable(mu)
    short = not mu.type.ndim or mu.type.shape[-1] == 1
    return pt.broadcast_to(mu, (*(mu.shape[:-1] if mu.type.ndim else ()), matrix.shape[-1])) if short else mu


class SticksRV(DensityRV):
    """Random variable of the parts of a stick, which starts at their means."""

    def log_probability(self, kind: LogFunction, value: Variable, parameters: Sequence[Any]) -> Any:
        """Log-density, -inf where there are more parts, or fewer."""
        terms, length = super().log_probability(kind, value, parameters), value.type.shape[-1]
        if length == self._length:
            return terms
        return pt.switch(pt.eq(pt.shape(value)[-1], self._length), terms, -np.inf)

    def mean(self, size: Variable, parameters: Sequence[Any]) -> Variable:
        shape, alpha = self._infer_shape(size, parameters), parameters[0][..., None]
        rests = pt.pow(alpha / (1 + alpha), pt.arange(shape[-1]))
        parts = pt.concatenate([rests[..., :-1] / (1 + alpha), rests[..., -1:]], axis=-1)
        return pt.broadcast_to(parts, shape)

    support_point = mean


class StickBreakingWeights(pm.StickBreakingWeights, Parametrised):
    @classmethod
    def dist(cls, alpha: Any, K: Any, *args: Any, **kwargs: Any) -> Any:
        """Random variable of the parts; PyMC's own where K is not known when the model is made, or no number of parts."""
        try:
            (number,) = constant_fold([pt.as_tensor_variable(K).squeeze()])
        except NotConstantValueError:
            number = 0
        if number < 1:
            return pm.StickBreakingWeights.dist(alpha, K, *args, **kwargs)
        return _sticks(int(number) + 1)._of_variables([as_parameter(alpha)], **kwargs)


@functools.cache
def _sticks(length: int) -> type[FormulaDistribution]:
    """Distribution of the parts of a stick, `length` of them."""
    formula = DensityFormula(densities["stick_breaking_weights"])
    contents = {"__module__": "gpustats.pymc", "rv_op": SticksRV(formula, signature=f"()->({length})")}
    return type("StickBreakingWeights", (FormulaDistribution, Continuous), contents)


class ChiSquared(Parametrised, Continuous):
    @classmethod
    def dist(cls, nu: Any, **kwargs: Any) -> Any:
        return _random_variable("chi_squared", nu, **kwargs)


class LogitNormal(Parametrised, Continuous):
    @classmethod
    def dist(cls, mu: Any = 0, sigma: Any = None, tau: Any = None, **kwargs: Any) -> Any:
        _, sigma = get_tau_sigma(tau=tau, sigma=sigma)
        return _random_variable("logit_normal", mu, sigma, **kwargs)


class OrderedLogistic(Parametrised, Discrete):
    def __new__(cls, name: str, eta: Any, cutpoints: Any, compute_p: bool = True, **kwargs: Any) -> Any:
        if compute_p:
            pm.Deterministic(f"{name}_probs", pm.OrderedLogistic.compute_p(eta, cutpoints))
        return super().__new__(cls, name, eta, cutpoints, **kwargs)

    @classmethod
    def dist(cls, eta: Any, cutpoints: Any, **kwargs: Any) -> Any:
        return _random_variable("ordered_logit", eta, cutpoints, **kwargs)


class OrderedProbit(Parametrised, Discrete):
    def __new__(cls, name: str, eta: Any, cutpoints: Any, sigma: Any = 1, compute_p: bool = True, **kwargs: Any) -> Any:
        if compute_p:
            pm.Deterministic(f"{name}_probs", pm.OrderedProbit.compute_p(eta, cutpoints, sigma))
        return super().__new__(cls, name, eta, cutpoints, sigma, **kwargs)

    @classmethod
    def dist(cls, eta: Any, cutpoints: Any, sigma: Any = 1, **kwargs: Any) -> Any:
        return _random_variable("ordered_probit", eta, cutpoints, sigma, **kwargs)


class OrderedMultinomial(Parametrised, Discrete):
    def __new__(cls, name: str, *args: Any, compute_p: bool = True, **kwargs: Any) -> Any:
        made = super().__new__(cls, name, *args, **kwargs)
        if compute_p:
            pm.Deterministic(f"{name}_probs", made.owner.inputs[-1], dims=kwargs.get("dims"))
        return made

    @classmethod
    def dist(cls, eta: Any, cutpoints: Any, n: Any, *args: Any, **kwargs: Any) -> Any:
        return _random_variable("multinomial", n, pm.OrderedLogistic.compute_p(eta, cutpoints), **kwargs)


class ZeroInflatedPoisson(Parametrised, Discrete):
    @classmethod
    def dist(cls, psi: Any, mu: Any, **kwargs: Any) -> Any:
        return _random_variable("zero_inflated_poisson", psi, mu, **kwargs)


class ZeroInflatedBinomial(Parametrised, Discrete):
    @classmethod
    def dist(cls, psi: Any, n: Any, p: Any, **kwargs: Any) -> Any:
        return _random_variable("zero_inflated_binomial", psi, n, p, **kwargs)


class ZeroInflatedNegativeBinomial(Parametrised, Discrete):
    @classmethod
    def dist(cls, psi: Any, mu: Any = None, alpha: Any = None, p: Any = None, n: Any = None, **kwargs: Any) -> Any:
        return _random_variable("zero_inflated_negative_binomial", psi, *_mean_and_shape(mu, alpha, p, n), **kwargs)


class HurdlePoisson(Parametrised, Discrete):
    @classmethod
    def dist(cls, psi: Any, mu: Any, **kwargs: Any) -> Any:
        return _hurdle(pm.HurdlePoisson, "poisson", psi, mu, **kwargs)


class HurdleNegativeBinomial(Parametrised, Discrete):
    @classmethod
    def dist(cls, psi: Any, mu: Any = None, alpha: Any = None, p: Any = None, n: Any = None, **kwargs: Any) -> Any:
        return _hurdle(pm.HurdleNegativeBinomial, "negative_binomial", psi, *_mean_and_shape(mu, alpha, p, n), **kwargs)


class HurdleGamma(Parametrised, Continuous):
    @classmethod
    def dist(
        cls, psi: Any, alpha: Any = None, beta: Any = None, mu: Any = None, sigma: Any = None, **kwargs: Any
    ) -> Any:
        return _hurdle(pm.HurdleGamma, "gamma", psi, *pm.Gamma.get_alpha_beta(alpha, beta, mu, sigma), **kwargs)


class HurdleLogNormal(Parametrised, Continuous):
    @classmethod
    def dist(cls, psi: Any, mu: Any = 0, sigma: Any = None, tau: Any = None, **kwargs: Any) -> Any:
        _, sigma = get_tau_sigma(tau=tau, sigma=sigma)
        return _hurdle(pm.HurdleLogNormal, "log_normal", psi, mu, sigma, **kwargs)


def _hurdle(pymc: Any, name: str, *parameters: Any, **kwargs: Any) -> Any:
    return distribution(_transformed(Hurdle, name, pymc.dist)).dist(*parameters, **kwargs)


@functools.cache
def _transformed(transform: Callable[[Density], Density], name: str, pymc: Callable[..., Any]) -> Density:
    """Density that a transform makes, with the function that makes PyMC's random variable of the same distribution."""
    density = transform(densities[name])
    add_counterpart(density, pymc)
    return density


_DENSITY_OF_CLASS = {class_name(name): name for name in library.built_in(DENSITY)}
_derived_classes = [_derived(name) for name in (*_SAME_PARAMETERS, *_CHANGED_PARAMETERS) if name in _DENSITY_OF_CLASS]
