"""Importing gpustats, and the names in it."""

import subprocess
import sys

import gpustats as gs


def test_importing_loads_nothing_heavy():
    code = (
        "import sys, gpustats; "
        "heavy = {'pyopencl', 'pycuda', 'cuda.bindings', 'mako', 'pycparser', 'scipy', 'rich', 'matplotlib', 'pytensor'}; "
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_public_names_exist():
    for name in gs.__all__:
        assert getattr(gs, name) is not None
    assert set(gs.__all__) <= set(dir(gs))


def test_densities_are_attributes():
    assert set(gs.densities) <= set(dir(gs))
    assert gs.normal is gs.densities["normal"]
    assert not hasattr(gs, "no_such_density") and "no_such_density" not in gs.densities


def test_registered_densities_are_attributes_too():
    density = gs.register("real mine_logpdf(real x, real mu) {\n return x - mu; }")
    assert gs.mine is density and "mine" in dir(gs) and "mine" in gs.densities and len(gs.densities) > 50
