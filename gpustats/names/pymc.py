"""PyMC's names of the densities."""

from __future__ import annotations

#: Those that are not the density's in CamelCase.
_OTHERS = {
    "garch11": "GARCH11", "hypergeometric": "HyperGeometric", "lkj_cholesky": "LKJCholesky", "lkj_corr": "LKJCorr",
    "mvnormal": "MvNormal", "ordered_logit": "OrderedLogistic",
}  # fmt: skip

#: Parameters that PyMC calls by another name than the density does.
PARAMETERS = {"mv_student_t": {"cov": "scale"}}

#: The distributions of PyMC's that are densities here.
DISTRIBUTIONS = frozenset(
    """AsymmetricLaplace Bernoulli Beta BetaBinomial Binomial Categorical Cauchy ChiSquared Dirichlet DirichletMultinomial
    DiscreteUniform DiscreteWeibull ExGaussian Exponential GARCH11 Gamma Geometric Gumbel HalfCauchy HalfNormal HalfStudentT
    HyperGeometric Interpolated InverseGamma Kumaraswamy Laplace LogNormal Logistic LogitNormal Moyal Multinomial MvNormal
    MvStudentT NegativeBinomial Normal OrderedLogistic OrderedProbit Pareto Poisson PolyaGamma Rice SkewNormal SkewStudentT
    StickBreakingWeights StudentT Triangular TruncatedNormal Uniform VonMises Wald Weibull ZeroInflatedBinomial
    ZeroInflatedNegativeBinomial ZeroInflatedPoisson ZeroSumNormal""".split()
)


def class_name(name: str) -> str:
    """PyMC's name of a density, or that of the class which `gpustats.pymc` has: student_t -> StudentT."""
    return _OTHERS.get(name) or "".join(part.capitalize() for part in name.split("_"))
