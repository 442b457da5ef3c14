"""Tables in JSON: records in a list, one record per line (NDJSON), or columns by name.

Objects in a record become columns with dotted names, lists of single values stay lists. What JSON readers pass over in
silence is refused: a name that stands twice in a record, and records of different shape where a column is a list in one
and a text in another.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from kanopy._errors import DataError, short, some
from kanopy._table.dialects import Read
from kanopy._table.formats.encodings import decode, encoding_of
from kanopy._table.formats.layout import check_width

LINES = (".ndjson", ".jsonl")
MOST_DEEP = 20
_MISSING = object()


def read_json(data: bytes, name: str, *, lines: bool, encoding: str | None = None) -> Read:
    """The table in the bytes of a JSON file, and what is said of it.

    >>> read_json(b'[{"age": 41, "home": {"town": "Rome"}}, {"age": 29}]', "t.json", lines=False)[0].rows()
    [(41, 'Rome'), (29, None)]
    """
    called, notes = encoding_of(data[: 1 << 18], lambda: data, encoding, name)
    text = decode(data, called, name).removeprefix("\ufeff")
    records = list(_by_line(text, name) if lines else _records(_parsed(text, name, 1), name))
    if not records:
        raise DataError(f"{name} has no records. Give a list of records, one record per line, or columns by name.")
    columns: dict[str, list[Any]] = {}
    for index, record in enumerate(records):
        flat = dict(_flat(record, "", name, index + 1, 0))
        for key in flat:
            if key not in columns:
                columns[key] = [_MISSING] * index
        check_width(len(columns), name)
        for key, values in columns.items():
            values.append(flat.get(key, _MISSING))
    lacking = [key for key, values in columns.items() if any(value is _MISSING for value in values)]
    if lacking:
        notes = (*notes, f"Not all records of {Path(name).name} have {some(lacking)}, which is missing in the others.")
    return pl.DataFrame([_column(key, values, name) for key, values in columns.items()]), notes


def _parsed(text: str, name: str, line: int) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(items)
        if len(record) < len(items):
            keys = [key for key, _ in items]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise DataError(f"{name} names {short(twice)} twice in one record{about}. Give each value its own name.")
        return record

    about = f" (line {line:,})" if line > 1 else ""
    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        where = f"line {line + error.lineno - 1:,}, character {error.colno:,}"
        raise DataError(f"{name} is not valid JSON: {where}: {error.msg}. Correct it, or export it again.") from None
    except (RecursionError, ValueError) as error:
        raise DataError(f"{name} cannot be read as JSON{about}: {error}. Give a list of flat records.") from None


def _by_line(text: str, name: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            record = _parsed(line, name, number)
            if not isinstance(record, dict):
                raise DataError(
                    f"{name} has no record in line {number:,} but {short(str(record))}. Every line of such a file is "
                    'one record, such as {"age": 41}.'
                )
            yield record


def _records(content: Any, name: str) -> Iterable[dict[str, Any]]:
    """Records from a list of them, from columns by name, or from the one list that an object holds."""
    if isinstance(content, dict):
        lists = {key: value for key, value in content.items() if isinstance(value, list)}
        of_records = [key for key, value in lists.items() if value and all(isinstance(item, dict) for item in value)]
        if len(of_records) == 1:
            return list(content[of_records[0]])
        if len(of_records) > 1:
            raise DataError(f"{name} contains several tables: {some(of_records)}. Keep one of them.")
        if lists and len(lists) == len(content):
            lengths = {len(value) for value in lists.values()}
            if len(lengths) == 1:
                return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
            short_one = min(lists, key=lambda key: len(lists[key]))
            raise DataError(f"The columns of {name} have different lengths; the shortest is {short_one!r}.")
        if content and all(isinstance(value, dict) for value in content.values()):
            raise DataError(
                f"{name} contains records by key, or columns by row number. Write it as a list of records "
                "(orient='records' in pandas)."
            )
    wrong = (
        next((record for record in content if not isinstance(record, dict)), None)
        if isinstance(content, list)
        else content
    )
    if isinstance(content, list) and all(isinstance(record, dict) for record in content):
        return content
    raise DataError(
        f"{name} is not a table: it contains {short(json.dumps(wrong))} where a record is expected. Give a list "
        'of records, such as [{"age": 41}].'
    )


def _flat(value: dict[str, Any], before: str, name: str, record: int, deep: int) -> Iterator[tuple[str, Any]]:
    """The values of a record by dotted names."""
    if deep > MOST_DEEP:
        raise DataError(f"Record {record:,} of {name} is nested more than {MOST_DEEP} deep. Flatten it.")
    for key, inner_value in value.items():
        called = f"{before}.{key}" if before else key
        if isinstance(inner_value, dict):
            yield from _flat(inner_value, called, name, record, deep + 1)
        elif isinstance(inner_value, list) and any(isinstance(element, (dict, list)) for element in inner_value):
            raise DataError(
                f"Record {record:,} of {name} contains another table in {called!r}. Take it out, or write one record "
                "per entry."
            )
        else:
            yield called, inner_value


def _column(name: str, values: list[Any], where: str) -> pl.Series:
    """A column of one type; numbers among texts are texts, as they are written."""
    plain = [None if value is _MISSING else value for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if list in kinds:
        if kinds != {list}:
            index = next(
                index for index, cell in enumerate(plain, 1) if cell is not None and not isinstance(cell, list)
            )
            raise DataError(
                f"{name!r} of {where} is a list in some records and none in record {index:,}. Make it the same in all."
            )
        inner = {type(element) for value in plain if value is not None for element in value if element is not None}
        if inner - {int}:
            plain = [None if cell is None else [_text(item) for item in cell] for cell in plain]
        return pl.Series(name, plain, dtype=pl.List(pl.Int64 if inner == {int} else pl.String))
    if kinds <= {int} and all(value is None or abs(value) < 2**63 for value in plain) and kinds:
        return pl.Series(name, plain, dtype=pl.Int64)
    if kinds and kinds <= {int, float} and all(not isinstance(value, int) or abs(value) < 2**53 for value in plain):
        return pl.Series(name, plain, dtype=pl.Float64, strict=False)
    if kinds == {bool}:
        return pl.Series(name, plain, dtype=pl.Boolean)
    return pl.Series(name, [_text(value) for value in plain], dtype=pl.String)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
