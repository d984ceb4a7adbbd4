"""gpustats from R, through reticulate: the page and the example run, and say what is true."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpustats.names import r
from gpustats.names.lines import lines_of

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coming-from" / "r.md"
LEAST = (1, 39)  # reticulate that knows NumPy 2
VERSION = 'cat(if (requireNamespace("reticulate", quietly = TRUE)) as.character(packageVersion("reticulate")))'


def run(*arguments):
    """Output of Rscript."""
    here = os.environ | {"RETICULATE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["Rscript", *map(str, arguments)], capture_output=True, text=True, env=here, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def reticulate():
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    if not (version := run("-e", VERSION)):
        pytest.skip("R has no reticulate")
    if tuple(map(int, version.split(".")[:2])) < LEAST:
        pytest.skip(f"reticulate {version} does not know NumPy 2")
    pytest.importorskip("formulaic")


def test_the_page_has_all_distributions_that_are_known():
    """Its table is the table of names."""
    table = {}
    for line in lines_of(r.DISTRIBUTIONS):
        letter = r.LETTERS.get(line.name, "d")[0]
        first = {"d": "x", "p": "q"}[letter]
        method = r.METHODS[letter]
        call = f"gs${line.density}${method}({line.at or first}, {line.values.replace('=', ' = ')})"
        table[f"{letter}{line.name}({first}, {line.parameters})"] = call
    text = PAGE.read_text(encoding="utf-8").partition("## Distributions")[2].partition("`d`, `p`")[0]
    assert dict(re.findall(r"^\| `(.*?)` \| `(.*?)` \|$", text, re.MULTILINE)) == table


def test_the_page(reticulate, tmp_path):
    """Its blocks run one after another in one session, and print what the page says."""
    blocks = re.findall(r"```r\n(.*?)```\n```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == PAGE.read_text(encoding="utf-8").count("```r\n")
    lines = ["set.seed(1)"]
    for i, (code, _) in enumerate(blocks):
        (tmp_path / f"{i}.R").write_text(code, encoding="utf-8")
        lines += [f'source("{tmp_path.as_posix()}/{i}.R", print.eval = TRUE, encoding = "UTF-8")', 'cat("---\\n")']
    (tmp_path / "all.R").write_text("\n".join(lines), encoding="utf-8")
    assert run(tmp_path / "all.R").split("---\n")[:-1] == [printed for _, printed in blocks]


def test_the_example(reticulate):
    """It compares with R's own functions what it computes, and stops where they differ."""
    out = run(ROOT / "examples" / "from_r.R", 3000, 1000)
    assert "3000 rows" in out and "emulator of 1000 runs" in out and "GLM of normal: weight ~ Time" in out
    assert re.search(r"gamma: alpha = 2\.\d\d ± 0\.0\d", out)


def test_errors_and_missing_values(reticulate, tmp_path):
    (tmp_path / "errors.R").write_text(
        """
library(reticulate)
gs <- import("gpustats")
told <- function(call) tryCatch({ call; "nothing" }, error = function(e) strsplit(conditionMessage(e), "\\n")[[1]][1])
data <- data.frame(y = c(1, 2, 4, 3), n = c(1L, NA, 3L, 5L), f = factor(c("b", NA, "a", "b"), levels = c("b", "a")))
writeLines(told(gs$dnorm))
writeLines(told(gs$GLM$from_formula("y ~ n", data, gs$normal)))
writeLines(told(gs$LocalGP(diag(2), 1:2)$predict(diag(2), start = 6)))
writeLines(told(gs$GLM$from_formula("y ~ factor(n)", data, gs$normal)))
fit <- gs$GLM$from_formula("y ~ f", data, gs$normal, missing = "drop")
writeLines(paste(fit$n_rows, unlist(fit$fit()$labels)[1]))
""",
        encoding="utf-8",
    )
    dnorm, missing, whole, factor, dropped = run(tmp_path / "errors.R").splitlines()
    assert dnorm.endswith("R's dnorm is gpustats.normal.pdf")
    assert "column 'n' has -2147483648 in row 1" in missing and "as.numeric in R" in missing
    assert "start = 6.0: it must be a whole number" in whole
    assert "R's factor is C(g) here" in factor
    assert dropped == "3 f[T.a]"
