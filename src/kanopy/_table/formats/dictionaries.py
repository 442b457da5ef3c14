"""Dictionaries of fixed-width text: where each field stands in a line, in Stata's and in SPSS's words.

| file | what is read of it |
|---|---|
| `.dct` | `infile dictionary` (`_column(1) str5 name %5s "Label"`) and `infix dictionary` (`str name 1-5`) |
| `.sps` | `DATA LIST FILE=… /name 1-5 (A) pay 6-13 (2)`, `VALUE LABELS`, `MISSING VALUES` |

References: Stata, *Data Management Reference Manual*, `infile2` and `infix`; IBM SPSS Statistics, *Command Syntax
Reference*, `DATA LIST`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from kanopy._errors import DataError, short

DICTIONARIES = (".dct", ".sps")


@dataclass(frozen=True)
class Field:
    """A column of a fixed-width text: its name, its first and last character, counted from 1, and what it holds."""

    name: str
    first: int
    last: int
    text: bool = False
    decimals: int = 0
    """Digits behind a decimal point that is not written."""
    labels: dict[str, str] = field(default_factory=dict)
    missing: tuple[tuple[float, float], ...] = ()
    """Values that mean missing, from and to."""


@dataclass(frozen=True)
class Dictionary:
    """The fields of a line, and the file that the dictionary names."""

    fields: tuple[Field, ...]
    data: str | None = None


def read_dictionary(text: str, name: str) -> Dictionary:
    """The dictionary in a `.dct` or `.sps` file.

    >>> found = read_dictionary("infix dictionary using a.raw {\\n str name 1-5\\n byte age 6-7\\n}", "a.dct")
    >>> found.data, [(each.name, each.first, each.last, each.text) for each in found.fields]
    ('a.raw', [('name', 1, 5, True), ('age', 6, 7, False)])
    """
    dictionary = _stata(text, name) if name.lower().endswith(".dct") else _spss(text, name)
    if not dictionary.fields:
        raise DataError(f"{name} does not name fields with their columns. Give a dictionary such as: str name 1-5.")
    seen: set[str] = set()
    for column_field in dictionary.fields:
        if column_field.last < column_field.first or column_field.first < 1:
            raise DataError(
                f"{name} places {column_field.name!r} in columns {column_field.first}-{column_field.last}. Correct "
                f"them."
            )
        if column_field.name in seen:
            raise DataError(f"{name} names the field {column_field.name!r} twice. Give each field a different name.")
        seen.add(column_field.name)
    return dictionary


# ---- Stata ----------------------------------------------------------------------------------------------------------

_USING = re.compile(r'\b(infile|infix)?\s*dictionary\s*(?:using\s+("[^"]+"|[^\s{]+))?\s*\{', re.IGNORECASE)
_INFILE = re.compile(
    r"(?:(?P<type>byte|int|long|float|double|str(?P<size>\d+)|strL|str)(?::\w+)?\s+)?(?P<name>[A-Za-z_]\w*)(?::\w+)?\s*"
    r"(?:%(?P<width>\d+)(?:\.(?P<decimals>\d+))?(?P<kind>[a-zA-Z]))?\s*(?:\"[^\"]*\")?\s*$",
    re.IGNORECASE,
)
_INFIX = re.compile(
    r"(?:(?P<type>byte|int|long|float|double|str)\s+)?(?P<name>[A-Za-z_]\w*)\s+(?P<first>\d+)(?:\s*-\s*(?P<last>\d+))?",
    re.IGNORECASE,
)
_OF_THE_FILE = re.compile(r"_lrecl\s*\(\s*\d+\s*\)|_(?:first(?:lineoffile)?|lines?)\s*\(\s*1\s*\)", re.IGNORECASE)
_SEVERAL = re.compile(r"\b_lines?\s*\(\s*(\d+)|\b_newline|^\s*(\d+)\s*(?:lines|:)|^\s*/", re.IGNORECASE | re.MULTILINE)


def _stata(text: str, name: str) -> Dictionary:
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment.group().count("\n"), text, flags=re.DOTALL)
    text = re.sub(r"(?m)^\s*\*.*$|//.*$", "", text)
    begin = _USING.search(text)
    end = text.find("}", begin.end()) if begin else -1
    if begin is None or end < 0:
        raise DataError(
            f"{name} is not a dictionary. A dictionary begins with 'infile dictionary {{' or 'infix dictionary {{'."
        )
    body, before = text[begin.end() : end], text[: begin.end()].count("\n") + 1
    for several in _SEVERAL.finditer(body):
        if (several[1] or several[2]) != "1":
            line = before + body[: several.start()].count("\n")
            raise DataError(
                f"{name} spreads a record over several lines (line {line:,}), which is not supported. "
                "Write one line per record."
            )
    data = None if begin[2] is None else begin[2].strip('"')
    reads = _infix if (begin[1] or "").lower() == "infix" or not re.search(r"_column|%", body) else _infile
    return Dictionary(tuple(reads(body, before, name)), data)


def _infix(body: str, before: int, name: str) -> list[Field]:
    fields = []
    for number, line in enumerate(body.splitlines(), before):
        rest = re.sub(r"^\s*1\s*(?:lines|first|:)\s*", "", line, flags=re.IGNORECASE)
        for match in _INFIX.finditer(rest):
            first = int(match["first"])
            fields.append(
                Field(
                    match["name"], first, int(match["last"] or first), (match["type"] or "").lower().startswith("str")
                )
            )
        if _INFIX.sub("", rest).strip():
            raise _not_understood(name, number, line)
    return fields


def _infile(body: str, before: int, name: str) -> list[Field]:
    fields, at = [], 1
    for number, line in enumerate(body.splitlines(), before):
        rest = _OF_THE_FILE.sub("", line.strip())
        while moved := re.match(r"_(column|skip)\s*\(\s*(\d+)\s*\)\s*|_skip\b\s*", rest):
            at = int(moved[2]) if moved[1] == "column" else at + int(moved[2] or 1)
            rest = rest[moved.end() :]
        if not rest.strip():
            continue
        fixed_field = _INFILE.match(rest)
        if fixed_field is None or fixed_field["width"] is None or fixed_field["kind"] not in ("s", "S", "f", "g", "e"):
            raise _not_understood(name, number, line)
        width = int(fixed_field["width"])
        text = fixed_field["kind"] in "sS" or (fixed_field["type"] or "").lower().startswith("str")
        fields.append(Field(fixed_field["name"], at, at + width - 1, text))
        at += width
    return fields


def _not_understood(name: str, number: int, line: str) -> DataError:
    return DataError(
        f"Line {number:,} of {name} cannot be read: {short(line.strip())}. Write each field with its columns, such "
        "as 'str name 1-5' (infix) or '_column(1) str5 name %5s' (infile)."
    )


# ---- SPSS -----------------------------------------------------------------------------------------------------------

_LIST = re.compile(r"\bDATA\s+LIST\b(?P<body>.*?)\.\s*(?:\n|\Z)", re.IGNORECASE | re.DOTALL)
_FILE = re.compile(r"\bFILE\s*=\s*(?P<place>'[^']*'|\"[^\"]*\"|\S+)", re.IGNORECASE)
_PLACED = re.compile(
    r"(?P<names>[A-Za-z@#$_][\w.@#$]*(?:\s+[A-Za-z@#$_][\w.@#$]*)*)\s+(?P<first>\d+)(?:\s*-\s*(?P<last>\d+))?"
    r"(?:\s*\(\s*(?P<kind>[A-Za-z]+)?\s*,?\s*(?P<decimals>\d+)?\s*\))?"
)


def _spss(text: str, name: str) -> Dictionary:
    text = re.sub(r"/\*.*?(?:\*/|$)", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?m)^\s*\*[^.]*\.\s*$", "", text)
    list_match = _LIST.search(text)
    if list_match is None:
        raise DataError(f"{name} has no DATA LIST with the columns of each field, ended by a point.")
    body = list_match["body"]
    file_match = _FILE.search(body)
    data = None if file_match is None else file_match["place"].strip("'\"")
    options, _, listed = body.partition("/")
    if file_match is not None and "/" in file_match["place"]:
        # The path itself holds slashes.
        options, _, listed = body[file_match.end() :].partition("/")
        options = body[: file_match.start()] + options
    if re.search(r"\b(FREE|LIST)\b", options.replace(file_match.group() if file_match else "", ""), re.IGNORECASE):
        raise DataError(f"{name} reads fields by separators (FREE or LIST), not by columns. Give the file as .csv.")
    records = re.search(r"RECORDS\s*=\s*(\d+)", options, re.IGNORECASE)
    listed = re.sub(r"^\s*1\s+", " ", listed)
    if (records and records[1] != "1") or "/" in listed:
        raise DataError(
            f"{name} spreads a record over several lines (RECORDS, /), which is not supported. Write one "
            "line per record."
        )
    fields: list[Field] = []
    for field_match in _PLACED.finditer(listed):
        names, first, last = (
            field_match["names"].split(),
            int(field_match["first"]),
            int(field_match["last"] or field_match["first"]),
        )
        kind, width = (field_match["kind"] or "F").upper(), last - first + 1
        if kind not in ("A", "F", "N") or width % len(names):
            raise DataError(
                f"{name} has a field that cannot be read: {short(field_match.group())}. Formats are A, F and N."
            )
        field_width = width // len(names)
        for number, called in enumerate(names):
            start = first + number * field_width
            fields.append(
                Field(
                    called,
                    start,
                    start + field_width - 1,
                    kind == "A",
                    int(field_match["decimals"] or 0) * (kind != "A"),
                )
            )
    if rest := _PLACED.sub("", listed).strip():
        raise DataError(f"{name} has fields that cannot be read: {short(rest)}. Write them as: name 1-5 (A).")
    return Dictionary(_with_missing(_with_labels(tuple(fields), text), text, name), data)


_TEXT = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\""


def _statements(text: str, start: str) -> list[str]:
    pattern = rf"(?im)^\s*{start}\b((?:{_TEXT}|[^'\"])*?)\.\s*$"
    return [statement[1] for statement in re.finditer(pattern, text)]


def _with_labels(fields: tuple[Field, ...], text: str) -> tuple[Field, ...]:
    labels: dict[str, dict[str, str]] = {}
    for statement in _statements(text, r"(?:ADD\s+)?VALUE\s+LABELS"):
        for label_set in re.split(rf"/(?=(?:{_TEXT}|[^'\"])*\Z)", statement):
            names = re.match(r"\s*((?:[A-Za-z@#$_][\w.@#$]*\s*,?\s*)+)", label_set)
            if names is None:
                continue
            pairs = re.findall(rf"({_TEXT}|[-+.\d]+)\s*({_TEXT})", label_set[names.end() :])
            label_of_code = {_unquoted(code): _unquoted(label) for code, label in pairs}
            for name in re.split(r"[\s,]+", names[1].strip()):
                labels.setdefault(name.lower(), {}).update(label_of_code)
    return tuple(replace(column_field, labels=labels.get(column_field.name.lower(), {})) for column_field in fields)


def _with_missing(fields: tuple[Field, ...], text: str, name: str) -> tuple[Field, ...]:
    missing: dict[str, list[tuple[float, float]]] = {}
    for statement in _statements(text, r"MISSING\s+VALUES?"):
        for names, values in re.findall(r"([A-Za-z@#$_][\w.@#$\s,]*?)\s*\(([^)]*)\)", statement):
            missing_ranges: list[tuple[float, float]] = []
            ends = {"LO": float("-inf"), "LOWEST": float("-inf"), "HI": float("inf"), "HIGHEST": float("inf")}
            for value_text in re.split(r",|(?<=\d)\s+(?!THRU)(?=[-\d])", values.strip(), flags=re.IGNORECASE):
                both = [bound.strip() for bound in re.split(r"\bTHRU\b", value_text, flags=re.IGNORECASE)]
                try:
                    numbers = [ends[bound.upper()] if bound.upper() in ends else float(bound) for bound in both]
                except ValueError:
                    raise DataError(f"{name} has missing values that cannot be read: {short(values)}.") from None
                missing_ranges.append((numbers[0], numbers[-1]))
            for field_name in re.split(r"[\s,]+", names.strip()):
                missing.setdefault(field_name.lower(), []).extend(missing_ranges)
    return tuple(
        replace(column_field, missing=tuple(missing.get(column_field.name.lower(), ()))) for column_field in fields
    )


def _unquoted(text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0]) if text[:1] in "'\"" else text


def data_of(dictionary: Dictionary, path: Path) -> Path:
    """The file that a dictionary describes: the one that it names, or one of the same name beside it."""
    if dictionary.data is not None:
        named = Path(dictionary.data.replace("\\", "/"))
        for candidate in (path.parent / named.name, path.parent / f"{named.name}.raw"):
            if candidate.exists():
                return candidate
        raise DataError(
            f"{path} describes {dictionary.data!r}, which is not in the same folder. Put both into one folder."
        )
    for suffix in (".dat", ".raw", ".txt", ".asc"):
        if (candidate_file := path.with_suffix(suffix)).exists():
            return candidate_file
    raise DataError(
        f"{path} does not name the file it describes, and there is no {path.stem}.dat beside it. Give both: "
        f"DATA.dat::{path.name}."
    )
