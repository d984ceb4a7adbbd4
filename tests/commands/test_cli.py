"""The command line."""

import filecmp
import shutil
import subprocess
import sys
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


def test_alone_it_helps_and_tells_its_version(capsys):
    assert main([]) == 0
    helped = capsys.readouterr().out
    assert {"devices", "doctor", "list", "source", "generate", "demo", "bench", "completion"} <= first_words(helped)
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"gpustats {gs.__version__}\n")


def test_it_is_a_module_that_runs():
    done = subprocess.run([sys.executable, "-m", "gpustats", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"gpustats {gs.__version__}\n")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["lst"], "list"),
        (["device"], "devices"),
        (["source", "normal", "--shape", "tabel"], "table"),
        (["source", "normal", "--dialect", "openCL"], "opencl"),
        (["completion", "bsh"], "bash"),
    ],
)
def test_misspelt_choices(written, meant, capsys):
    with pytest.raises(SystemExit) as ended:
        main(written)
    told = capsys.readouterr().err
    assert ended.value.code == 2 and f"invalid choice: '{written[-1]}' (choose from " in told
    assert told.endswith(f"): did you mean '{meant}'?\n")


def test_a_choice_near_to_none(capsys):
    with pytest.raises(SystemExit):
        main(["quux"])
    assert capsys.readouterr().err.endswith(")\n")


def first_words(text):
    return {line.split()[0] for line in text.splitlines() if line.strip()}


def test_list_names_every_density_or_those_that_match(capsys):
    assert main(["list"]) == 0
    assert {*gs.densities, *gs.covariances, *gs.series} <= first_words(capsys.readouterr().out)
    assert main(["list", "Gamma"]) == 0
    found = capsys.readouterr().out
    assert {"gamma", "inverse_gamma", "nakagami"} <= first_words(found)  # the last by its description
    assert "covariance" not in found and "student_t" not in found
    assert main(["list", "beta_b*"]) == 0
    assert first_words(capsys.readouterr().out) == {"density", "beta_binomial"}
    assert main(["list", "gama"]) == 1
    assert "nothing matches 'gama': did you mean 'gamma'" in capsys.readouterr().err


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
    assert "is called 'nirmal': did you mean 'normal'" in capsys.readouterr().err
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
    changed, missing, foreign = folder / "gamma_table.cu", folder / "rbf_covariance.cu", folder / "another_covariance.cu"
    users, missing_text = folder / "mine.cu", missing.read_text()
    changed.write_text(changed.read_text() + "\n")
    missing.unlink()
    foreign.write_text(missing_text.replace("rbf", "another"))
    users.write_text("real mine_logpdf(real x) { return -x; }")
    assert main(["generate", str(folder), "--check"]) == 1
    listed = [line.split()[-1] for line in capsys.readouterr().err.splitlines() if "out of date" in line]
    assert listed == sorted(path.name for path in (changed, missing, foreign))
    assert main(["generate", str(folder)]) == 0
    n_files = len(list(kept.iterdir()))
    assert capsys.readouterr().out == f"{folder}: 2 of {n_files} files written, 1 removed\n"
    users.unlink()  # nobody else has
    same, *others = filecmp.cmpfiles(kept, folder, {path.name for path in (*kept.iterdir(), *folder.iterdir())}, shallow=False)
    assert others == [[], []]
    assert {name.partition("_")[2] for name in same} >= {f"{shape}.cu" for shape in shown("density") if "glm" not in shape}


def test_generate_asks_for_a_folder_where_there_is_no_clone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["generate"]) == 1
    assert "no folder 'generated' here: say where the kernels go" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_kernels_of_sequence_models(capsys):
    files = dict(generate.of_series())
    assert {name.removesuffix("_rows.cu") for name in files if name.endswith(".cu")} == set(gs.series)
    assert all("KERNEL(32) " in text and "d_" in text for name, text in files.items() if name.endswith(".cu"))
    assert main(["source", "garch", "--dialect", "opencl"]) == 0
    assert capsys.readouterr().out.strip() == files["garch_rows.cl"].partition("\n")[2].strip()


def test_bench_lists_and_measures_nothing_unless_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench"]) == 0
    listed = capsys.readouterr().out
    assert {"densities", "glm", "vecchia"} <= first_words(listed) and "report" not in first_words(listed)
    assert "bench/results below the current folder" in listed
    assert main(["bench", "gml"]) == 1
    assert "no bench is called 'gml': did you mean 'glm'?" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_all_benches_run_one_after_another_but_those_that_cannot(monkeypatch, capsys):
    from bench import run

    ran = []

    class Bench:
        def __init__(self, name):
            if name == ".glm":
                raise ImportError("No module named 'jax'")
            self.name = name

        def main(self, options):
            ran.append((self.name, options))
            return int(self.name == ".gp")

    monkeypatch.setattr(run.importlib, "import_module", lambda name, package: Bench(name))
    assert run.main(["all", "--quick"]) == 1
    assert ran == [(f".{name}", ["--quick"]) for name in run.benches() if name not in ("glm", "catalogue", "versions")]
    assert capsys.readouterr().err == "without glm: No module named 'jax'\n"


@THOROUGH
def test_bench_measures_and_writes(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert main(["bench", "densities", "--quick", "--only", "normal N×K*f64", "--out", str(tmp_path)]) == 0
    assert {p.suffix for p in tmp_path.iterdir()} == {".txt", ".json", ".png"}
    printed = capsys.readouterr().out
    assert "SciPy" in printed
    assert "failed" not in printed
