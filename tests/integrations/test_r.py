"""The R package: installed, tested, its vignette run, and its figures equal to those of Python to the last digit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "integrations" / "r"
NEEDED = "r-base-core r-cran-reticulate r-cran-testthat r-cran-knitr"


def r(code: str, library: Path) -> subprocess.CompletedProcess[str]:
    """Run R with this Python and the packages of a library."""
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "R_LIBS": str(library), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["Rscript", "-e", code], env=environment, cwd=library, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("Rscript") is None:
        pytest.skip(f"needs R: apt-get install {NEEDED}, then `make r-test`")
    folder = tmp_path_factory.mktemp("library")
    there = r("for (p in c('reticulate', 'testthat', 'knitr')) stopifnot(requireNamespace(p, quietly = TRUE))", folder)
    if there.returncode:
        pytest.skip(f"needs packages of R: apt-get install {NEEDED}, then `make r-test`")
    copy = folder / "source"
    shutil.copytree(PACKAGE, copy)
    installed = subprocess.run(
        ["R", "CMD", "INSTALL", "--no-docs", f"--library={folder}", str(copy)], capture_output=True, text=True
    )
    assert installed.returncode == 0, installed.stderr
    return folder


@pytest.mark.slow
def test_its_own_tests_pass(library: Path) -> None:
    tests = PACKAGE / "tests" / "testthat"
    done = r(f"library(kanopy); testthat::test_dir('{tests}', stop_on_failure = TRUE, reporter = 'summary')", library)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout.lower()


@pytest.mark.slow
def test_the_vignette_runs_and_its_figures_are_those_of_sdcmicro(library: Path) -> None:
    vignette, page = PACKAGE / "vignettes" / "sdcmicro.Rmd", library / "sdcmicro.md"
    code = f"knitr::opts_chunk$set(error = FALSE); knitr::knit('{vignette}', '{page}', quiet = TRUE)"
    done = r(code, library)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0.01714426" in page.read_text("utf-8") and "proved optimal" in page.read_text("utf-8")


def tables() -> dict[str, tuple[pl.DataFrame, dict[str, Any]]]:
    """Three tables with what is asked of each."""
    people = pl.read_csv(ROOT / "docs" / "files" / "people.csv", schema_overrides={"zip": pl.String})
    adult = kanopy.datasets.adult().head(1500).select("age", "sex", "race", "income", "fnlwgt")
    keys = pl.DataFrame({
        "Key1": [1, 1, 1, 3, 4, 4, 6, 1], "Key2": [2, 2, 2, 3, 3, 3, 2, 2], "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
        "w": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
    })  # fmt: skip
    return {
        "people": (people, {"keys": ["age", "sex"], "sensitive": "diagnosis", "k": 5, "weight": None}),
        "adult": (adult, {"keys": ["age", "sex", "race"], "sensitive": "income", "k": 4, "weight": "fnlwgt"}),
        "keys": (keys, {"keys": ["Key1", "Key2", "Key4"], "sensitive": None, "k": 2, "weight": "w"}),
    }  # fmt: skip


SCRIPT = """
suppressMessages(library(kanopy))
write_values <- function(name, values) cat(name, sprintf("%.17g", as.numeric(unlist(values))), "\\n")
dat <- read.csv("@TABLE@", stringsAsFactors = @FACTORS@, colClasses = c(@ZIP@))
release <- protect(dat, @KEYS@, sensibleVar = @SENSITIVE@, k = @K@)
write_values("losses", release$figures$losses[order(names(release$figures$losses), method = "radix")])
write_values("counts", release$figures[c("rows", "suppressed", "classes", "smallest_class")])
measured <- risk(dat, @KEYS@, weightVar = @WEIGHT@)
write_values("risk", measured$figures[c("classes", "unique_rows", "marketer")])
if (!is.null(measured$figures$survey)) {
  write_values("survey", measured$figures$survey[c("expected_reidentifications", "share", "highest")])
  write_values("rows", measured$rows$individual_risk)
}
write.csv(release$data, "@TABLE@.release", row.names = FALSE, quote = TRUE)
"""


@pytest.mark.slow
def test_figures_equal_those_of_python_to_the_last_digit(library: Path) -> None:
    for name, (frame, asked) in tables().items():
        frame.write_csv(library / f"{name}.csv")
        listed = "c(" + ", ".join(f'"{key}"' for key in asked["keys"]) + ")"
        quoted = {key: f'"{asked[key]}"' if asked[key] else "NULL" for key in ("sensitive", "weight")}
        script = SCRIPT
        for mark, text in {
            "TABLE": f"{name}.csv", "FACTORS": "TRUE" if name == "adult" else "FALSE", "KEYS": listed,
            "SENSITIVE": quoted["sensitive"], "WEIGHT": quoted["weight"], "K": str(asked["k"]),
            "ZIP": 'zip = "character"' if name == "people" else "",
        }.items():  # fmt: skip
            script = script.replace(f"@{mark}@", text)
        done = r(script.replace("colClasses = c()", "colClasses = NA"), library)
        assert done.returncode == 0, done.stderr
        found = {line.split()[0]: [float(each) for each in line.split()[1:]] for line in done.stdout.splitlines()}
        sensitive = {"sensitive": asked["sensitive"]} if asked["sensitive"] else {}
        result = kanopy.anonymize(
            frame.to_dict(as_series=False), kanopy.Job(quasi=asked["keys"], k=asked["k"], **sensitive)
        )
        summary = result.summary()
        assert found["losses"] == [summary["losses"][loss] for loss in sorted(summary["losses"])], name
        assert found["counts"] == [summary[each] for each in ("rows", "suppressed", "classes", "smallest_class")]
        weight = {"sampling_weight": asked["weight"], "missing_means": "any"} if asked["weight"] else {}
        risk = kanopy.assess_risk(frame, quasi=asked["keys"], largest_subset=0, **weight)
        figures = json.loads(json.dumps(risk.to_dict()))
        assert found["risk"] == [figures[each] for each in ("classes", "unique_rows", "marketer")]
        if weight:
            survey = figures["survey"]
            assert found["survey"] == [survey[each] for each in ("expected_reidentifications", "share", "highest")]
            assert found["rows"] == risk.row_risks["individual_risk"].tolist()
        published = pl.read_csv(library / f"{name}.csv.release", infer_schema=False)
        own = pl.DataFrame(result.data).cast(pl.String)
        assert published.rows() == own.rows(), name
