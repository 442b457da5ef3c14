"""Values that one person has, planted in random tables of all kinds, and random calls of an assistant's tools."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import random
import string
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from kanopy.assistant.levels import EDITS, METHODS
from kanopy.assistant.server import TOOLS
from kanopy.assistant.session import EDITABLE, ROLES, Session

ROWS = 45
K = 5
NAMES = ("name", "note", "code", "income", "contact", "born", "seen", "id", "place", "tags")
WRITERS = {
    ".csv": pl.DataFrame.write_csv,
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".parquet": pl.DataFrame.write_parquet,
    ".xlsx": pl.DataFrame.write_excel,
    ".arrow": pl.DataFrame.write_ipc,
    ".feather": pl.DataFrame.write_ipc,
    ".json": pl.DataFrame.write_json,
    ".ndjson": pl.DataFrame.write_ndjson,
}
TYPED = (".parquet", ".arrow", ".feather")
"""Files that hold lists, bytes and decimals."""
WEIGHTS = {
    "propose": 1,
    "run": 1,
    "compare": 1,
    "utility": 1,
    "hierarchy": 4,
    "build_hierarchy": 5,
    "edit_hierarchy": 4,
}
"""How often tools are called that take long; all others ten times."""


def _word(rng: random.Random, size: int = 9, letters: str = string.ascii_lowercase) -> str:
    return "".join(rng.choices(letters, k=size))


KINDS: dict[str, Any] = {
    "name": lambda rng: _word(rng).title(),
    "two names": lambda rng: f"{_word(rng)} {rng.choice('ABC')}. {_word(rng).title()}",
    "address": lambda rng: f"{_word(rng)}@{_word(rng, 4)}.example",
    "whole number": lambda rng: rng.randrange(10**8, 10**10),
    "negative number": lambda rng: -rng.randrange(10**8, 10**10),
    "real number": lambda rng: round(rng.uniform(10**4, 10**6), 5),
    "sentence": lambda rng: f"{_word(rng)} was seen with {_word(rng)} near the {_word(rng)} house on a rainy day",
    "code": lambda rng: f"{rng.randrange(10**4):04d}-{rng.randrange(10**8):08d}",
    "accents": lambda rng: _word(rng, 9, "àéîõüñçßøåæ"),
    "other script": lambda rng: _word(rng, 6, "山川木林花空海星月雪") + _word(rng, 5, "абвгдежзик"),
    "right to left": lambda rng: _word(rng, 9, "ابتثجحخدذرزس"),
    "instant": lambda rng: dt.datetime(1900, 1, 1) + dt.timedelta(seconds=rng.randrange(10**9, 3 * 10**9)),
    "bytes": lambda rng: _word(rng).encode(),
    "list": lambda rng: [_word(rng), "shared"],
    "decimal": lambda rng: decimal.Decimal(rng.randrange(10**9, 10**11)).scaleb(-2),
}
ONLY_TYPED = ("bytes", "list", "decimal")


def texts(value: Any) -> set[str]:
    """How a planted value would look in an answer."""
    if isinstance(value, list):
        return {value[0]}
    if isinstance(value, bytes):
        return {value.decode()}
    if isinstance(value, float):
        return {str(value), f"{value:.3f}", f"{value:,.2f}"}
    if isinstance(value, int):
        return {str(value), f"{value:,}", str(abs(value))}
    return {str(value).casefold(), str(value)} - {""}


def planted(rng: random.Random, typed: bool = False) -> tuple[pl.DataFrame, set[str]]:
    """A table in which some columns hold values of one row each, and the texts to look for."""
    columns: dict[str, Any] = {
        "age": [rng.randrange(20, 90) for _ in range(ROWS)],
        "town": [rng.choice(["Lyon", "Rome", "Bern"]) for _ in range(ROWS)],
        "ill": [rng.choice(["flu", "cold"]) for _ in range(ROWS)],
        "day": [dt.date(2020, 1, 1) + dt.timedelta(rng.randrange(5)) for _ in range(ROWS)],
    }
    if rng.random() < 0.3:
        columns["town"] = [None if rng.random() < 0.1 else town for town in columns["town"]]
    if rng.random() < 0.3:
        columns["works"] = [rng.random() < 0.5 for _ in range(ROWS)]
    found: set[str] = set()
    kinds = [kind for kind in KINDS if typed or kind not in ONLY_TYPED]
    for number, kind in enumerate(rng.sample(kinds, 3)):
        values = [KINDS[kind](rng) for _ in range(ROWS)]
        if rng.random() < 0.4 and kind != "sentence":
            values = [value if at < ROWS // 3 else values[0] for at, value in enumerate(values)]
            values[0] = values[1]
        columns[f"{rng.choice(NAMES)}{number}"] = values
        found |= {text.casefold() for value in values if values.count(value) < K for text in texts(value)}
    return pl.DataFrame(columns), found


def broken(canaries: list[str]) -> str:
    """A file that no reader accepts, or not as a table of two columns."""
    return f'a,b\n"{canaries[0]},1\n{canaries[1]},2,3\n'


def arguments_of(tool: str, session: Session, rng: random.Random, table: str, names: list[str], own: str) -> Any:
    """Arguments of one call: sensible, wrong or hostile."""
    # The first two jobs have no hierarchy for ages yet: fitting one takes most of the time.
    jobs = [*list(session._jobs)[2:][-6:], "x", own]
    releases = [*list(session._releases)[-3:], "release-99", own]
    job, release = rng.choice([jobs[0], *jobs]), rng.choice([releases[0], *releases])
    columns = [*["age", "town"] * 3, *names, "nothing", "", "*", own]
    odd: list[Any] = [None, -1, 10**30, "x", "nan", "", [], {}, own, [own], {own: own}, {"age": own}]
    labels = ["Lyon", "Rome", "f", "*", "[20, 29]", own]
    if tool in ("tables",):
        return {}
    if tool == "describe":
        return {"table": rng.choice([table, table, "broken.csv", "../" + table, "none.csv", "/etc/passwd", own])}
    if tool == "propose":
        return {"table": rng.choice([table, table, "broken.csv", own])}
    if tool in ("show_job", "run"):
        return {"job": job}
    if tool == "edit_job":
        value = rng.choice([5, 7, "10%", "optimal", True, f"l-distinct:{own}:2", *odd])
        role = {rng.choice(columns): rng.choice([*ROLES, "other", own])}
        settings = {rng.choice([*EDITABLE, "nothing", own]): value} if rng.random() < 0.7 else None
        return {"job": job, "settings": settings, "roles": role if rng.random() < 0.5 else None}
    if tool == "hierarchy":
        return {"job": job, "column": rng.choice(columns)}
    if tool == "build_hierarchy":
        parameters = rng.choice([
            {}, {"widths": [5, 10]}, {"cuts": [[30, 60]]}, {"groups": {"south": ["Lyon", "Rome"]}, "other": "rest"},
            {"groups": {own: [own]}}, {"file": "/etc/passwd"}, {own: own}, {"widths": own},
        ])  # fmt: skip
        return {
            "job": job,
            "column": rng.choice(columns),
            "method": rng.choice([*METHODS, own]),
            "parameters": parameters,
        }
    if tool == "edit_hierarchy":
        steps = [
            {"edit": "rename", "label": rng.choice(labels), "to": rng.choice(labels)},
            {"edit": "move", "label": rng.choice(labels), "under": rng.choice(labels)},
            {"edit": "merge", "labels": rng.sample(labels, 2), "into": rng.choice(labels)},
            {"edit": "split", "label": rng.choice(labels), "parts": {"a": ["Lyon"], own: [own]}},
            {"edit": "insert_level", "level": rng.choice([1, 2, 9, own]), "groups": {"south": ["Lyon", "Rome"]}},
            {"edit": "insert_level", "level": 1, "groups": {"south": [own]}},
            {"edit": "drop_level", "level": rng.choice([0, 1, 2, own])},
            {"edit": rng.choice([*EDITS, own, 3]), own: own},
        ]
        return {"job": job, "column": rng.choice(columns), "edits": rng.sample(steps, rng.choice([1, 1, 2]))}
    if tool == "compare":
        return {"job": job, "algorithms": rng.choice([["optimal"], ["nothing"], ["mondrian"], [own], []])}
    if tool in ("risk", "utility", "explain"):
        return {"release": release}
    if tool == "labels":
        return {"release": release, "column": rng.choice(columns)}
    files = ["out.csv", "../out.csv", ".x", "out.exe", f"{own[:40]}.csv", "out.parquet", "a\x1b[2J.csv"]
    return {"release": release, "file": rng.choice(files)}


@dataclass
class Told:
    """What many calls told."""

    canaries: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    """Per tool and kind of error."""
    leaked: list[str] = field(default_factory=list)
    seconds: Counter[str] = field(default_factory=Counter)
    """Processor time per tool."""


def ask(session: Session, tool: str, arguments: dict[str, Any], told: Told) -> str:
    """One call; its answer as text."""
    begun = time.process_time()
    answer = getattr(session, tool)(**arguments)
    told.seconds[tool] += time.process_time() - begun
    told.calls[tool] += 1
    if "error" in answer:
        told.errors[f"{tool} {answer['error']}"] += 1
    return json.dumps(answer, ensure_ascii=False, default=str)


def tell(tables: int, calls: int, folder: Path, seed: int) -> Told:
    """Plant values in tables, call the tools, and look for the values in every answer and in the log."""
    told = Told()
    weights = [WEIGHTS.get(tool, 10) for tool in TOOLS]
    for number in range(tables):
        rng = random.Random(f"{seed} {number}")
        suffix = list(WRITERS)[number % len(WRITERS)]
        frame, canaries = planted(rng, suffix in TYPED)
        told.canaries += len(canaries)
        place, table, given = folder / str(number), f"people{suffix}", sorted(canaries)
        place.mkdir()
        WRITERS[suffix](frame, place / table)
        (place / "broken.csv").write_text(broken(given), encoding="utf-8")
        session = Session(place, k=K)
        roles = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}
        roles |= dict.fromkeys(set(frame.columns) - roles.keys(), rng.choice(["withheld", "identifier", "insensitive"]))
        roles |= {rng.choice(frame.columns[4:]): "quasi-identifier"} if rng.random() < 0.3 else {}
        ages = {"method": "widths", "parameters": {"widths": [10, 30]}}
        prelude: list[tuple[str, dict[str, Any]]] = [
            ("describe", {"table": "broken.csv"}), ("propose", {"table": table}),
            ("edit_job", {"job": "job-1", "roles": roles, "settings": {"suppress": "20%"}}),
            ("build_hierarchy", {"job": "job-2", "column": "age", **ages}),
            ("run", {"job": "job-3"}),
        ]  # fmt: skip
        if number % 5 == 0:  # as it was guessed, which takes long
            prelude.append(("run", {"job": "job-1"}))
        answers = [ask(session, tool, arguments, told) for tool, arguments in prelude]
        for tool in rng.choices(TOOLS, weights, k=calls - len(prelude)):
            arguments = arguments_of(tool, session, rng, table, frame.columns, rng.choice(given))
            answers.append(ask(session, tool, arguments, told))
        text = "\n".join([*answers, (place / ".kanopy" / "told.jsonl").read_text("utf-8")]).casefold()
        told.leaked += [f"{number}: {each}" for each in canaries if each in text]
    return told
