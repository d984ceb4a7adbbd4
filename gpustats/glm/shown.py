"""The kernel of a GLM that is shown of any density with a linear predictor."""

from .kernel import kernel_source

SHOWN = {"glm": kernel_source}
