"""The benches: their tables, their files, and one of them from its options to its results."""

import json
import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from thorough import THOROUGH, some

import gpustats as gs
from bench import catalogue, differential_equations, draws, local_gp, report, versions

RESULTS = Path(report.__file__).parent / "results"
H200 = {"name": "NVIDIA H200", "backend": "cuda"}


def rows():
    return [
        {"work": "a sum", "peer": "gpustats", "time": "waited_us", "waited_us": 20.0, "enqueued_us": 10.0},
        {"work": "a sum", "peer": "JAX", "time": "waited_us", "waited_us": 50.0, "enqueued_us": 10.0},
        {"work": "a table", "peer": "gpustats", "time": "enqueued_us", "waited_us": 80.0, "enqueued_us": 1234.5},
        {"work": "a table", "peer": "JAX", "time": "enqueued_us", "error": "MemoryError: none left"},
    ]


def test_a_table_has_ratios_of_the_times_that_count_and_says_who_failed():
    found = report.with_ratios(rows())
    text = str(report.Table(found, report.TIMES | report.RATIO | report.GOAL, "A note.\n"))
    lines = [line.split("  ") for line in text.splitlines()]
    words = [[word.strip() for word in line if word.strip()] for line in lines]
    assert words == [
        ["work", "enqueued / µs", "waited / µs", "× ours", "goal / µs"],
        ["a sum", "gpustats", "10", "20", "1.00"],
        ["JAX", "10", "50", "2.50"],
        [],
        ["a table", "gpustats", "1,234", "80", "1.00"],
        ["JAX", "failed"],
        [],
        ["A note."],
    ]


def test_a_failure_is_a_result():
    def work():
        raise MemoryError("none left\nwhere there was some")

    assert report.attempt({"work": "a sum", "peer": "JAX"}, work)["error"] == "MemoryError: none left"
    assert report.attempt({"work": "a sum"}, lambda: {"seconds": 1.0}) == {"work": "a sum", "seconds": 1.0}


def test_libraries_that_are_missing_are_told(tmp_path, capsys):
    class Missing(report.Peer):
        name = "Missing"

        def __init__(self, gpu):
            raise ImportError("No module named 'missing'")

    made = report.Report(report.options("gp_sets", "").parse_args(["--quick", "--out", str(tmp_path)]))
    assert f"results go to {made.path}.*" in capsys.readouterr().err
    assert [peer.name for peer in made.peers([report.GPUStats, Missing])] == ["gpustats"]
    assert capsys.readouterr().err == "without Missing: No module named 'missing'\n"


def test_what_was_measured_before_ctrl_c_is_kept(tmp_path, capsys):
    made = report.Report(report.options("glm", "").parse_args(["--quick", "--out", str(tmp_path)]))
    cases = [SimpleNamespace(title=f"work {i}") for i in range(3)]
    for case in made.wanted(cases):
        os.kill(os.getpid(), signal.SIGINT)
        made.rows.append({"work": case.title, "peer": "gpustats", "time": "waited_us", "waited_us": 20.0})
    assert made.write(report.Table(made.rows, report.TIMES, "")) == 0
    assert [row["work"] for row in json.loads(made.path.with_suffix(".json").read_text())["rows"]] == ["work 0"]
    assert "Ctrl-C again: at once" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        for _ in made.wanted(cases):
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)


def test_two_versions_are_measured_in_turns(tmp_path):
    options = ["--quick", "--only", "normal, sum*f64", "--out", str(tmp_path)]
    assert versions.main([str(Path(gs.__file__).parents[1]), *options]) == 0
    (path,) = tmp_path.glob("versions-*.json")
    found = json.loads(path.read_text())["rows"]
    assert [row["peer"] for row in found] == ["gpustats", "the other version"]
    assert all(0 < row["enqueued_us"] < 1e6 for row in found) and found[1]["ratio"] > 0
    with pytest.raises(ValueError, match="'no-such-one' is neither a folder with gpustats nor a revision"):
        versions.main(["no-such-one", *options])


