"""What is said of a file's form on the command line or in the job is how every command reads it."""

from __future__ import annotations

import pytest

import kanopy
from kanopy._errors import InputError
from tests.cli.running import Shell
from tests.table.odd_files import excel

pytest.importorskip("fastexcel", reason="pip install 'kanopy[excel]'")
pytest.importorskip("xlsxwriter", reason="pip install 'kanopy[excel]'")

FIRST = [["age", "sex"], *([30 + i % 3, "fm"[i % 2]] for i in range(24))]
SECOND = [["Report", ""], ["Alter", "age"], *([i, 40 + i % 4] for i in range(24))]
JOB = 'k = 2\nsheet = "Second"\nheader-row = 2\n[columns.age]\nrole = "quasi-identifier"\n'
COMMANDS = {
    "anonymize": "anonymize book.xlsx -q age -k 2 -o out.csv",
    "check": "check book.xlsx -q age",
    "risk": "risk book.xlsx -q age",
    "explore": "explore book.xlsx -q age -k 2",
    "compare": "compare book.xlsx -q age -k 2 --algorithms optimal",
    "hierarchy suggest": "hierarchy suggest book.xlsx age",
    "hierarchy build": "hierarchy build book.xlsx age",
    "init": "init book.xlsx -o made.toml",
    "baseline": "baseline book.xlsx --method noise -c age -o out.csv",
}
WITHOUT_JOB = ("init", "baseline", "hierarchy build")


def ages_in(run: object) -> bool:
    """Whether something of the second sheet came out."""
    return any(age in str(run) for age in ("40", "41", "42", "43"))


@pytest.fixture
def book(shell: Shell) -> Shell:
    excel(shell.folder / "book.xlsx", {"First": FIRST, "Second": SECOND})
    (shell.folder / "job.toml").write_text(JOB, encoding="utf-8")
    return shell


@pytest.mark.parametrize("name", COMMANDS)
def test_a_sheet_and_the_row_of_its_names_are_used(book: Shell, name: str) -> None:
    asked = " --sheet Second --header-row 2"
    plain = book(*COMMANDS[name].split(), "--json")
    said = book(
        *(COMMANDS[name] + asked.replace("out", "other") + (" --force" if name == "init" else "")).split(), "--json"
    )
    assert plain.status in (0, 1) and said.status in (0, 1), (plain.words, said.words)
    assert "also has 'Second'" in plain.words and "also has" not in said.words
    if name == "init":
        assert 'sheet = "Second"' in (book.folder / "made.toml").read_text(encoding="utf-8")
    if name in WITHOUT_JOB:
        return
    by_job = book(*COMMANDS[name].split(), "--job", "job.toml", "--json")
    assert by_job.status in (0, 1), by_job.words
    assert "also has" not in by_job.words


def test_the_job_of_init_reads_the_same_table(book: Shell) -> None:
    init = "init book.xlsx --sheet Second --header-row 2 --no-hierarchies"
    assert book(*f"{init} -o own.toml".split()).status == 0
    job = kanopy.Job.read(book.folder / "own.toml")
    assert (job.sheet, job.header_row) == ("Second", 2)
    assert kanopy.Job.from_toml(job.to_toml()) == job
    anonymize = "anonymize book.xlsx --job own.toml"
    run = book(*f"{anonymize} -q age -k 2 -o out.csv".split())
    assert run.status == 0, run.words
    lines = (book.folder / "out.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 25 and all("4" in line for line in lines[1:])


def test_a_program_reads_as_its_job_says(book: Shell) -> None:
    place = str(book.folder / "book.xlsx")
    job = kanopy.Job(quasi=["age"], k=2, sheet="Second", header_row=2)
    result = kanopy.anonymize(place, job)
    assert sorted(set(result.data["age"].cast(str))) == ["40", "41", "42", "43"]
    written = kanopy.anonymize(place, job, output=str(book.folder / "out.csv"))
    assert written.report.to_json() is not None
    assert kanopy.check(place, job=job).rows == 24 and kanopy.assess_risk(place, job).sizes.rows == 24
    with pytest.warns(UserWarning, match="the sheet 'First' is read. It also has 'Second'"):
        assert kanopy.read_table(place).columns == ["age", "sex"]
    assert kanopy.read_table(place, sheet="Second", header_row=2).columns == ["Alter", "age"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--sheet Data", "--sheet has no effect without a workbook"),
        ("--delimiter ab", 'must be one ASCII character such as ";"'),
        ("--header-row 0", "must be a whole number of at least 1"),
        ("--header-row 99", "has no line 99"),
    ],
)
def test_a_wrong_form_is_refused_in_words(shell: Shell, options: str, words: str) -> None:
    shell.write("people.csv", "age,sex\n31,f\n31,m\n")
    run = shell("check", "people.csv", "-q", "age", *options.split())
    assert run.status == 2 and words in run.words, run.words


def test_a_delimiter_settles_a_doubt(shell: Shell) -> None:
    shell.write("two.csv", "age;a,b\n31;1,2\n31;2,3\n")
    assert "has two possible delimiters" in shell("check", "two.csv", "-q", "age").words
    assert shell("check", "two.csv", "-q", "age", "--delimiter", ";", "--json").json["rows"] == 2


def test_a_delimiter_is_one_character() -> None:
    with pytest.raises(InputError, match="delimiter must be"):
        kanopy.Job(quasi=["age"], delimiter="ab")
    assert kanopy.Job(quasi=["age"], delimiter="tab").delimiter == "\t"


def test_the_app_reads_as_its_job_says(book: Shell) -> None:
    from kanopy.app.tasks.worker_state import WorkerState, job_of

    state, place = WorkerState(), str(book.folder / "book.xlsx")
    assert state.frame(place).columns == ["age", "sex"]
    job = job_of(JOB, str(book.folder))
    assert state.frame(place, job).columns == ["Alter", "age"] == state.frame(place).columns
    assert sorted(set(state.prepared(place, job).frame["age"])) == [40, 41, 42, 43]


def test_a_table_read_piece_by_piece_is_read_as_said_or_refused(shell: Shell) -> None:
    shell.write("two.csv", "age;a,b\n" + "31;1,2\n32;1,2\n" * 3)
    stream = "anonymize two.csv -q age -k 3 -o out.csv --engine stream"
    assert "has two possible delimiters" in shell(*stream.split()).words
    assert shell(*stream.split(), "--delimiter", ";").status == 0
    assert "read piece by piece" in shell(*stream.split(), "--delimiter", ";", "--header-row", "2").words
    text = "age,town\n" + "31,Rome\n32,Rome\n" * 40_000 + "31,Köln\n31,Zürich\n32,Nîmes\n32,Málaga\n"
    (shell.folder / "late.csv").write_bytes(text.encode("cp1252"))
    run = "anonymize late.csv -q age -k 3 --rest publish -o late-out.csv"
    late = shell(*f"{run} --engine stream".split())
    assert late.status == 2 and "UTF-8" in late.words and not (shell.folder / "late-out.csv").exists(), late.words
    whole = shell(*f"{run} --engine memory".split())
    assert whole.status == 0 and "cp1252" in whole.words
    assert "Málaga" in (shell.folder / "late-out.csv").read_text(encoding="utf-8")
