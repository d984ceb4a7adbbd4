"""Classes with PyMC's parametrisations, defaults and order of parameters, over gpustats' densities.

Most derive from PyMC's class of the same name, whose `dist` makes of what a user passes the parameters of PyMC's random
variable. These become the parameters of a density, and the random variable is that of `distribution`. The others have a
`dist` of their own: where PyMC's is no class of a distribution, or would lose digits or time on the way.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

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
from ..compiler.graph.types import Parameter, TensorLike, TensorVariable, Variables
from ..density import Density, densities
from ..language.kinds import DENSITY
from ..language.library import library
from ..names.pymc import class_name
from ..transforms import Hurdle, LocScale
from .counterparts import add_counterpart
from .distributions import distribution
from .parameters import as_parameter
from .random_variable import DensityRV, random_variable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: Function that chooses a density, perhaps by its name, and its parameters.
Choice = Callable[..., tuple[str | Density, Sequence[Parameter]]]


class Parametrised(Distribution):
    """Base of the parametrised classes, behind PyMC's own, whose `dist` calls this one's."""

    #: density and its parameters, of those of PyMC's random variable
    of_pymc: Choice

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Wrap the `dist` of a subclass.

        PyTensor makes float16 of numbers such as 0.5: PyMC's `dist` is not to compute with them.
        """
        super().__init_subclass__(**kwargs)
        inner = cls.dist.__func__  # type: ignore[attr-defined]

        @functools.wraps(inner)
        def dist(cls: type[Distribution], *args: object, **kwargs: object) -> TensorVariable:
            with pytensor.config.change_flags(cast_policy="numpy+floatX"):
                return inner(cls, *args, **kwargs)

        cls.dist = classmethod(dist)  # type: ignore[assignment]

    @classmethod
    def dist(cls, *args: Any, **kwargs: Any) -> TensorVariable:
        """Random variable, of the parameters that PyMC's would have: a sequence, the first argument."""
        density, values = cls.of_pymc(*args[0])
        return _random_variable(density, *values, **kwargs)


def _random_variable(density: str | Density, *parameters: Parameter, **kwargs: object) -> TensorVariable:
    """Random variable of a density, or of one that gpustats ships under a name."""
    return distribution(densities[density] if isinstance(density, str) else density).dist(*parameters, **kwargs)


# -- classes that derive from PyMC's


def _argument(variable: TensorVariable, function: str) -> TensorVariable | None:
    """Variable of which another is a function, such as ``"Sigmoid"``; None where it is none."""
    variable = pt.as_tensor_variable(variable)
    node = variable.owner
    if node is None:
        return None
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    last = variable.type.ndim - 1
    last_axis = getattr(op, "axis", last) in (-1, last, (last,))  # a tuple in newer versions
    return node.inputs[0] if type(op).__name__ == function and last_axis else None


def _reciprocal(scale: TensorVariable) -> TensorVariable:
    """Rate of a scale, which PyMC has made of a rate."""
    rate = _argument(scale, "Reciprocal")
    return 1 / scale if rate is None else rate


