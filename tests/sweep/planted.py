"""Densities with faults, which a search has to find: exponential distributions, each with something wrong."""

HEAD = """\
// {name}: exponential distribution with a fault
// x: nonnegative    lam: positive
__device__ real {name}_logpdf(real x, real lam)
{{
    return log(lam) - lam * x;
}}
"""
RIGHT = "__device__ real {name}_logsf(real x, real lam)\n{{\n    return -lam * x;\n}}\n"

#: name: what is written beside the density, the property that does not hold, and the function that is wrong
PLANTED = {
    "planted_right": (RIGHT, "quantiles_invert", ""),
    "planted_tail": (
        "__device__ real {name}_logsf(real x, real lam)\n{{\n    return lam * x < 3 ? -lam * x : -lam * x * 1.001;\n}}\n",
        "slope_is_density", "sf",
    ),
    "planted_cancelling": (
        "__device__ real {name}_cdf(real x, real lam)\n{{\n    return 1 - exp(-lam * x);\n}}\n", "quantiles_invert", "cdf",
    ),
    "planted_quantile": (
        RIGHT + "__device__ real {name}_ppf(real q, real lam)\n{{\n"
        "    return -log1p(-q) / lam * (q < 0.5 ? 1 : 1.0000001);\n}}\n",
        "quantiles_invert", "ppf",
    ),
    "planted_mean": (
        RIGHT + "__device__ real {name}_mean(real lam)\n{{\n    return 1.00001 / lam;\n}}\n", "moments_are_integrals", "mean",
    ),
    "planted_slope": (
        RIGHT + "__device__ real {name}_logpdf_grad_lam(real x, real lam)\n{{\n    return 1 / lam - 1.01 * x;\n}}\n",
        "derivatives_are_differences", "d/dlam",
    ),
    "planted_overflow": (
        RIGHT + "__device__ real {name}_ppf(real q, real lam)\n{{\n"
        "    return -log1p(-q) * lam / (lam * lam * 1e300) * 1e300;\n}}\n",
        "quantiles_invert", "ppf",
    ),
}  # fmt: skip


def text(name: str) -> str:
    return (HEAD + PLANTED[name][0]).format(name=name)
