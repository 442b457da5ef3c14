"""The password of an address is in nothing that a run says or writes, whatever command it is given to."""

from __future__ import annotations

import copy
import json
import pickle
import traceback

import polars as pl
import pytest

import kanopy
from kanopy._address import Address, in_full, secrets_of, without_addresses
from kanopy._errors import DataError, InputError
from kanopy._table.databases import refused, split_postgres
from kanopy._table.sources import read_table
from tests.cli.running import Shell

SECRET = "geheim-7731"
SERVER = f"postgresql://ann:{SECRET}@127.0.0.1:1/clinic"
ADDRESS = f"{SERVER}?sslpassword={SECRET}::visits"
ODD = [
    f"postgresql://ann:{SECRET}@more@127.0.0.1:1/clinic::visits", f"postgresql://ann:a/{SECRET}@127.0.0.1:1/clinic",
    f"postgresql://ann:a::{SECRET}@127.0.0.1:1/clinic::visits", f"postgresql://ann:{SECRET}@[127.0.0.1:1/clinic::visits",
    f"postgresql://ann:{SECRET}@127.0.0.1:1/clinic?nonsense={SECRET}::visits", f"postgres://:{SECRET}@127.0.0.1:1/c::v",
    f"postgresql://ann:{SECRET}@127.0.0.1:1/clinic::select * from t where mail like '%@x'",
    f"https://ann:{SECRET}@127.0.0.1:1/people.csv?token={SECRET}",
]  # fmt: skip
PEOPLE = "age,ill\n31,f\n31,m\n52,m\n52,f\n"
OUT = ("-q", "age", "-k", "2", "-o", "out.csv")
COMMANDS = [
    ("anonymize", "@", *OUT, "--report", "report.html", "--manifest", "manifest.json", "--mapping", "mapping.csv"),
    ("anonymize", "@", *OUT, "--engine", "stream"), ("anonymize", "@", *OUT, "--engine", "database"),
    ("anonymize", "@", "-q", "age", "-k", "2", "-o", f"{SERVER}::release"),
    ("anonymize", "people.csv", "-q", "age", "-k", "2", "-o", "@"),
    ("anonymize", "people.csv", "-q", "age", "-k", "2", "--output=@"),
    ("anonymize", "people.csv", "-q", "age", "-k", "2", "-o@"),
    ("anonymize", "people.csv", *OUT, "--population", "@", "--model", "k-map:2"),
    ("anonymize", "people.csv", *OUT, "--population", "@"), ("anonymize", "people.csv", "@", *OUT),
    ("anonymize", "people.csv", *OUT, "--report", "@"), ("anonymize", "people.csv", *OUT, "--job", "@"),
    ("anonymize", "people.csv", *OUT, "--hierarchies", "@"), ("anonymize", "people.csv", *OUT, "--engine", "@"),
    ("anonymize", "people.csv", "--job", "job.toml", "-o", "out.csv", "--manifest", "manifest.json", "--report", "r.py",
     "--solution", "solution.json"),
    ("anonymize", "people.csv", "--job", "job.toml", "-o", "out.csv", "--model", "k-map:2"),
    ("init", "@"), ("init", "people.csv", "-o", "@"), ("count", "@", "-q", "age", "-o", "counts.parquet"),
    ("check", "@", "-q", "age", "-k", "2"), ("check", "people.csv", "-q", "age", "-k", "2", "--population", "@"),
    ("risk", "@", "-q", "age"), ("risk", "people.csv", "-q", "age", "--beside", "@"),
    ("risk", "people.csv", "-q", "age", "--population", "@"), ("risk", "people.csv", "--released", "@", "-q", "age"),
    ("assess", "@", "people.csv"), ("assess", "people.csv", "@"), ("explore", "@", "-q", "age"),
    ("compare", "@", "-q", "age", "-k", "2"), ("mask", "@", "-o", "out.csv"),
    ("baseline", "noise", "@", "-o", "out.csv"),
    ("apply", "solution.json", "@", "-o", "out.csv"), ("hierarchy", "show", "@"), ("@",),
    ("hierarchy", "suggest", "@", "age"),
]  # fmt: skip


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_no_command_says_or_writes_a_password(more: tuple[str, ...], shell: Shell) -> None:
    job = f'k = 2\npopulation = "{ADDRESS}"\n[columns.age]\nrole = "quasi-identifier"\n'
    ended = set()
    for number, command in enumerate(COMMANDS):
        shell.write("people.csv", PEOPLE)
        shell.write("job.toml", job)
        address = (ADDRESS, *ODD)[number % (1 + len(ODD))] if "@" in command[1:2] else ADDRESS
        ran = shell(*(part.replace("@", address) if "@" in (part, part[-1:]) else part for part in command), *more)
        assert ran.status in (0, 1, 2), (command, ran.error)
        assert SECRET not in ran.out + ran.error, command
        ended.add(ran.status)
        for file in shell.folder.rglob("*"):
            assert SECRET not in file.name
            assert file.name == "job.toml" or file.is_dir() or SECRET.encode() not in file.read_bytes(), (command, file)
    assert ended == {2}


