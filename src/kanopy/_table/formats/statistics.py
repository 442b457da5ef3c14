"""SPSS, Stata and SAS files, with the labels of their columns and values.

A value that has a label is read as that label, so that hierarchies and releases speak words; written back, it gets its
code again. Labels that a release adds (groups of values, `*`) get codes of their own. Values that a file calls missing
are missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from kanopy._errors import DataError, MissingDependency
from kanopy._files import stamp
from kanopy._table.column import as_labels, is_text

READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}  # fmt: skip
WRITERS = {
    ".sav": "write_sav", ".zsav": "write_sav", ".por": "write_por", ".dta": "write_dta", ".xpt": "write_xport",
}  # fmt: skip
WITHOUT_LABELS = (".xpt", ".por")
"""Files that are written without labels of values: labelled values are texts in them."""


@dataclass(frozen=True)
class Labels:
    """What columns and values of a file are called: per column its description, and labels by code."""

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[float, str]] = field(default_factory=dict)


def _library() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise MissingDependency("SPSS, Stata and SAS files need pyreadstat: pip install 'kanopy[stats]'.") from None
    return pyreadstat


def read_statistics(path: Path) -> tuple[pl.DataFrame, Labels]:
    """The table of a file, labelled values as texts, and its labels.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labels = Labels({"sex": "Sex at birth"}, {"sex": {1: "male", 2: "female"}})
    ...     write_statistics(pl.DataFrame({"sex": ["male", "*"]}), Path(folder) / "p.sav", ".sav", labels)
    ...     frame, found = read_statistics(Path(folder) / "p.sav")
    >>> frame["sex"].to_list(), found.values
    (['male', '*'], {'sex': {1.0: 'male', 3.0: '*'}})
    """
    library = _library()
    try:
        frame, about = getattr(library, READERS[path.suffix.lower()])(str(path), output_format="polars")
    except (library.ReadstatError, library.PyreadstatError, OSError, ValueError) as error:
        raise DataError(
            f"{path} cannot be read: {error}. Check that it is complete and that its suffix fits."
        ) from None
    columns = {name: text for name, text in zip(frame.columns, about.column_labels, strict=True) if text}
    values: dict[str, dict[float, str]] = {}
    for name, given in about.variable_value_labels.items():
        if name in frame.columns and frame[name].dtype.is_numeric():
            values[name] = _told_apart({float(code): str(label) for code, label in given.items()})
    words = [_in_words(frame[name], value_labels) for name, value_labels in values.items()]
    return frame.with_columns(words), Labels(columns, values)


def _told_apart(labels: dict[float, str]) -> dict[float, str]:
    """Labels that several codes share with their codes: they are different values."""
    texts = list(labels.values())
    return {code: text if texts.count(text) == 1 else f"{text} ({code:g})" for code, text in labels.items()}


def _in_words(column: pl.Series, labels: dict[float, str]) -> pl.Series:
    plain = column.rename("").cast(pl.Float64)
    labelled = plain.replace_strict(list(labels), list(labels.values()), default=None, return_dtype=pl.String)
    both = pl.select(pl.coalesce(labelled, as_labels(plain))).to_series()
    return both.alias(column.name)


def write_statistics(frame: pl.DataFrame, path: Path, suffix: str, labels: Labels | None) -> None:
    """Write a table with the labels of its columns and values, as far as its format has them."""
    library, labels = _library(), labels or Labels()
    coded: dict[str, dict[float, str]] = {}
    columns = []
    for column in frame.get_columns():
        name = column.name
        if name in labels.values and is_text(column) and suffix not in WITHOUT_LABELS:
            column, coded[name] = _in_codes(column, dict(labels.values[name]))
        columns.append(column.cast(pl.String) if is_text(column) else column)
    column_labels = [labels.columns.get(name) or "" for name in frame.columns]
    options: dict[str, Any] = {"column_labels": column_labels}
    if suffix not in WITHOUT_LABELS:
        options["variable_value_labels"] = coded
    if suffix == ".zsav":
        options["compress"] = True
    try:
        getattr(library, WRITERS[suffix])(pl.DataFrame(columns), str(path), **options)
    except (library.ReadstatError, library.PyreadstatError, ValueError, TypeError) as error:
        raise DataError(f"The release does not fit into a {suffix} file: {error}. Write to another format.") from None
    _restamp(path, suffix)


STAMPS = {
    ".sav": rb"(?s)\A.{92}(?P<a>.{9})(?P<b>.{8})",
    ".zsav": rb"(?s)\A.{92}(?P<a>.{9})(?P<b>.{8})",
    ".dta": rb"<timestamp>\x11(?P<c>.{17})</timestamp>",
    ".xpt": rb"(?P<d>\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d)",
    ".por": rb"8/(?P<e>(?:\d\s*){8})6/(?P<f>(?:\d\s*){6})",
}
FORMS = {"a": "%d %b %y", "b": "%H:%M:%S", "c": "%d %b %Y %H:%M", "d": "%d%b%y:%H:%M:%S", "e": "%Y%m%d", "f": "%H%M%S"}


def _restamp(path: Path, suffix: str) -> None:
    """Put the same time into a file whatever the time is: the same release has the same bytes."""
    content = bytearray(path.read_bytes())
    for stamp_match in re.finditer(STAMPS[suffix], bytes(content[:1024])):
        for name, form in FORMS.items():
            if stamp_match.groupdict().get(name) is not None:
                letters = iter(stamp().strftime(form).upper() if name == "d" else stamp().strftime(form))
                begin, end = stamp_match.span(name)
                for at in range(begin, end):  # lines break within
                    if chr(content[at]) not in "\r\n":
                        content[at] = ord(next(letters))
    path.write_bytes(content)


def _in_codes(column: pl.Series, labels: dict[float, str]) -> tuple[pl.Series, dict[float, str]]:
    """Labels as their codes; new ones get the next whole numbers, and values without a label are their own code."""
    codes = {text: code for code, text in labels.items()}
    texts = column.rename("").cast(pl.String)
    for text in texts.unique(maintain_order=True).drop_nulls().to_list():
        if text not in codes:
            try:
                numeric_code = float(text)
            except ValueError:
                numeric_code = math.nan
            if math.isfinite(numeric_code) and numeric_code not in labels:
                codes[text] = numeric_code
    after = math.floor(max(codes.values(), default=0)) + 1
    for text in texts.unique(maintain_order=True).drop_nulls().sort().to_list():
        if text not in codes:
            codes[text], labels[after] = after, text
            after += 1
    used = set(texts.to_list())  # labels of values that no row has are values of others
    labels = {code: text for code, text in labels.items() if text in used}
    codes_of_rows = texts.replace_strict(list(codes), list(codes.values()), default=None, return_dtype=pl.Float64)
    whole = codes_of_rows.drop_nulls()
    if (whole == whole.round()).all() and (whole.abs() < 2**31).all():
        codes_of_rows, labels = codes_of_rows.cast(pl.Int32), {int(code): text for code, text in labels.items()}
    return codes_of_rows.alias(column.name), labels
