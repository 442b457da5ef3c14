"""`LinkedJob`: several tables that keys link, a unit that they are about, and how safe all of them must be together.

unit = "person.person_id"
k = 5
known = 1
[tables.person]
data = "person.csv"
[tables.person.columns.zip]
role = "quasi-identifier"
[tables.visit]
data = "visit.csv"
[[links]]
from = "visit.person_id"
to = "person.person_id"
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kanopy._core.units import KNOWN_ALL
from kanopy._errors import JobError, collected, near_miss, refuse, short
from kanopy._files import usable
from kanopy._job.job import Job
from kanopy._job.job_file import job_from_dict
from kanopy._job.parameter_types import DEFAULT_K
from kanopy._job.toml_text import toml_key, toml_value
from kanopy._parameter_types import Share, taken

KEYS = ("numbers", "hash", "none")
"""How keys are published: as fresh numbers, as keyed hashes, or not at all."""
ORPHANS = ("error", "drop")
SETTINGS = ("unit", "k", "known", "suppress", "metric", "algorithm", "keys", "orphans", "missing", "unknown")
TABLE_SETTINGS = (
    "data", "columns", "models", "missing", "unknown", "missing-tokens", "skip-rows", "rest", "allow-dependent",
    "encoding", "delimiter", "sheet", "header-row",
)  # fmt: skip
PARTS = ("tables", "links", "domains", "shift-dates")


@dataclass(frozen=True, order=True)
class At:
    """A column of a table.

    >>> At.read("visit.person_id"), str(At("visit", "person_id"))
    (At(table='visit', column='person_id'), 'visit.person_id')
    """

    table: str
    column: str

    @classmethod
    def read(cls, text: Any) -> At:
        """From `table.column`."""
        if not isinstance(text, str) or not all(piece for piece in text.partition(".")):
            raise JobError(f"{short(text)} does not name a column of a table. Write table.column, such as person.zip.")
        table, _, column = text.partition(".")
        return cls(table, column)

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True)
class Link:
    """A foreign key: every value of `child` is a value of `parent`, which is different in every row of its table.

    `together` says that an attacker who knows a row of the child knows the row of its parent too.
    """

    child: At
    parent: At
    together: bool = False


@dataclass(frozen=True)
class ShiftDates:
    """Dates that are shifted by so many days per person, up to `days` back or forth: differences within one stay."""

    days: int
    columns: tuple[At, ...]


@dataclass(frozen=True)
class LinkedJob:
    """What to publish of several linked tables, and how safe it must be together.

    `known` is m, the number of rows besides the person's own that an attacker may know of one person, or "all".
    `domains` are columns of different tables whose equal values get one label. `tables` maps names to the settings of
    each, in the form of a job file.

    >>> job = LinkedJob.from_dict({
    ...     "unit": "person.id", "tables": {"person": {"data": "p.csv"}, "visit": {"data": "v.csv"}},
    ...     "links": [{"from": "visit.id", "to": "person.id"}]})
    >>> job.known, job.k, job.links[0].child.table
    ('all', 5, 'visit')
    """

    unit: At
    tables: Mapping[str, Mapping[str, Any]]
    links: tuple[Link, ...] = ()
    k: int = DEFAULT_K
    known: int | str = KNOWN_ALL
    suppress: float = 0.0
    metric: str = "loss"
    algorithm: str = "optimal"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    keys: str = "numbers"
    orphans: str = "error"
    domains: tuple[tuple[At, ...], ...] = ()
    shift_dates: ShiftDates | None = None
    folder: Path | None = None
    plain: Mapping[str, Any] = field(default_factory=dict)
    """The job as it was written, for the manifest."""

    # ---- reading ------------------------------------------------------------------------------------------

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], folder: Path | None = None) -> LinkedJob:
        """From the content of a job file; paths are relative to `folder`. Every mistake is reported at once."""
        mistakes = [
            f"The job has an unknown setting {short(key)}. {near_miss(str(key), [*SETTINGS, *PARTS])}"
            for key in plain
            if key not in SETTINGS and key not in PARTS
        ]
        tables = plain.get("tables")
        if (
            not isinstance(tables, Mapping)
            or not tables
            or not all(isinstance(table_settings, Mapping) for table_settings in tables.values())
        ):
            raise JobError('tables must hold a part per table: [tables.person] with data = "person.csv".')
        options: dict[str, Any] = {
            "tables": {str(name): dict(table_settings) for name, table_settings in tables.items()},
            "folder": folder,
        }
        options["plain"] = dict(plain)
        for name, table_settings in options["tables"].items():
            mistakes += [
                f"The table {name!r} has an unknown setting {short(key)}. {_elsewhere(key)}"
                for key in table_settings
                if key not in TABLE_SETTINGS
            ]
            if "data" not in table_settings:
                mistakes.append(f'The table {name!r} has no data. Write data = "FILE" below [tables.{name}].')
            if not name or any(sign in name for sign in '/\\\0:*?"<>|'):
                mistakes.append(f"{short(name)} cannot be the name of a table, because files get this name.")
            if "." in name:
                mistakes.append(
                    f"The name of the table {name!r} contains a full stop, which separates table and column."
                )
        with collected(mistakes):
            if "unit" not in plain:
                raise JobError(
                    'The job names no unit, the column that identifies the person (unit = "person.person_id").'
                )
            options["unit"] = At.read(plain["unit"])
        with collected(mistakes):
            options["links"] = tuple(_link(link) for link in _listed(plain.get("links", ()), "links"))
        with collected(mistakes):
            options["domains"] = tuple(_domain(domain) for domain in _listed(plain.get("domains", ()), "domains"))
        with collected(mistakes):
            options["shift_dates"] = _shift(plain.get("shift-dates"))
        with collected(mistakes):
            options |= _settings(plain)
        refuse(mistakes)
        job = cls(**options)
        job.check()
        return job

    @classmethod
    def read(cls, path: str | Path) -> LinkedJob:
        """From a `.toml` or `.json` job file."""
        job_path = Path(path)
        plain = read_plain(job_path)
        return cls.from_dict(plain, job_path.parent)

    def check(self) -> None:
        """Refuse what names no table."""
        named = [self.unit, *(end for link in self.links for end in (link.child, link.parent)),
                 *(at for domain in self.domains for at in domain),
                 *(self.shift_dates.columns if self.shift_dates else ())]  # fmt: skip
        refuse([
            f"{at} names the table {at.table!r}, which the job does not have. {near_miss(at.table, self.tables)}"
            for at in dict.fromkeys(named)
            if at.table not in self.tables
        ])  # fmt: skip
        for name in self.tables:
            self.job_of(name)

    @property
    def known_rows(self) -> int | None:
        """`known` as a number; `None` where all rows of a person may be known."""
        return None if self.known == KNOWN_ALL else int(self.known)

    def source_of(self, table: str) -> Any:
        """Where a table is: a frame, or a path or address, relative to the job file."""
        data = self.tables[table]["data"]
        if isinstance(data, str) and self.folder is not None and "://" not in data:
            return str(self.folder / data)  # `::table` behind a place stays where it is
        return data

    def key_columns(self, table: str) -> tuple[str, ...]:
        """The columns of a table that are keys: of a link, or the unit."""
        ends = [end for link in self.links for end in (link.child, link.parent)]
        return tuple(dict.fromkeys(at.column for at in (*ends, self.unit) if at.table == table))

    def job_of(self, table: str) -> Job:
        """The job of one table: its roles, hierarchies and models, and what holds for all tables."""
        plain = {key: value for key, value in self.tables[table].items() if key != "data"}
        columns = {
            name: dict(settings) if isinstance(settings, Mapping) else settings
            for name, settings in plain.get("columns", {}).items()
        }
        mistakes = []
        for name in self.key_columns(table):
            if columns.setdefault(name, {"role": "identifier"}).get("role") not in ("identifier", "unit"):
                mistakes.append(
                    f"{table}.{name} is a key, and keys are never published unchanged. Leave its role out; keys = "
                    '"numbers", "hash" or "none" states how they are published.'
                )
            columns[name] = {"role": "identifier"}
        refuse(mistakes)
        whole = {"k": self.k, "suppress": self.suppress, "metric": self.metric, **self._all_tables, **plain}
        whole |= {"suppressed-rows": "drop", "columns": columns}
        try:
            return job_from_dict(whole, self.folder)
        except JobError as error:
            raise JobError(f"The table {table!r}: {error}") from error

    @property
    def _all_tables(self) -> dict[str, Any]:
        return {key: self.plain[key] for key in ("missing", "unknown") if key in self.plain}

    def to_toml(self) -> str:
        """The job as the text of a TOML file."""
        return linked_toml(self.plain)


def is_linked(plain: Any) -> bool:
    """Whether the content of a job file is about several tables.

    >>> is_linked({"k": 5, "columns": {}}), is_linked({"tables": {}})
    (False, True)
    """
    return isinstance(plain, Mapping) and "tables" in plain


def read_plain(path: Path) -> dict[str, Any]:
    """The content of a job file."""
    try:
        text = usable(path, JobError).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise JobError(f"There is no job file {str(path)!r}. `kanopy init FOLDER` writes one.") from None
    except (OSError, ValueError) as error:
        raise JobError(f"The job file {str(path)!r} cannot be read: {error}.") from error
    try:
        content = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        language = "JSON" if path.suffix == ".json" else "TOML"
        raise JobError(f"The job file {str(path)!r} is not valid {language}: {error}.") from error
    return dict(content) if isinstance(content, Mapping) else {}


def linked_toml(plain: Mapping[str, Any]) -> str:
    """A job of several tables as the text of a TOML file."""
    lines = [f"{key} = {toml_value(value)}" for key, value in plain.items() if key not in PARTS]
    if shift := plain.get("shift-dates"):
        lines += ["", "[shift-dates]", *(f"{key} = {toml_value(value)}" for key, value in shift.items())]
    for name, table_settings in plain.get("tables", {}).items():
        lines += ["", f"[tables.{toml_key(name)}]"]
        lines += [
            f"{key} = {toml_value(_written(value))}"
            for key, value in table_settings.items()
            if key not in ("columns", "models")
        ]
        for column, settings in table_settings.get("columns", {}).items():
            lines += ["", f"[tables.{toml_key(name)}.columns.{toml_key(column)}]"]
            lines += [f"{key} = {toml_value(value)}" for key, value in settings.items()]
        for model in table_settings.get("models", ()):
            lines += ["", f"[[tables.{toml_key(name)}.models]]"]
            lines += [f"{toml_key(key)} = {toml_value(value)}" for key, value in model.items()]
    for section in ("links", "domains"):
        for entry in plain.get(section, ()):
            lines += ["", f"[[{section}]]", *(f"{key} = {toml_value(value)}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


def _written(value: Any) -> Any:
    return str(value) if isinstance(value, os.PathLike) else value


def _elsewhere(key: Any) -> str:
    if key in SETTINGS:
        return f"{key} is a setting for all tables: write it above the first table."
    return near_miss(str(key), TABLE_SETTINGS)


def _listed(value: Any, name: str) -> Sequence[Any]:
    if isinstance(value, Mapping) or not isinstance(value, (list, tuple)):
        raise JobError(f"{name} must be a list of tables: [[{name}]].")
    return value


def _link(link: Any) -> Link:
    if not isinstance(link, Mapping) or not {"from", "to"} <= set(link) <= {"from", "to", "together"}:
        raise JobError('A link has from = "child.column" and to = "parent.column", and perhaps together = true.')
    if not isinstance(link.get("together", False), bool):
        raise JobError("together of a link must be true or false.")
    return Link(At.read(link["from"]), At.read(link["to"]), link.get("together", False))


def _domain(domain: Any) -> tuple[At, ...]:
    columns = domain.get("columns") if isinstance(domain, Mapping) and set(domain) == {"columns"} else None
    if not isinstance(columns, (list, tuple)) or len(columns) < 2:
        raise JobError('A domain has columns = ["person.zip", "visit.zip"], at least two.')
    domain_columns = tuple(At.read(name) for name in columns)
    if len(set(domain_columns)) < len(domain_columns):
        raise JobError(f"A domain names a column twice: {', '.join(map(str, domain_columns))}.")
    return domain_columns


def _shift(settings: Any) -> ShiftDates | None:
    if settings is None:
        return None
    if (
        not isinstance(settings, Mapping)
        or set(settings) != {"days", "columns"}
        or not isinstance(settings["columns"], (list, tuple))
    ):
        raise JobError('[shift-dates] has days = 182 and columns = ["visit.start", "visit.end"].')
    days = settings["days"]
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= 36_500:
        raise JobError(f"days of [shift-dates] must be a whole number from 1 to 36,500, not {short(days)}.")
    return ShiftDates(days, tuple(At.read(name) for name in settings["columns"]))


def _settings(plain: Mapping[str, Any]) -> dict[str, Any]:
    mistakes: list[str] = []
    settings: dict[str, Any] = {}
    k = plain.get("k", DEFAULT_K)
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        mistakes.append(f"k must be a whole number of at least 2, not {short(k)}.")
    settings["k"] = k
    rows_known = plain.get("known", KNOWN_ALL)
    if rows_known != KNOWN_ALL and (isinstance(rows_known, bool) or not isinstance(rows_known, int) or rows_known < 0):
        mistakes.append(f"known must be a whole number of at least 0, or {KNOWN_ALL!r}, not {short(rows_known)}.")
    settings["known"] = rows_known
    with collected(mistakes):
        settings["suppress"] = taken(Share(), plain.get("suppress", 0.0), "suppress")
    for name, choices in (("keys", KEYS), ("orphans", ORPHANS)):
        value = plain.get(name, choices[0])
        if value not in choices:
            mistakes.append(f"{name} must be one of {', '.join(choices)}, not {short(value)}.")
        settings[name] = value
    algorithm = plain.get("algorithm", "optimal")
    if isinstance(algorithm, Mapping):
        parameters = dict(algorithm)
        settings["algorithm"], settings["parameters"] = parameters.pop("name", "optimal"), parameters
    else:
        settings["algorithm"] = algorithm
    with collected(mistakes):
        from kanopy.search.algorithms import make_algorithm

        made = make_algorithm(settings["algorithm"], **settings.get("parameters", {}))
        if made.recoding != "full-domain" or not made.about.units:
            mistakes.append(
                f"The algorithm {settings['algorithm']!r} does not protect several linked tables: one label per value "
                f"and "
                "column is needed, so that tables agree. Use algorithm 'optimal'."
            )
    settings["metric"] = plain.get("metric", "loss")
    if settings["metric"] not in LINKED_METRICS:
        mistakes.append(
            f"metric must be one of {', '.join(LINKED_METRICS)} for several tables, not {short(settings['metric'])}."
        )
    refuse(mistakes)
    return settings


LINKED_METRICS = ("loss", "precision", "entropy")
"""Losses of single columns: their mean over the columns of all tables is what a search makes small."""