def test_a_release_never_holds_the_password_of_its_population(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from kanopy._table import frames

    read = frames.to_polars
    monkeypatch.setattr(
        frames,
        "to_polars",
        lambda data, *layout: read(pl.read_csv(PEOPLE.encode()) if str(data)[:8] == "postgres" else data, *layout),
    )
    shell.write("people.csv", PEOPLE)
    shell.write("job.toml", f'k = 2\npopulation = "{ADDRESS}"\nmodels = ["k-map:2"]\n'
                '[columns.age]\nrole = "quasi-identifier"\n')  # fmt: skip
    more = ("--manifest", "manifest.json", "--report", "r.py", "--solution", "solution.json")
    ran = shell("anonymize", "people.csv", "--job", "job.toml", "-o", "out.csv", *more)
    assert ran.status == 0 and SECRET not in ran.out + ran.error, ran.error
    written = [file for file in shell.folder.iterdir() if file.name not in ("people.csv", "job.toml")]
    assert len(written) == 4 and all(SECRET.encode() not in file.read_bytes() for file in written)


@pytest.mark.parametrize("address", [ADDRESS, *ODD])
def test_no_error_in_python_holds_a_password(address: str) -> None:
    job = kanopy.Job(quasi=["age"], k=2, models=["k-map:2"], population=address)
    for act in (
        lambda: read_table(address),
        lambda: kanopy.anonymize(address, kanopy.Job(quasi=["age"], k=2)),
        lambda: kanopy.anonymize({"age": [1, 1]}, job),
    ):
        with pytest.raises(InputError) as raised:
            act()
        error: BaseException | None = raised.value
        while error is not None:
            assert SECRET not in "".join(traceback.format_exception_only(error))
            error = error.__cause__ or error.__context__


@pytest.mark.parametrize("address", [ADDRESS, *ODD])
def test_an_address_shows_no_secret_and_keeps_it(address: str) -> None:
    place = Address(address)
    job = kanopy.Job(quasi=["age"], k=2, population=address)
    copies = (
        place,
        str(place),
        Address(place),
        copy.deepcopy(place),
        pickle.loads(pickle.dumps(place)),
        job.population,
    )
    shown = (
        str(place), repr(place), f"{place}", f"{place!r:>90}", " ".join([place]), place + "", place[:],
        json.dumps(place), place.partition("::")[0], without_addresses(f"no {address}"), repr(job), job.to_toml(),
        json.dumps(job.to_dict()), str(InputError(f"no {address!r}")),
    )  # fmt: skip
    assert not [text for text in shown if SECRET in text]
    for same in copies:
        assert same is not None and in_full(same) == address
    assert SECRET in "".join(secrets_of(place))


def test_what_was_written_down_cannot_be_connected_to_and_the_message_says_why() -> None:
    with pytest.raises(DataError, match=r"was stored without its password"):
        read_table(str.__str__(Address(ADDRESS)) + "")


def test_a_driver_that_quotes_the_password_is_not_repeated() -> None:
    server, table, _ = split_postgres(ADDRESS)
    assert table == "visits"
    said = refused(server, ValueError(f"no such user {SECRET} in {SERVER}"))
    assert SECRET not in str(said) and "no such user …" in str(said)
