"""Bugs of reports and of what runs say: masking, swapping, the bar, notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import kanopy
from kanopy.cli import app
from kanopy.cli import release as commands

WHY = ["beach"] * 4 + ["seaside"] + ["*"] * 4 + ["bird"] * 4 + ["heron"]


@pytest.mark.parametrize("algorithm", ["fusion", "semantic-swapping"])
def test_an_answer_that_reads_as_a_star_is_an_answer(algorithm: str) -> None:
    """It counted as suppressed: the report had one group less than the published file."""
    result = kanopy.mask({"why": WHY}, kanopy.MaskJob(text=["why"], k=3, algorithm=algorithm))
    groups = pl.DataFrame(result.data)["why"].value_counts()
    assert result.suppressed == 0 and result.summary()["suppressed"] == 0
    assert result.classes == result.summary()["groups"] == groups.height
    assert result.smallest_class == result.summary()["smallest_group"] == groups["count"].min()
    assert "*" in result.data["why"]


def test_a_swapping_that_some_k_cannot_do_has_its_page_all_the_same() -> None:
    """The release was fine and its page was not: at a larger k a value cannot be swapped."""
    answers = {"why": ["beach"] * 7 + ["bird"] * 2 + ["heron"]}
    result = kanopy.mask(answers, kanopy.MaskJob(text=["why"], k=2, algorithm="semantic-swapping", targets="any"))
    with pytest.raises(kanopy.KanopyError, match="cannot be swapped"):
        kanopy.mask(answers, kanopy.MaskJob(text=["why"], k=10, algorithm="semantic-swapping", targets="any"))
    page = result.report.to_html()
    assert "What was substituted" in page


def test_the_bar_says_when_files_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It said "verifying" while the report was written."""
    seen: list[str] = []

    class Bar:
        def __enter__(self) -> Any:
            return lambda step: seen.append(step.stage)

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(commands, "progress_bar", Bar)
    data = tmp_path / "people.csv"
    pl.DataFrame({"age": [31, 31, 52, 52]}).write_csv(data)
    options = ["-q", "age", "-k", "2", "-o", str(tmp_path / "out.csv"), "--report", str(tmp_path / "r.html")]
    assert CliRunner().invoke(app, ["anonymize", str(data), *options]).exit_code == 0
    assert set(seen[-3:]) >= {"verifying", "writing the report"} and seen[-1] == "writing the report"


def test_notes_reach_whoever_calls_from_python() -> None:
    """What the command line tells stands in the result, the summary and the report alike."""
    table = {"age": [31, 31, 52, 52], "shoe": [1, 2, 3, 4]}
    result = kanopy.anonymize(table, kanopy.Job(quasi=["age"], k=2))
    (told,) = [note for note in result.notes if "'shoe'" in note]
    assert told in result.summary()["notes"] and told in result.report.to_dict()["notes"]
    assert "it has no role" in result.report.to_html()


def test_files_with_original_values_say_keep_it_inside(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    pl.DataFrame({"age": [31, 31, 52, 52]}).write_csv(data)
    files = [tmp_path / name for name in ("solution.json", "mapping.csv", "again.py")]
    options = ["--solution", str(files[0]), "--mapping", str(files[1]), "--report", str(files[2])]
    wanted = ["anonymize", str(data), "-q", "age", "-k", "2", "-o"]
    done = CliRunner().invoke(app, [*wanted, str(tmp_path / "o.csv"), *options])
    assert done.exit_code == 0, done.output
    said = "".join(done.stderr.split())
    assert "forinternaluse" in said and all(file.name in said for file in files)
    assert "For internal use" in json.loads(files[0].read_text())["keep"]
    assert "keep this script as safe" in files[2].read_text()
    plain = CliRunner().invoke(app, [*wanted, str(tmp_path / "p.csv")])
    assert "for internal use" not in plain.stderr
    masked = kanopy.mask({"why": WHY}, kanopy.MaskJob(text=["why"], k=3)).report.to_dict()
    assert "For internal use" in masked["keep"]


def test_ontologies_of_a_job_file_lie_beside_it_also_when_joined(tmp_path: Path) -> None:
    for name in ("clinic.csv", "a+b.csv", "why.senses.toml"):
        (tmp_path / name).write_text("term,parent\nflu,disease\n", encoding="utf-8")
    text = 'k = 2\nalgorithm = {{ name = "fusion", ontology = "{}", senses = "why.senses.toml" }}\n'
    clinic = str(tmp_path / "clinic.csv")
    for given, wanted in {
        "wordnet+clinic.csv": f"wordnet+{clinic}",
        "clinic.csv + wordnet": f"{clinic}+wordnet",
        "a+b.csv": str(tmp_path / "a+b.csv"),
        "wordnet": "wordnet",
        clinic: clinic,
        "nowhere.csv": "nowhere.csv",
    }.items():
        (tmp_path / "job.toml").write_text(text.format(given), encoding="utf-8")
        read = kanopy.Job.read(tmp_path / "job.toml")
        assert read.parameters["ontology"] == wanted
        assert read.parameters["senses"] == str(tmp_path / "why.senses.toml")
    column = '[columns.why]\nrole = "quasi-identifier"\nhierarchy = { method = "ontology", ontology = "clinic.csv" }\n'
    (tmp_path / "job.toml").write_text(column, encoding="utf-8")
    assert kanopy.Job.read(tmp_path / "job.toml").hierarchies["why"]["ontology"] == clinic
    shown = kanopy.MaskJob(text=["why"], ontology=f"wordnet+{clinic}").to_dict()["algorithm"]["ontology"]
    assert shown == "wordnet+clinic.csv", "names of files, not their folders"