def _by_logits(name: str, function: str = "Sigmoid") -> Choice:
    """Choice of a density for probabilities, which may be a function of logits.

    Logits have a density of their own: nothing is lost near 1.
    """

    def chosen(*parameters: TensorVariable) -> tuple[str, Sequence[TensorVariable]]:
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
_CHANGED_PARAMETERS: dict[str, Choice] = {
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


# -- classes whose `dist` takes a user's parameters to those of a density


def _sigma(sigma: Parameter, tau: Parameter) -> TensorVariable:
    return get_tau_sigma(tau=tau, sigma=sigma)[1]


def _mean_and_shape(mu: Any, alpha: Any, p: Any, n: Any) -> tuple[Parameter, Parameter]:
    """Mean and shape of a negative binomial distribution."""
    pm.NegativeBinomial.get_n_p(mu=mu, alpha=alpha, p=p, n=n)  # raises where they do not go together
    alpha = n if alpha is None else alpha
    return alpha * (1 - p) / p if mu is None else mu, alpha


def _rice(
    nu: Parameter = None, sigma: Parameter = None, b: Parameter = None, *args: object
) -> tuple[str, Sequence[Parameter]]:
    nu, _, sigma = pm.Rice.get_nu_b(nu, b, sigma)
    return "rice", (nu, sigma)


def _wald(
    mu: Parameter = None, lam: Parameter = None, phi: Parameter = None, alpha: TensorLike = 0.0
) -> tuple[str | Density, Sequence[Parameter]]:
    mu, lam, _ = pm.Wald.get_mu_lam_phi(mu, lam, phi)
    shift = pt.as_tensor_variable(alpha)
    if isinstance(shift, Constant) and not shift.data.any():
        return "wald", (mu, lam)
    return _transformed(LocScale, "wald", _shifted_wald), (mu, lam, check_parameters(shift, shift >= 0, msg="alpha >= 0"), 1.0)


def _shifted_wald(mu: Variable, lam: Variable, loc: Variable, scale: Variable, **kwargs: object) -> TensorVariable:
    return pm.Wald.dist(mu=mu, lam=lam, alpha=loc, **kwargs)


def _hurdle(pymc: type[Distribution], name: str) -> Density:
    return _transformed(Hurdle, name, pymc.dist)


@functools.cache
def _transformed(transform: Callable[[Density], Density], name: str, pymc: Callable[..., TensorVariable]) -> Density:
    """Density that a transform makes, with the function that makes PyMC's random variable of the same distribution."""
    density = transform(densities[name])
    add_counterpart(density, pymc)
    return density


#: Class -> its base, and the density and its parameters, of those that a user passes
_USERS_PARAMETERS: dict[str, tuple[type[Distribution], Choice]] = {
    "ChiSquared": (Continuous, lambda nu: ("chi_squared", (nu,))),
    "HurdleGamma": (
        Continuous,
        lambda psi, alpha=None, beta=None, mu=None, sigma=None:
            (_hurdle(pm.HurdleGamma, "gamma"), (psi, *pm.Gamma.get_alpha_beta(alpha, beta, mu, sigma))),
    ),
    "HurdleLogNormal": (
        Continuous,
        lambda psi, mu=0, sigma=None, tau=None: (_hurdle(pm.HurdleLogNormal, "log_normal"), (psi, mu, _sigma(sigma, tau))),
    ),
    "HurdleNegativeBinomial": (
        Discrete,
        lambda psi, mu=None, alpha=None, p=None, n=None:
            (_hurdle(pm.HurdleNegativeBinomial, "negative_binomial"), (psi, *_mean_and_shape(mu, alpha, p, n))),
    ),
    "HurdlePoisson": (Discrete, lambda psi, mu: (_hurdle(pm.HurdlePoisson, "poisson"), (psi, mu))),
    "LogitNormal": (Continuous, lambda mu=0, sigma=None, tau=None: ("logit_normal", (mu, _sigma(sigma, tau)))),
    "NegativeBinomial": (
        pm.NegativeBinomial,
        lambda mu=None, alpha=None, p=None, n=None, *args: ("negative_binomial", _mean_and_shape(mu, alpha, p, n)),
    ),
    "Rice": (pm.Rice, _rice),
    "Wald": (pm.Wald, _wald),
    "ZeroInflatedBinomial": (Discrete, lambda psi, n, p: ("zero_inflated_binomial", (psi, n, p))),
    "ZeroInflatedNegativeBinomial": (
        Discrete,
        lambda psi, mu=None, alpha=None, p=None, n=None:
            ("zero_inflated_negative_binomial", (psi, *_mean_and_shape(mu, alpha, p, n))),
    ),
    "ZeroInflatedPoisson": (Discrete, lambda psi, mu: ("zero_inflated_poisson", (psi, mu))),
}  # fmt: skip


def _of_user(name: str) -> type[Distribution]:
    """Class of a name whose `dist` takes what a user passes."""
    base, choice = _USERS_PARAMETERS[name]
    own = inspect.signature(choice).parameters

    def dist(cls: type[Distribution], *args: Parameter, **kwargs: Parameter) -> TensorVariable:
        density, values = choice(*args, **{n: kwargs.pop(n) for n in own if n in kwargs})
        return _random_variable(density, *values, **kwargs)

    first, *_, others = inspect.signature(dist).parameters.values()
    dist.__signature__ = inspect.Signature([first, *own.values(), others])  # type: ignore[attr-defined]
    return type(name, (base, Parametrised), {"dist": classmethod(dist), "__module__": __name__})


# -- classes with a `dist` of their own


class Interpolated(pm.Interpolated, Parametrised):
    of_pymc = staticmethod(lambda x_points, pdf_points, cdf_points: ("interpolated", (x_points, pdf_points)))

    @classmethod
    def dist(cls, x_points: ArrayLike, pdf_points: ArrayLike, *args: object, **kwargs: object) -> TensorVariable:
        return super().dist(np.asarray(x_points), np.asarray(pdf_points), *args, **kwargs)


class MvNormal(pm.MvNormal, Parametrised):
    @classmethod
    def dist(
        cls, mu: TensorLike = 0, cov: Parameter = None, *, tau: Parameter = None, chol: Parameter = None,
        lower: bool = True,
        **kwargs: Parameter,
    ) -> TensorVariable:  # fmt: skip
        scale = _scale(kwargs, cov=cov, precision=tau, scale_tril=chol, lower=lower)
        return _random_variable("mvnormal", _mean_vector(mu, scale), **scale, **kwargs)


class MvStudentT(pm.MvStudentT, Parametrised):
    @classmethod
    def dist(
        cls, nu: TensorLike, *, Sigma: Parameter = None, mu: TensorLike = 0, scale: Parameter = None, tau: Parameter = None,
        chol: Parameter = None, lower: bool = True, **kwargs: Parameter,
    ) -> TensorVariable:  # fmt: skip
        if Sigma is not None and scale is not None:
            raise ValueError("Specify only one of scale and Sigma")
        given = _scale(kwargs, cov=scale if Sigma is None else Sigma, precision=tau, scale_tril=chol, lower=lower)
        return _random_variable("mv_student_t", nu, _mean_vector(mu, given), **given, **kwargs)


def _scale(kwargs: dict[str, Parameter], lower: bool, **by_pymc: Parameter) -> dict[str, TensorVariable]:
    """Covariance matrix, or its factor or inverse, by gpustats' name, under which it may be among the keywords, too."""
    kwargs.pop("method", None)  # how PyMC draws
    passed = {n: kwargs.pop(n, None) if v is None else v for n, v in by_pymc.items()}
    matrices = {n: pt.as_tensor_variable(v) for n, v in passed.items() if v is not None}
    if len(matrices) != 1:
        raise ValueError("Incompatible parameterization. Specify exactly one of tau, cov, or chol.")
    ((name, matrix),) = matrices.items()
    if matrix.type.ndim < 2:
        raise ValueError(f"{name} must be a matrix, or several with leading axes; it has {matrix.type.ndim} dimensions")
    return {name: matrix if lower or name != "scale_tril" else matrix.mT}


def _mean_vector(mu: TensorLike, scale: dict[str, TensorVariable]) -> TensorVariable:
    """Mean vector, with as many elements as the matrix has rows."""
    (matrix,), mean = scale.values(), pt.as_tensor_variable(mu)
    if mean.type.ndim and mean.type.shape[-1] != 1:
        return mean
    return pt.broadcast_to(mean, (*(mean.shape[:-1] if mean.type.ndim else ()), matrix.shape[-1]))


class SticksRV(DensityRV):
    """Random variable of the parts of a stick, which starts at their means."""

    def log_probability(self, kind: LogFunction, value: TensorVariable, parameters: Variables) -> Variable:
        """Log-density, -inf where there are more parts, or fewer."""
        terms, length = super().log_probability(kind, value, parameters), value.type.shape[-1]
        if length == self._length:
            return terms
        return pt.switch(pt.eq(pt.shape(value)[-1], self._length), terms, -np.inf)

    def mean(self, size: Variable, parameters: Variables) -> Variable:
        shape, alpha = self._infer_shape(size, parameters), parameters[0][..., None]
        rests = pt.pow(alpha / (1 + alpha), pt.arange(shape[-1]))
        parts = pt.concatenate([rests[..., :-1] / (1 + alpha), rests[..., -1:]], axis=-1)
        return pt.broadcast_to(parts, shape)

    support_point = mean


class StickBreakingWeights(pm.StickBreakingWeights, Parametrised):
    @classmethod
    def dist(cls, alpha: TensorLike, K: TensorLike, *args: object, **kwargs: object) -> TensorVariable:
        """Random variable of the parts; PyMC's own where K is not known when the model is made, or no number of parts."""
        try:
            (number,) = constant_fold([pt.as_tensor_variable(K).squeeze()])
        except NotConstantValueError:
            number = 0
        if number < 1:
            return pm.StickBreakingWeights.dist(alpha, K, *args, **kwargs)
        op = SticksRV(DensityFormula(densities["stick_breaking_weights"]), signature=f"()->({int(number) + 1})")
        return random_variable(op, [as_parameter(alpha)], **kwargs)


class OrderedLogistic(Parametrised, Discrete):
    def __new__(
        cls, name: str, eta: TensorLike, cutpoints: TensorLike, compute_p: bool = True, **kwargs: object
    ) -> Any:
        if compute_p:
            pm.Deterministic(f"{name}_probs", pm.OrderedLogistic.compute_p(eta, cutpoints))
        return super().__new__(cls, name, eta, cutpoints, **kwargs)

    @classmethod
    def dist(cls, eta: TensorLike, cutpoints: TensorLike, **kwargs: object) -> TensorVariable:
        return _random_variable("ordered_logit", eta, cutpoints, **kwargs)


class OrderedProbit(Parametrised, Discrete):
    def __new__(
        cls, name: str, eta: TensorLike, cutpoints: TensorLike, sigma: TensorLike = 1, compute_p: bool = True,
        **kwargs: object,
    ) -> Any:
        if compute_p:
            pm.Deterministic(f"{name}_probs", pm.OrderedProbit.compute_p(eta, cutpoints, sigma))
        return super().__new__(cls, name, eta, cutpoints, sigma, **kwargs)

    @classmethod
    def dist(cls, eta: TensorLike, cutpoints: TensorLike, sigma: Parameter = 1, **kwargs: object) -> TensorVariable:
        return _random_variable("ordered_probit", eta, cutpoints, sigma, **kwargs)


class OrderedMultinomial(Parametrised, Discrete):
    def __new__(cls, name: str, *args: object, compute_p: bool = True, **kwargs: object) -> Any:
        made = super().__new__(cls, name, *args, **kwargs)
        if compute_p:
            pm.Deterministic(f"{name}_probs", made.owner.inputs[-1], dims=kwargs.get("dims"))
        return made

    @classmethod
    def dist(
        cls, eta: TensorLike, cutpoints: TensorLike, n: TensorLike, *args: object, **kwargs: object
    ) -> TensorVariable:
        return _random_variable("multinomial", n, pm.OrderedLogistic.compute_p(eta, cutpoints), **kwargs)


_DENSITY_OF_CLASS = {class_name(name): name for name in library.built_in(DENSITY)}
_classes = [_derived(name) for name in (*_SAME_PARAMETERS, *_CHANGED_PARAMETERS) if name in _DENSITY_OF_CLASS]
_classes += map(_of_user, _USERS_PARAMETERS)
