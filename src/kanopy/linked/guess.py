"""Keys and links of several tables, found by names and by inclusion of values: what `kanopy init FOLDER` writes.

A key is a column that is different in every row and never missing, and whose name says that it is one. A link leads
from a column to a key whose values include its own (inclusion dependency; De Marchi, Lopes, Petit 2002), where the
names agree. How sure each is, and why, is said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError
from kanopy._files import usable
from kanopy._job.toml_text import toml_key, toml_value
from kanopy._table.sources import KINDS
from kanopy.linked.job import At

if TYPE_CHECKING:
    import polars as pl

KEY_NAME = re.compile(r"(^|_)(id|key|no|nr|num|number|code|uid|uuid|pk)$|^(id|key)(_|$)|[a-z](Id|ID|Key)$", re.ASCII)
PEOPLE = ("person", "patient", "subject", "participant", "customer", "client", "member", "student", "employee",
          "household", "respondent", "individual", "beneficiary", "user", "citizen")  # fmt: skip
NEARLY = 0.95
"""Of the values of a link, so many may be enough: the others are orphans, which are reported."""
SURE, LIKELY = "sure", "likely"


@dataclass(frozen=True)
class FoundLink:
    """A link that names and values suggest, and how sure that is."""

    child: At
    parent: At
    certainty: str
    reason: str


@dataclass(frozen=True)
class GuessedTables:
    """The job of several tables as text, its keys and links with reasons, and what is to be decided."""

    text: str
    unit: At
    keys: Mapping[str, str]
    links: tuple[FoundLink, ...]
    columns: Mapping[str, list[dict[str, Any]]]
    decide: tuple[str, ...]


def tables_in(sources: list[str]) -> dict[str, str]:
    """The tables of a folder, of several files, or of a database, by name.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("person", "visit"):
    ...     _ = (folder / f"{name}.csv").write_text("person_id\\n1\\n")
    >>> list(tables_in([str(folder)])), list(tables_in([str(folder / "person.csv"), "shop.duckdb::visits"]))
    (['person', 'visit'], ['person', 'visits'])
    """
    sources_of_tables: dict[str, str] = {}
    for source in sources:
        path = Path(source)
        if (
            path.suffix.lower() in (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")
            and path.is_file()
            and "::" not in source
        ):
            sources_of_tables |= {name: f"{source}::{name}" for name in _tables_of_database(path)}
        elif path.is_dir():
            files = sorted(file for file in path.iterdir() if _is_table(file))
            sources_of_tables |= {_name(file): str(file) for file in files}
        else:
            sources_of_tables[source.rpartition("::")[2] if "::" in source else _name(usable(path, DataError))] = source
    if len(sources_of_tables) < 2:
        raise DataError(
            f"{', '.join(sources)} holds {len(sources_of_tables)} tables. Give a folder, or several files, with at "
            f"least two."
        )
    return sources_of_tables


def holds_tables(source: str) -> bool:
    """Whether a place holds several tables with different columns: a folder of parts of one table does not."""
    from kanopy.linked.formats.fhir import is_fhir

    if is_fhir(source) and "::" not in source:
        return True
    path = Path(source)
    if (
        path.suffix.lower() in (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")
        and path.is_file()
        and "::" not in source
    ):
        return len(_tables_of_database(path)) > 1
    if not path.is_dir():
        return False
    files = sorted(file for file in path.iterdir() if _is_table(file))[:50]
    from kanopy._table.sources import read_table

    return len({tuple(read_table(str(file)).columns) for file in files}) > 1


def _is_table(file: Path) -> bool:
    return file.is_file() and KINDS.get(file.suffix.lower()) in ("csv", "parquet", "arrow", "statistics", "excel")


def _name(file: Path) -> str:
    return file.name.split(".")[0]


def _tables_of_database(path: Path) -> list[str]:
    import contextlib

    if path.suffix.lower() in (".duckdb", ".ddb"):
        import duckdb

        with duckdb.connect(str(path), read_only=True) as connection:
            rows = connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY table_name"
            ).fetchall()
    else:
        import sqlite3

        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
            rows = base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    return [str(name) for (name,) in rows if not str(name).startswith("sqlite_")]


def find_keys(frames: Mapping[str, pl.DataFrame]) -> dict[str, list[str]]:
    """Per table the columns that may be its key, the likeliest first.

    >>> import polars as pl
    >>> find_keys({"visit": pl.DataFrame({"person_id": [1, 1], "visit_id": [1, 2]})})
    {'visit': ['visit_id']}
    """
    keys_of_tables = {}
    for name, frame in frames.items():
        keys = [
            column for column in frame.columns
            if frame.height and KEY_NAME.search(column) and not frame[column].dtype.is_float()
            and not frame[column].dtype.is_nested() and not frame[column].null_count()
            and frame[column].n_unique() == frame.height
        ]  # fmt: skip
        keys_of_tables[name] = sorted(
            keys, key=lambda column: (not _named_after(column, name), frame.columns.index(column))
        )
    return keys_of_tables


def _words(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _stem(table: str) -> set[str]:
    """What keys of a table may be called after: its name, its singular, its parts."""
    words = {_words(table), *(_words(word) for word in re.split(r"[_\W]+", table))}
    return (
        words
        | {word[:-1] for word in words if word.endswith("s")}
        | {word[:-3] + "y" for word in words if word.endswith("ies")}
    )


def _named_after(column: str, table: str) -> bool:
    """Whether the name of a column says that it is the key of a table."""
    bare = re.sub(r"(id|key|no|nr|num|number|code|uid|uuid|pk)$", "", _words(column))
    return not bare or bare in _stem(table)


def find_links(frames: Mapping[str, pl.DataFrame], keys: Mapping[str, list[str]]) -> list[FoundLink]:
    """Links between tables by names and inclusion.

    >>> import polars as pl
    >>> tables = {"person": pl.DataFrame({"id": [1, 2]}), "visit": pl.DataFrame({"person_id": [1, 1]})}
    >>> found = find_links(tables, find_keys(tables))
    >>> [(str(link.child), str(link.parent), link.certainty) for link in found]
    [('visit.person_id', 'person.id', 'sure')]
    """
    links: list[FoundLink] = []
    for child, frame in frames.items():
        for column in frame.columns:
            ends = [
                At(parent, key) for parent, key_columns in keys.items() if parent != child for key in key_columns[:3]
            ]
            made = [link for end in ends if (link := _link(frames, At(child, column), end)) is not None]
            best = max(made, key=lambda link: (link.certainty == SURE, link.reason), default=None)
            if best is not None and not _other_way(best, links):
                links.append(best)
    return links


def _link(frames: Mapping[str, pl.DataFrame], child: At, parent: At) -> FoundLink | None:
    import polars as pl

    ours, theirs = frames[child.table][child.column], frames[parent.table][parent.column]
    same = _words(child.column) == _words(parent.column) and _named_after(parent.column, parent.table)
    called = _named_after(child.column, parent.table) and bool(
        re.sub(r"(id|key|no|nr|num|number|code)$", "", _words(child.column))
    )
    if not (same or called) or not KEY_NAME.search(child.column) or ours.dtype.is_nested():
        return None
    values = ours.drop_nulls().cast(pl.String).unique()
    values = values.filter(values != "")
    if not len(values):
        return None
    share = int(values.is_in(theirs.cast(pl.String).implode()).sum()) / len(values)
    if share < NEARLY:
        return None
    names = "the names are the same" if same else f"it is called after {parent.table!r}"
    inclusion = "all values are keys there" if share == 1 else f"{share:.1%} of its values are keys there"
    return FoundLink(child, parent, SURE if share == 1 else LIKELY, f"{names}, and {inclusion}")


def _other_way(link: FoundLink, links: list[FoundLink]) -> bool:
    """Whether the opposite link was found: two tables with one row per key each."""
    return any(other_link.child == link.parent and other_link.parent == link.child for other_link in links)


def find_unit(frames: Mapping[str, pl.DataFrame], keys: Mapping[str, list[str]], links: list[FoundLink]) -> At:
    """The key that most tables lead to, one of people where names say so."""
    parents = {
        link.child.table: {
            other_link.parent.table for other_link in links if other_link.child.table == link.child.table
        }
        for link in links
    }

    def below(table: str) -> int:
        reached = {table}
        while more := {child for child, above in parents.items() if above & reached} - reached:
            reached |= more
        return len(reached) - 1

    candidates = [name for name in frames if keys[name]]
    roots = [name for name in candidates if name not in parents] or candidates
    if not roots:
        raise DataError(
            "No table has a column with a different value in every row, so the unit is unknown. Name the unit."
        )

    def people(name: str) -> bool:
        return any(word in _words(name) or word in _words(keys[name][0]) for word in PEOPLE)

    root = max(roots, key=lambda name: (below(name) > 0, people(name), below(name)))
    to = {link.parent.column for link in links if link.parent.table == root}
    return At(root, next((key for key in keys[root] if key in to), keys[root][0]))


def guess_tables(sources: Mapping[str, Any], relative_to: Path | None = None) -> GuessedTables:
    """A first job of several tables, with reasons; `sources` are frames or places by name."""
    from kanopy._job.guess import guess_job
    from kanopy._job.job_file import job_from_text
    from kanopy._table.sources import is_source, read_table
    from kanopy.linked.formats.omop import is_omop, omop_job

    frames = {
        name: read_table(table_source) if is_source(table_source) else table_source
        for name, table_source in sources.items()
    }
    if is_omop({name: frame.columns for name, frame in frames.items()}):
        places = {
            name: _relative(str(table_source) if is_source(table_source) else f"{name}.csv", relative_to)
            for name, table_source in sources.items()
        }
        return of_plain(
            omop_job({name: frame.columns for name, frame in frames.items()}, places), "tables of the OMOP model"
        )
    keys = find_keys(frames)
    links = find_links(frames, keys)
    unit = find_unit(frames, keys, links)
    tables_kept, left_out = _leading_to(unit, frames, links)
    links = [link for link in links if link.child.table in tables_kept and link.parent.table in tables_kept]
    lines = [
        "# Several tables that keys link. Read it, correct it, then run:",
        "#   kanopy anonymize --job THIS_FILE -o FOLDER",
        "",
        f"# {_about_unit(unit, keys, links)}",
        f"unit = {toml_value(str(unit))}",
        "k = 5",
        "# How many rows of a person, besides the row in the table of persons, an attacker may know: 0, 1, 2, … or "
        "all.",
        "known = 1",
        'suppress = "5%"',
        "# How keys are published: numbers (new in every release), hash (keyed hashes, --key-file), none (not "
        "published).",
        'keys = "numbers"',
    ]
    columns: dict[str, list[dict[str, Any]]] = {}
    decide: list[str] = [f"{name} is not linked to {unit}: it is not part of the job." for name in left_out]
    ends = {(end.table, end.column) for link in links for end in (link.child, link.parent)} | {
        (unit.table, unit.column)
    }
    for name in tables_kept:
        source = sources[name]
        relative_path = _relative(str(source) if is_source(source) else f"{name}.csv", relative_to)
        lines += ["", f"[tables.{toml_key(name)}]", f"data = {toml_value(relative_path)}"]
        if not frames[name].height:
            columns[name] = []
            continue
        without = frames[name].drop([column for column in frames[name].columns if (name, column) in ends])
        if not without.width:
            columns[name] = []
            continue
        guessed = guess_job(without, relative_path)
        plain = job_from_text(guessed.text).to_dict()
        columns[name] = guessed.columns
        for setting in ("missing-tokens", "skip-rows"):
            if plain.get(setting):
                lines.append(f"{setting} = {toml_value(plain[setting])}")
        for column_guess in guessed.columns:
            settings = dict(plain["columns"].get(column_guess["column"], {}))
            if settings.get("role") == "unit":
                settings = {"role": "identifier"}
            lines += ["", f"[tables.{toml_key(name)}.columns.{toml_key(column_guess['column'])}]",
                      f"# {column_guess['certainty']}: {' '.join(column_guess['reason'].split())}"]  # fmt: skip
            lines += [f"{key} = {toml_value(value)}" for key, value in settings.items()]
        decide += [f"{name}: {line}" for line in guessed.decide if "unit" not in line]
    for link in links:
        lines += ["", f"# {link.certainty}: {link.reason}", "[[links]]",
                  f"from = {toml_value(str(link.child))}", f"to = {toml_value(str(link.parent))}"]  # fmt: skip
    chosen = {name: key_columns[0] for name, key_columns in keys.items() if key_columns}
    return GuessedTables("\n".join(lines) + "\n", unit, chosen, tuple(links), columns, tuple(decide))


def _relative(location: str, folder: Path | None) -> str:
    """A place as it is written in a job file of a folder."""
    if folder is None or "://" in location:
        return location
    path, sign, table = location.partition("::")
    return Path(os.path.relpath(path, folder)).as_posix() + sign + table


def of_plain(plain: dict[str, Any], what: str) -> GuessedTables:
    """A job whose keys, links and roles a format says."""
    from kanopy.linked.job import linked_toml

    links = tuple(
        FoundLink(At.read(link["from"]), At.read(link["to"]), SURE, f"a key of {what}") for link in plain["links"]
    )
    columns = {
        name: [
            {"column": column, "role": settings["role"], "hierarchy": settings.get("hierarchy", {}).get("method"),
             "certainty": SURE, "reason": f"a column of {what}", "missing": [], "remarks": []}
            for column, settings in table_settings["columns"].items()
        ]
        for name, table_settings in plain["tables"].items()
    }  # fmt: skip
    unit = At.read(plain["unit"])
    head = f"# {what[:1].upper()}{what[1:]}: columns without a role are not published. Read it, correct it, then run:\n"
    text = head + "#   kanopy anonymize --job THIS_FILE -o FOLDER\n\n" + linked_toml(plain)
    return GuessedTables(text, unit, {unit.table: unit.column}, links, columns, ())


def guess_fhir(source: str, relative_to: Path | None = None) -> GuessedTables:
    """A first job for FHIR resources."""
    from kanopy.linked.formats.fhir import fhir_job, read_fhir

    return of_plain(fhir_job(read_fhir(source), _relative(source, relative_to)), "FHIR resources")


def _leading_to(unit: At, frames: Mapping[str, Any], links: list[FoundLink]) -> tuple[list[str], list[str]]:
    reached = {unit.table}
    while more := {link.child.table for link in links if link.parent.table in reached} - reached:
        reached |= more
    ordered = [unit.table, *(name for name in frames if name in reached and name != unit.table)]
    return ordered, [name for name in frames if name not in reached]


def _about_unit(unit: At, keys: Mapping[str, list[str]], links: list[FoundLink]) -> str:
    count = len({link.child.table for link in links})
    tables = "1 table leads" if count == 1 else f"{count} tables lead"
    return f"The promise counts values of {unit}: it is different in every row of {unit.table!r}, and {tables} to it."