def test_what_is_measured_elsewhere_has_files_of_its_own():
    devices = [[H200], [H200 | {"name": "NVIDIA H100"}], [H200 | {"backend": "opencl"}], [H200, H200]]
    names = [report.file_name("local_gp", found) for found in devices]
    names += [report.file_name("local_gp", [H200], *others) for others in (["2 workers"], ["quick"])]
    names.append(report.file_name("gp", [H200]))
    assert names[0] == "local-gp-nvidia-h200-cuda"
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_results_that_are_kept_have_the_format_and_the_names_of_new_ones(path):
    found = json.loads(path.read_text())
    assert path.stem == report.file_name(found["bench"], found["devices"], *local_gp.apart(found["options"]))
    assert path.with_suffix(".txt").exists()
    assert found["date"]
    assert all(report.time_of(row) > 0 for row in found["rows"])


def test_every_kept_file_belongs_to_results():
    assert {path.stem for path in RESULTS.iterdir()} == {path.stem for path in RESULTS.glob("*.json")}


@THOROUGH
def test_a_bench_from_its_options_to_its_files(tmp_path, capsys):
    assert draws.main(["--quick", "--only", "poisson(4)", "--peer", "NumPy", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    json_file, text_file = sorted(tmp_path.iterdir())
    assert (json_file.suffix, text_file.suffix) == (".json", ".txt")
    assert json_file.stem.endswith("-quick")
    assert text_file.read_text() in printed
    found = json.loads(json_file.read_text())
    (device,) = found["devices"]
    assert device["name"] in printed
    assert device["driver"] in printed
    assert np.datetime64(found["date"]) >= np.datetime64("today") - 1
    assert found["versions"]["gpustats"] == gs.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert [(row["work"], row["peer"]) for row in found["rows"]] == [
        ("poisson(4), N=1e4 i64", "gpustats"),
        ("poisson(4), N=1e4 i64", "NumPy"),
    ]
    assert all(row["z"] < 6 for row in found["rows"])


@THOROUGH
def test_rows_are_kept_as_soon_as_they_are_known(tmp_path, capsys):
    given = report.options("samplers", "").parse_args(["--quick", "--out", str(tmp_path)])
    kept, row = report.Report(given), rows()[0]
    kept.keep(row, report.TIMES, "A note.\n")
    assert capsys.readouterr().out == "a sum, gpustats: enqueued / µs 10, waited / µs 20\n"
    (json_file,) = tmp_path.glob("*.json")
    assert [found["peer"] for found in json.loads(json_file.read_text())["rows"]] == ["gpustats"]
    kept.keep({"work": "a sum", "peer": "JAX", "error": f"{report.NOT_DONE} 9 s"}, report.TIMES, "A note.\n")
    assert capsys.readouterr().out == "a sum, JAX: not done after 9 s\n"
    assert [found["peer"] for found in json.loads(json_file.read_text())["rows"]] == ["gpustats", "JAX"]
    lines = json_file.with_suffix(".txt").read_text().splitlines()
    assert any(line.split("  ")[-1].strip() == "not done after 9 s" for line in lines) and lines[-1] == "A note."


@pytest.mark.parametrize("limit, work, found", some([
    (1, (time.sleep, 60), {"error": "not done after 1 s"}), (None, (os._exit, 3), {"error": "the process died"}),
    (None, (dict, {"ess": 2.5}), {"ess": 2.5}),
], 2))  # fmt: skip
def test_a_row_may_have_a_process_of_its_own(limit, work, found):
    start = time.monotonic()
    assert report.in_process(limit, *work) == found
    assert time.monotonic() - start < 50


def test_samplers_are_chosen_by_their_names_or_libraries():
    samplers = pytest.importorskip("bench.samplers")
    assert samplers.wanted(["smc", "nutpie"], None) == ["nutpie", "smc"]
    assert set(samplers.wanted(None, ["GPUStats"])) <= {"nutpie", "smc"}
    assert set(samplers.wanted(None, ["numpyro"])) <= {"numpyro"}
    assert "smc" in samplers.wanted(None, None)


def test_ways_of_sums_by_group_in_jax_agree():
    jax = pytest.importorskip("jax")
    from bench import jax_groups

    rng, n = np.random.default_rng(3), 400
    data = {"x": rng.normal(size=n).astype("f4"), "many": rng.integers(0, 150, n), "few": rng.integers(0, 5, n)}
    many, few = (rng.normal(size=(k, 2)).astype("f4") for k in (150, 5))

    def found(way):
        its = jax_groups.arranged(data, ["few", "many"], way, "f4")

        def value(many, few):
            return (its["x"][:, None] * jax_groups.taken(many, its["many"]) * jax_groups.taken(few, its["few"])).sum()

        return jax.jit(jax.grad(value, (0, 1)))(many, few)

    in_few = np.zeros((5, 2))
    np.add.at(in_few, data["few"], data["x"][:, None] * many[data["many"]])
    in_many = np.zeros((150, 2))
    np.add.at(in_many, data["many"], data["x"][:, None] * few[data["few"]])
    assert jax_groups.ways([data["many"], data["few"]]) == jax_groups.FAST
    assert jax_groups.ways([data["many"]]) == ("segments",)
    for way in (jax_groups.PLAIN, *jax_groups.FAST):
        for a, b in zip(found(way), (in_many, in_few)):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_work_that_does_not_exist_is_listed(tmp_path):
    with pytest.raises(SystemExit, match="poisson"):
        draws.main(["--quick", "--only", "poison", "--out", str(tmp_path)])


@pytest.mark.slow
def test_the_census_of_models(tmp_path, capsys):
    pytest.importorskip("pymc")
    (tmp_path / "fused.py").write_text(MODEL)
    (tmp_path / "minibatch.py").write_text(MODEL.replace("observed=y", "observed=pm.Minibatch(y, batch_size=5), total_size=20"))
    (tmp_path / "wrong.py").write_text("def build_model():\n    raise ValueError('no data')\n")
    (tmp_path / "long.py").write_text("import time\n\ndef build_model():\n    time.sleep(100)\n")
    catalogue.main([str(tmp_path), "--out", str(tmp_path / "found.json"), "--limit", "40"])
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["fused"]["terms"] == [["y", 20, True, ""]] and found["fused"]["difference"] < 1e-12
    ((name, _, is_fused, reason),) = found["minibatch"]["terms"]
    assert (name, is_fused) == ("y", False) and "Minibatch" in reason
    assert found["wrong"]["error"] == "ValueError: no data" and found["long"]["error"] == "not done after 40 s"
    assert "4 models, 2 with a term of data, 1 of these with one fused, 1 equal" in capsys.readouterr().out


MODEL = """
import numpy as np
import pymc as pm


def build_model():
    y = np.arange(20.0)
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("mu"), 1.0, observed=y)
    return model, None
"""


def test_differences_between_models():
    assert catalogue.difference([1.0, -np.inf], [1.0, -np.inf]) == 0 and catalogue.difference(2.0, 1.0) == 1
    assert catalogue.difference([3.0, 1e6], [1.0, 1e6]) == 2e-6  # of the largest
    assert catalogue.difference(np.nan, 1.0) == catalogue.difference(1.0, -np.inf) == np.inf


def test_methods_for_differential_equations_agree(tmp_path):
    differential_equations.main(["--quick", "--peer", "gpustats", "--out", str(tmp_path)])
    (path,) = tmp_path.glob("*.json")
    rows = json.loads(path.read_text())["rows"]
    ours, explicit, stiff = "gpustats", "gpustats, dopri5", "gpustats, rodas5p"
    assert [row["peer"] for row in rows] == [ours, explicit, stiff, ours, stiff]
    assert all(row["waited_us"] > 0 and row["difference"] < 1e-4 for row in rows)
