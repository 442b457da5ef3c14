"""A key file that is also an output is refused by every treatment with a key and every command; nothing is written."""

from __future__ import annotations

import pytest

from tests.cli.running import Shell

KEY = "0123456789abcdef0123456789abcdefXYZ!"
ROWS = "".join(f"{n},{30 + n},2024-01-{1 + n % 28:02},{100 * n},{10**11 + 37 * n}\n" for n in range(12))
TREATED = {
    "hash": 'columns.person.protect = "hash"',
    "encrypt": 'columns.card.protect = "encrypt"',
    "format-preserving": 'columns.card.protect = "format-preserving"',
    "shift-dates": 'columns.day.protect = { method = "shift-dates", unit = "person" }',
    "noise": 'columns.pay.protect = "noise"',
    "rank-swap": 'columns.pay.protect = { method = "rank-swap", percent = 50 }',
    "shuffle": 'columns.pay.protect = "shuffle"',
    "pram": 'columns.age.protect = "pram"',
    "random rounding": 'columns.pay.protect = { method = "round", base = 500, kind = "random" }',
    "correlated noise": 'columns.pay.protect = { method = "noise", kind = "correlated", together = ["age"] }',
    "pseudonymize": 'pseudonymize = "person"\nk = 2\ncolumns.age.role = "quasi-identifier"\n'
    'columns.person.role = "identifier"',
    "sample": 'sample = 0.9\nk = 2\ncolumns.age.role = "quasi-identifier"',
}


@pytest.fixture
def keyed(shell: Shell) -> Shell:
    """A table, and a key whose file could be any output."""
    (shell.folder / "people.csv").write_text(f"person,age,day,pay,card\n{ROWS}")
    (shell.folder / "key.csv").write_text(KEY)
    return shell


def refused(shell: Shell, *arguments: object) -> None:
    before = shell.files
    run = shell(*map(str, arguments))
    assert run.status == 2 and "key.csv" in run.words and "Traceback" not in run.error, (arguments, run.error)
    assert shell.files == before and (shell.folder / "key.csv").read_text() == KEY


@pytest.mark.parametrize("method", TREATED)
def test_every_treatment_with_a_key(keyed: Shell, method: str) -> None:
    (keyed.folder / "job.toml").write_text(f"{TREATED[method]}\n")
    common = ("anonymize", "people.csv", "--job", "job.toml", "--key-file", "key.csv")
    fine = keyed(*common, "-o", "out.csv")
    assert fine.status == 0, fine.error
    refused(keyed, *common, "-o", "key.csv")
    refused(keyed, *common, "-o", "./key.csv")
    for option in ("--mapping", "--manifest", "--report"):
        refused(keyed, *common, "-o", "new.csv", option, "key.csv")
    if method in ("hash", "shift-dates", "noise", "sample"):
        refused(keyed, *common, "--engine", "stream", "-o", "key.csv")


def test_tokens_are_not_kept_in_what_is_published_or_in_the_key(keyed: Shell) -> None:
    for table in ("out.csv", "key.csv", "people.csv"):
        (keyed.folder / "job.toml").write_text(
            f'columns.person.protect = {{ method = "tokens", table = "{table}" }}\ncolumns.pay.protect = "noise"\n'
        )
        before = keyed.files
        run = keyed("anonymize", "people.csv", "--job", "job.toml", "--key-file", "key.csv", "-o", "out.csv")
        assert run.status == 2 and keyed.files == before, (table, run.error)
        assert (keyed.folder / "key.csv").read_text() == KEY


def test_apply_ledgers_and_several_tables(keyed: Shell) -> None:
    job = 'k = 2\npseudonymize = "person"\ncolumns.age.role = "quasi-identifier"\ncolumns.person.role = "identifier"\n'
    (keyed.folder / "job.toml").write_text(job + 'columns.age.hierarchy = { method = "widths", widths = [6] }\n')
    common = ("anonymize", "people.csv", "--job", "job.toml", "--key-file", "key.csv")
    assert keyed(*common, "-o", "out.csv", "--solution", "solution.json").status == 0
    refused(keyed, *common, "-o", "new.csv", "--solution", "key.csv")
    refused(keyed, "apply", "solution.json", "people.csv", "--key-file", "key.csv", "-o", "key.csv")
    for option in ("--mapping", "--manifest", "--report"):
        refused(
            keyed, "apply", "solution.json", "people.csv", "--key-file", "key.csv", "-o", "new.csv", option, "key.csv"
        )
        refused(keyed, *common, "--ledger", "ledger", "-o", "new.csv", option, "key.csv")
    refused(keyed, *common, "--ledger", "ledger", "-o", "key.csv")
    (keyed.folder / "tables.toml").write_text(
        'unit = "people.person"\nk = 2\nkeys = "hash"\n[tables.people]\ndata = "people.csv"\n'
        'columns.age = { role = "quasi-identifier", hierarchy = { method = "widths", widths = [6] } }\n'
    )
    several = ("anonymize", "--job", "tables.toml", "--key-file", "key.csv", "-o", "released")
    for option in ("--manifest", "--report"):
        refused(keyed, *several, option, "key.csv")
