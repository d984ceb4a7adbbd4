"""Linear compartments in row functions: text that takes the amounts of a drug from one time to another, in closed form."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..kernels.template import Template
from .texts import check_name, whole_number

_COMPARTMENTS = Template.beside(__file__, "compartments")


def compartment_steps(
    n_compartments: int, *, absorption: bool = False, infusion: bool = False, name: str = "compartments"
) -> str:
    """Text of a function in C, ``<name>_advance``, that takes the amounts of a drug in compartments to a later time.

    The solution is exact, whatever the rates are, as are its first and second derivatives. Doses are added to the amounts
    between calls, as with `ode_steps`.

    Parameters
    ----------
    n_compartments : int
        Number of compartments, 1 to 3: the central one, from which the drug leaves, and up to two peripheral ones.
    absorption : bool
        Whether a depot is in front of the central compartment, which empties into it at a constant rate.
    infusion : bool
        Whether the drug flows into the central compartment, a constant amount in each unit of time.
    name : str
        Beginning of the names of the text's functions.

    Returns
    -------
    str
        ``void <name>_advance(real start, real end, real *y, [real infusion,] real CL, real V, [real Q2, real V2, [real Q3, real
        V3,]] [real ka])``, which changes the amounts y: depot if there is one, central, peripheral ones. `CL` is the clearance,
        `V`, `V2` and `V3` are volumes, `Q2` and `Q3` flows between the central and a peripheral compartment, both ways, `ka` is
        the rate of absorption. The amounts are nan where a volume is not positive, or a clearance, flow or `ka` is negative.

    Raises
    ------
    ValueError
        For a number of compartments other than 1, 2 and 3, or a name that C does not have.

    References
    ----------
    Gibaldi and Perrier (1982), Pharmacokinetics, second edition, chapter 2 and appendix B.

    Higham (2008), Functions of Matrices: Theory and Computation, theorem 3.11: the derivative of a function of a matrix.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> model = '''
    ... __device__ real patient(const real *time, const real *seen, int n, real dose, real CL, real V, real ka, real sigma)
    ... {
    ...     real y[2] = {dose, 0}, before = 0, loglik = 0;
    ...     for (int i = 0; i < n; i++) {
    ...         drug_advance(before, time[i], y, CL, V, ka);
    ...         loglik += normal_logpdf(seen[i], y[1] / V, sigma);
    ...         before = time[i];
    ...     }
    ...     return loglik;
    ... }'''
    >>> source = gs.compartment_steps(1, absorption=True, name="drug") + model
    >>> hours, seen = gs.sequences([[1.0, 4.0, 9.0]]), gs.sequences([[7.1, 7.4, 4.9]])
    >>> rows = gs.Rows(source, time=hours, seen=seen, dose=np.array([320.0]))
    >>> value, slopes = rows.value_and_grad(CL=2.8, V=32.0, ka=1.5, sigma=0.5)
    >>> print(round(value, 6), round(slopes["CL"], 6))
    -0.828682 -0.019409
    """
    check_name("name", name)
    n, depot, flows_in = whole_number("n_compartments", n_compartments, 1, 3), bool(absorption), bool(infusion)
    peripheral = range(2, n + 1)
    volumes, flows = ["V", *(f"V{i}" for i in peripheral)], ["CL", *(f"Q{i}" for i in peripheral)]
    own = [p for pair in zip(flows, volumes, strict=True) for p in pair]
    series = _Series(n, name, depot, flows_in)
    return _COMPARTMENTS.text(
        name=name, n=n, absorption=depot, infusion=flows_in, volumes=volumes, flows=flows, tables=series.tables(),
        along=[series.along(i) for i in range(n)], turned=[(0, 1)] if n == 2 else [(0, 1), (0, 2), (1, 2)] * 6,
        parameters=[*["infusion"] * flows_in, *own, *["ka"] * depot],
    )  # fmt: skip


class _Series:
    """Series of the exponential function of a matrix in the perturbation `moved`, in the eigenvectors u of the matrix itself.

    Its coefficients are divided differences in one, two and three of the eigenvalues, and in the rate of what flows in: 0 of an
    infusion, and of a depot that at which it empties.
    """

    def __init__(self, n: int, name: str, absorption: bool, infusion: bool):
        self.n, self.name, self.absorption = n, name, absorption
        self.orders = [list(itertools.combinations_with_replacement(range(n), k)) for k in (1, 2, 3)]
        self.sources = {"infused": "0"} if infusion else {}
        self.sources |= {"absorbed": "gone"} if absorption else {}

    def tables(self) -> dict[str, list[str]]:
        """Arrays of divided differences -> their values."""
        found = {}
        for source, nodes in {"": [], **{s: [node] for s, node in self.sources.items()}}.items():
            for k, orders in enumerate(self.orders):
                found[_array(source, k)] = [self.divided(nodes, order) for order in orders]
        if self.absorption:  # derivatives in the rate at which the depot empties
            found["gone_0"] = [self.divided(["gone"] * 2, order) for order in self.orders[0]]
            found["gone_1"] = [self.divided(["gone"] * 2, order) for order in self.orders[1]]
            found["gone_2"] = [self.divided(["gone"] * 3, order) for order in self.orders[0]]
        return found

    def divided(self, nodes: Sequence[str], order: Sequence[int]) -> str:
        points = [*nodes, *(f"rate[{i}]" for i in order)]
        return f"exp({points[0]})" if len(points) == 1 else f"{self.name}_exp{len(points)}({', '.join(points)})"

    def along(self, i: int) -> tuple[str, str, str]:
        """Terms of order 0, 1 and 2 of what is left along eigenvector i."""
        turns = range(self.n)
        slope = [f"moved[{self.n * i + j}] * ({self.weighted((i, j))})" for j in turns]
        curvature = [
            f"moved[{self.n * i + j}] * moved[{self.n * j + k}] * ({self.weighted((i, j, k))})" for j in turns for k in turns
        ]
        if self.absorption:
            slope.append(f"absorbed * later * gone_0[{i}] * u[{i}]")
            curvature.append(f"absorbed * later * later * gone_2[{i}] * u[{i}]")
            curvature += [
                f"absorbed * later * moved[{self.n * i + j}] * gone_1[{self.place((i, j))}] * u[{j}]" for j in turns
            ]
        return self.weighted((i,)), " + ".join(slope), " + ".join(curvature)

    def place(self, order: tuple[int, ...]) -> int:
        return self.orders[len(order) - 1].index(tuple(sorted(order)))

    def weighted(self, order: tuple[int, ...]) -> str:
        """Amounts along the last eigenvector of some, and what flows in along it, with their coefficients."""
        place, k = self.place(order), order[-1]
        terms = [f"{_array('', len(order) - 1)}[{place}] * own[{k}]"]
        return " + ".join([*terms, *(f"{_array(s, len(order) - 1)}[{place}] * {s} * u[{k}]" for s in self.sources)])


def _array(source: str, k: int) -> str:
    """Name of the array of divided differences of a source, with k more eigenvalues than one."""
    return f"{source or 'left'}_{k}"
