"""Rosenbrock methods, for stiff differential equations: coefficients, and the text of a step."""

from __future__ import annotations

from typing import NamedTuple

from ..kernels.template import Template
from ..runtime import thresholds

_STEP, _QR = Template.beside(__file__, "rosenbrock"), Template.beside(__file__, "householder")

#: Most states of which the stages of a step are written out.
WRITTEN_OUT = thresholds.ROSENBROCK_WRITTEN_OUT.value


class Rosenbrock(NamedTuple):
    """Stiffly accurate Rosenbrock method: the last stage is the error, and the states behind a step with it the result.

    With J and d the derivatives of the rates f in the states and in the time, stage i solves

        (1 / (h gamma) - J) u_i = f(t + alpha_i h, y + sum_j a_ij u_j) + sum_j c_ij u_j / h + gamma_i h d.
    """

    title: str
    order: int  # of the step's error in the step size, to which the power belongs by which the size is changed
    gamma: float
    alpha: tuple[float, ...]  # times of the stages
    gammas: tuple[float, ...]  # weights of the rates' derivative in the time
    a: tuple[tuple[float, ...], ...]  # weights of the earlier stages in the states, for each
    c: tuple[tuple[float, ...], ...]  # weights of the earlier stages behind the rates
    most: float = 6.0  # by which a step grows

    @property
    def kept(self) -> tuple[str, ...]:
        """Arrays that keep their values from step to step."""
        return ()

    def step(self, name: str, n: int, given: str) -> str:
        """Statements that compute the states `next` behind a step `h`, and their errors `wrong`."""
        return _STEP.text(
            name=name, n=n, given=given, method=self, stages=len(self.alpha), written_out=n <= WRITTEN_OUT
        )  # fmt: skip

    def functions(self, name: str, n: int) -> str:
        """Functions that the step calls."""
        return _QR.text(name=name, n=n)


METHODS = {
    "rodas4": Rosenbrock(
        "Hairer and Wanner's stiff method of orders 4 and 3, RODAS", 4, 0.25,
        (0.0, 0.386, 0.21, 0.63, 1.0, 1.0), (0.25, -0.1043, 0.1035, -0.03620000000000023, 0.0, 0.0),
        (
            (), (1.544,), (0.9466785280815826, 0.2557011698983284), (3.314825187068521, 2.896124015972201, 0.9986419139977817),
            (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895),
            (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0),
        ),
        (
            (), (-5.6688,), (-2.430093356833875, -0.2063599157091915),
            (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
            (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616),
            (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
        ),
    ),
    "rodas5p": Rosenbrock(
        "Steinebach's stiff method of orders 5 and 4, Rodas5P", 5, 0.21193756319429014,
        (0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0),
        (0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0.0, 0.0, 0.0),
        (
            (), (3.0,), (2.849394379747939, 0.45842242204463923),
            (-6.954028509809101, 2.489845061869568, -10.358996098473584),
            (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
            (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946),
            (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1.0),
            (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1.0, 1.0),
        ),
        (
            (), (-14.155112264123755,), (-17.97296035885952, -2.859693295451294),
            (147.12150275711716, -1.41221402718213, 71.68940251302358),
            (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
            (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
            (30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
             -28.087943162872662),
            (37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
             -54.66780262877968, -9.48861652309627),
        ),
    ),
}  # fmt: skip
