"""The command line."""

import filecmp
import shutil
from pathlib import Path

import pytest
from thorough import THOROUGH

import gpustats as gs
from gpustats.commands import generate
from gpustats.commands.cli import main
from gpustats.kernels.shown import shown


def test_devices(capsys):
    assert main(["devices"]) == 0
    assert gs.devices()[0].id in capsys.readouterr().out


def test_list_names_every_density(capsys):
    assert main(["list"]) == 0
    first = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert set(gs.densities) <= first


@pytest.mark.parametrize("shape", ["table", "loglik", "gradient"])
@pytest.mark.parametrize("dialect", ["cuda", "opencl"])
def test_source(shape, dialect, capsys):
    assert main(["source", "normal", "--shape", shape, "--dialect", dialect, "--dtype", "float32"]) == 0
    printed = capsys.readouterr().out
    assert printed.strip() == gs.normal.kernel_source(shape, dtype="float32", dialect=dialect).strip()


def test_source_of_a_transform(capsys):
    assert main(["source", "normal", "--transform", "exp"]) == 0
    assert "exp(" in capsys.readouterr().out


def test_source_of_a_file(tmp_path, capsys):
    file = tmp_path / "slope.cu"
    file.write_text("real command_line_slope_logpdf(real x, real a) { return a * x; }")
    assert main(["source", str(file)]) == 0
    assert "command_line_slope_logpdf" in capsys.readouterr().out


def test_indices_of_a_file(tmp_path, capsys):
    file = tmp_path / "third.cu"
    file.write_text("real command_line_third_logpdf(const real *x, real a, int dim)\n{\n    return a * x[2];\n}\n")
    assert main(["source", str(file), "--check"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "line 3, column 16: the index of x may lie outside: the nearest is taken where it does",
        ">    3 |     return a * x[2];",
    ]
    for name in ("dirichlet", "rbf"):
        assert main(["source", name, "--check"]) == 0
        assert "every index" in capsys.readouterr().out


def test_mistakes_are_one_message_and_a_status(tmp_path, capsys):
    assert main(["source", "nirmal"]) == 1
    assert "'nirmal'" in capsys.readouterr().err
    file = tmp_path / "broken.cu"
    file.write_text("real broken_logpdf(real x)\n{\n    return y;\n}\n")
    assert main(["source", str(file)]) == 1
    assert "line 3" in capsys.readouterr().err
    assert main(["source", str(tmp_path / "missing.cu")]) == 1
    assert "missing.cu" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["source", "normal", "--shape", "circle"])


def test_generate_and_check(tmp_path, capsys):
    """The folder that the repository has is up to date, and each kernel shape is in it."""
    kept, folder = Path(__file__).parents[2] / "generated", tmp_path / "generated"
    shutil.copytree(kept, folder)
    changed, missing, foreign = folder / "gamma_table.cu", folder / "rbf_covariance.cu", folder / "another.cu"
    changed.write_text(changed.read_text() + "\n")
    missing.unlink()
    foreign.touch()
    assert main(["generate", str(folder), "--check"]) == 1
    listed = [line.split()[-1] for line in capsys.readouterr().err.splitlines() if "out of date" in line]
    assert listed == sorted(path.name for path in (changed, missing, foreign))
    assert main(["generate", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}: 3 files written or removed\n"
    same, *others = filecmp.cmpfiles(kept, folder, {path.name for path in (*kept.iterdir(), *folder.iterdir())}, shallow=False)
    assert others == [[], []]
    assert {name.partition("_")[2] for name in same} >= {f"{shape}.cu" for shape in shown("density") if "glm" not in shape}


def test_kernels_of_sequence_models(capsys):
    files = dict(generate.of_series())
    assert {name.removesuffix("_rows.cu") for name in files if name.endswith(".cu")} == set(gs.series)
    assert all("KERNEL(32) " in text and "d_" in text for name, text in files.items() if name.endswith(".cu"))
    assert main(["source", "garch", "--dialect", "opencl"]) == 0
    assert capsys.readouterr().out.strip() == files["garch_rows.cl"].partition("\n")[2].strip()


@THOROUGH
def test_bench_measures_and_writes(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert main(["bench", "--quick", "--only", "normal N×K*f64", "--out", str(tmp_path)]) == 0
    assert {p.suffix for p in tmp_path.iterdir()} == {".txt", ".json", ".png"}
    printed = capsys.readouterr().out
    assert "SciPy" in printed
    assert "failed" not in printed
