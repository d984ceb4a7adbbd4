"""The examples run, with few draws."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pymc")
pytest.importorskip("matplotlib")
pytest.importorskip("statsmodels")

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_example(name, tmp_path, capsys):
    picture = tmp_path / "picture.png"
    example(name).main(["--draws", "25", "--out", str(picture)])
    assert picture.stat().st_size > 10_000
    assert "r_hat" in capsys.readouterr().out


def test_the_hierarchical_model_is_that_of_pymc():
    module = example("hierarchical")
    data = module.survey(1)
    models = [module.model(*data, on_device=on_device) for on_device in (True, False)]
    functions = [m.logp_dlogp_function(ravel_inputs=True) for m in models]
    for f in functions:
        f.set_extra_values({})
    point = module.pm.blocking.DictToArrayBijection.map(models[0].initial_point())
    point = point._replace(data=np.random.default_rng(1).normal(scale=0.3, size=point.data.shape))
    (value, gradient), (expected, derivatives) = (f(point) for f in functions)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, derivatives, rtol=1e-9, atol=1e-9)
