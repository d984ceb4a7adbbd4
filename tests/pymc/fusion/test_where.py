"""Where a sum over rows is computed: by how long it is expected to take, which is measured once."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc_models import measured

import gpustats.pymc as gpm
from gpustats.compiler.fusion import where
from gpustats.compiler.fusion.program import program_of
from gpustats.runtime import choose
from gpustats.runtime.speeds import Line

BETWEEN = where.MACHINE_CALL_SECONDS if where.by_machine() else where.CALL_SECONDS


def program(n, term):
    a, x = pt.dscalar("a"), pt.dvector("x")
    return program_of(term(a, x), {x: np.linspace(0, 1, n)})


def test_the_faster_place():
    def curve(a, x):
        return pt.exp(a * x) + a

    gpu, same = measured(1e-13, 1e-12, 1000), measured(1e-10, 1e-9, 1)
    assert [where.estimate(program(n, curve), gpu).pays for n in (1000, 50_000, 10**6)] == [False, False, True]
    assert not any(where.estimate(program(n, curve), same).pays for n in (1000, 10**6))
    few, many = (where.estimate(program(n, curve), gpu) for n in (1000, 10**6))
    np.testing.assert_allclose(few.on_device, 1e-4 + BETWEEN + 1000 * (2e-13 + 1e-12))
    np.testing.assert_allclose(many.by_pytensor, 1e-5 + 10**6 * (2e-10 + 1e-9))
    assert many.reason == "" and "of the device" in few.reason


def test_chains_share_a_cpu():
    assert where.Estimate(1e-3, 3e-3).pays and where.Estimate(1e-3, 3e-3, 2).pays and not where.Estimate(1e-3, 3e-3, 4).pays
    assert where.Estimate(1e-3, 3e-3, 4).reason.endswith("1000 µs of the device, which 4 chains share")
    assert not where.Estimate(1e-3, 1.4e-3).pays and where.Estimate(1e-3, 1.5e-3).pays


def test_numbers_that_are_moved(rng):
    z, x = pt.dvector("z"), pt.dvector("x")
    term = pt.sqr(z - x)
    made = program_of(term, {x: rng.normal(size=1000)}, {z: (1000,)})
    assert made.work.moved == 16_000 and made.work.calls == 0
    np.testing.assert_allclose(
        where.estimate(made, measured(0, 0, 1)).on_device, 1e-4 + BETWEEN + Line(1e-5, 1e-10).seconds(16_000)
    )


def test_measured_once_and_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUSTATS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(where, "RUNS_BY_ROWS", {10: 2, 100: 2, 1000: 2})
    where.speeds.cache_clear()
    asked = choose.get(), pytensor.config.mode, "py"
    with pytensor.config.change_flags(linker="py"):
        found = where.speeds(*asked)
    assert len(found) == 15 and all(line.start >= 0 and line.each >= 0 for line in found.values())
    for side in ("PyTensor", "device"):  # single lines may be 0 for so few rows
        assert any(line.seconds(1000) > 0 for name, line in found.items() if name.startswith(side))
    where.speeds.cache_clear()
    monkeypatch.setattr(where, "measure", None)
    with pytensor.config.change_flags(linker="py"):
        assert where.speeds(*asked) == found
    where.speeds.cache_clear()


def test_what_decides(monkeypatch, rng):
    """Without a number of rows, the expected times; where these cannot be measured, whether there are many rows."""
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("a"), 1, observed=rng.normal(size=600))
        pm.Normal("z", pm.Normal("b"), 1, observed=rng.normal(size=20_000))

    def found():
        return [t.is_fused for t in gpm.explain(model).terms]

    with gpm.fused():
        for speeds, fused in ((measured(1e-9, 1e-9, 10**6), True), (measured(1e-9, 1e-9, 1), False)):
            monkeypatch.setattr(where, "speeds", lambda *asked, speeds=speeds: speeds)
            assert found() == [fused, fused]
        text = str(gpm.explain(model))
        assert "are expected of it" in text and "of the device" in text

        def broken(*asked):
            raise OSError("no compiler")

        monkeypatch.setattr(where, "speeds", broken)
        with pytest.warns(UserWarning, match="could not be measured: OSError: no compiler"):
            assert found() == [False, True]
    with gpm.fused(min_rows=700):
        assert found() == [False, True]


def test_without_a_device(monkeypatch, rng):
    from gpustats.compiler.fusion import rewrite
    from gpustats.errors import NoDeviceError

    def none(*asked):
        raise NoDeviceError("none here")

    with pm.Model() as model:
        pm.Normal("y", pm.Normal("a"), 1, observed=rng.normal(size=600))
    monkeypatch.setattr(rewrite.choose, "get", none)
    with gpm.fused(min_rows=10):
        (term,) = gpm.explain(model).terms
        function = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
    assert term.reason == "there is no device that computes in float64"
    function.set_extra_values({})
    assert np.isfinite(function(np.array([0.1]))[0])
