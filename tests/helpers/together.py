"""All functions of a density in one kernel: most of the time that their tests take goes into compiling."""

import functools

import numpy as np

import gpustats as gs
from gpustats.distribution.functions import function_of, lack_of
from gpustats.evaluation.pointwise import Pointwise
from gpustats.language.derived import call_of, derived, resolve_in
from gpustats.language.device_function import Argument
from gpustats.language.kinds import DISTRIBUTION_FUNCTIONS, NUMBERS, QUANTILES


class Together:
    """Functions of a density and of those beside it, as its methods have them; each element of a call chooses one.

    Parameters
    ----------
    density : Density
    endings : sequence of str
        ``logpdf``, or what `Density.function` takes.
    """

    def __init__(self, density, endings):
        log_density = density.log_density
        functions, names, body = log_density.functions, log_density.c_names, ""
        for i, ending in enumerate(endings):
            made = log_density if ending == "logpdf" else function_of(density.definition, ending, functions, {})
            functions = {**functions, **made.functions}
            given = dict(zip(made.c_names, names[-len(made.c_names) :]))  # numbers have no first argument
            body += f"    if (which == {i}) return {call_of(made.function, given)};\n"
        chosen = derived(log_density.function, "chosen", f"{body}    return NAN;\n", resolve_in(functions), ["which"])
        arguments = [*log_density.arguments, Argument("which")]
        self.endings, self.function = list(endings), Pointwise(density.name, chosen, arguments, functions, density.source)

    def __call__(self, ending, first, *parameters):
        """One of the functions, of the parameters and what stands before them, which is anything where nothing does.

        All go in as arrays of the shape that they broadcast to, so that there is one kernel for each type.
        """
        arrays, ranks = [np.asarray(a) for a in (first, *parameters)], [a.rank for a in self.function.arguments]
        shapes = [a.shape[: a.ndim - rank] for a, rank in zip(arrays, ranks)]
        shape = np.broadcast_shapes(*shapes)
        whole = [np.broadcast_to(a, shape + a.shape[len(own) :]) for a, own in zip(arrays, shapes)]
        dtype = np.float32 if all(a.dtype == np.float32 for a in arrays) else np.float64
        return self.function(*whole, np.full(shape, self.endings.index(ending), dtype))


@functools.cache
def together(name):
    """Those that a built-in density has: its logarithm, distribution functions, quantiles, and the numbers that it writes."""
    density = gs.densities[name]
    beside = [*DISTRIBUTION_FUNCTIONS, *QUANTILES, *(n for n in NUMBERS if density.definition.role(n)), "lower", "upper"]
    return Together(density, ["logpdf", *(e for e in dict.fromkeys(beside) if not lack_of(density.definition, e))])
