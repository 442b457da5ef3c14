"""Fixed-width text with the dictionary that says where its fields stand, and which are numbers.

Nothing is guessed: a line that ends within a number, a field of numbers that holds something else, and tabs, which
stand for several columns, are refused with their line, as the dictionary is then about another file.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from kanopy._errors import DataError, short
from kanopy._table.dialects import Read
from kanopy._table.formats.dictionaries import DICTIONARIES, Dictionary, Field, data_of, read_dictionary
from kanopy._table.formats.encodings import decode, encoding_of
from kanopy._table.formats.layout import check_width

_NUMBER = r"^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?$"
_NOTHING = ("", ".")


def read_fixed(path: Path, inner: str | None, encoding: str | None = None) -> Read:
    """The table of a text and its dictionary: `people.dct`, or `people.dat::people.dct`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "people.dat"
    ...     _ = place.write_text("Ann  0410150\\nBob  0290200\\n")
    ...     _ = place.with_suffix(".sps").write_text("DATA LIST /name 1-5 (A) age 6-8 pay 9-12 (2).\\n")
    ...     read_fixed(place, "people.sps")[0].rows()
    [('Ann', 41, 1.5), ('Bob', 29, 2.0)]
    """
    if path.suffix.lower() in DICTIONARIES:
        if inner is not None:
            raise DataError(f"{path} is a dictionary: give DATA.dat::{path.name}.")
        words, dictionary = path, _dictionary(path)
        path = data_of(dictionary, words)
    else:
        words = _beside(path) if inner is None else path.parent / inner
        if words.suffix.lower() not in DICTIONARIES or not words.exists():
            raise DataError(f"There is no dictionary {str(words)!r} (.dct, .sps) for {path}.")
        dictionary = _dictionary(words)
    check_width(len(dictionary.fields), str(words))
    data = path.read_bytes()
    called, notes = encoding_of(data[: 1 << 18], lambda: data, encoding, str(path))
    lines = decode(data, called, str(path)).removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    while lines and not lines[-1].strip(" \x1a"):
        lines.pop()
    if not lines:
        raise DataError(f"{path} is empty. Give a file with one line per record.")
    lines = _placed(lines, dictionary, str(path))
    text = pl.Series(lines, dtype=pl.String)
    _refuse_odd_lines(text, dictionary, str(path))
    columns = [_column(text, field, str(path), words.name) for field in dictionary.fields]
    note = f"{path.name} is read with the columns of {words.name}."
    return pl.DataFrame(columns), (note, *notes)


def _dictionary(path: Path) -> Dictionary:
    data = path.read_bytes()
    encoding = encoding_of(data, lambda: data, None, str(path))[0]
    return read_dictionary(decode(data, encoding, str(path)).removeprefix("\ufeff"), str(path))


def _beside(path: Path) -> Path:
    dictionary = next((candidate for suffix in DICTIONARIES if (candidate := path.with_suffix(suffix)).exists()), None)
    if dictionary is None:
        raise DataError(
            f"{path} needs a dictionary with the columns of its fields: {path.stem}.dct or {path.stem}.sps beside "
            f"it, or {path.name}::DICTIONARY.dct. A text with separators is read as .csv."
        )
    return dictionary


def _placed(lines: list[str], dictionary: Dictionary, name: str) -> list[str]:
    """Lines whose characters stand where the dictionary says: some programs count the bytes of UTF-8 instead."""
    if all(line.isascii() for line in lines):
        return lines
    characters, in_bytes = {len(line) for line in lines}, {len(line.encode()) for line in lines}
    if len(characters) == 1:
        return lines
    if len(in_bytes) == 1:
        # Filled up behind each letter, so that every field has as many characters as it had bytes.
        return ["".join(letter + "\0" * (len(letter.encode()) - 1) for letter in line) for line in lines]
    number = next(line_number for line_number, line in enumerate(lines, 1) if not line.isascii())
    raise DataError(
        f"{name} has letters beyond ASCII (line {number:,}), and its lines differ in length, so it is unknown "
        "whether columns count letters or bytes. Fill the lines up with blanks, or name a one-byte encoding "
        "(--encoding)."
    )


def _refuse_odd_lines(text: pl.Series, dictionary: Dictionary, name: str) -> None:
    for odd, what in (
        (
            text.str.contains("\t", literal=True),
            "contains a tab, which represents several columns: replace it by blanks",
        ),
        (text.str.strip_chars() == "", "is empty: delete it"),
    ):
        if odd.any():
            raise DataError(f"Line {int(odd.arg_true()[0]) + 1:,} of {name} {what}.")
    lengths = text.str.len_chars()
    for field in dictionary.fields:
        cut = (lengths >= field.first) & (lengths < field.last)
        if not field.text and cut.any():
            line = int(cut.arg_true()[0])
            raise DataError(
                f"Line {line + 1:,} of {name} has {lengths[line]:,} characters and ends within the number "
                f"{field.name!r} (columns {field.first}-{field.last}). Check that the dictionary belongs to this "
                "file."
            )


def _column(text: pl.Series, field: Field, name: str, words: str) -> pl.Series:
    texts = text.str.slice(field.first - 1, field.last - field.first + 1).str.replace_all("\0", "").str.strip_chars(" ")
    texts = texts.set(texts.is_in(list(_NOTHING if not field.text else _NOTHING[:1])), None)
    if not field.text:
        wrong = ~texts.str.contains(_NUMBER).fill_null(True)
        if wrong.any():
            line = int(wrong.arg_true()[0])
            raise DataError(
                f"Line {line + 1:,} of {name} holds {short(texts[line])} in columns {field.first}-{field.last}, "
                f"where {words} says that there is the number {field.name!r}. Check that the dictionary belongs to "
                "this file."
            )
        if field.decimals:
            texts = _pointed(texts, field.decimals)
    if field.missing:
        numbers = texts.cast(pl.Float64, strict=False)
        for low, high in field.missing:
            texts = texts.set(((numbers >= low) & (numbers <= high)).fill_null(False), None)
    texts = _in_words(texts, field) if field.labels else texts if field.text else _numbers(texts)
    return texts.alias(field.name)


def _numbers(texts: pl.Series) -> pl.Series:
    """Numbers as such, unless they have more digits than numbers keep."""
    digits = texts.str.replace_all(r"^[-+]?0*|\.|[eEdD].*$", "").str.len_chars().fill_null(0)
    if texts.str.contains(r"^[-+]?\d+$").fill_null(True).all():
        return texts if (digits > 18).any() else texts.cast(pl.Int64)
    return texts if (digits > 15).any() else texts.str.replace(r"[dD]", "E").cast(pl.Float64)


def _pointed(texts: pl.Series, decimals: int) -> pl.Series:
    """Numbers with the decimal point that is not written; those that have one keep it."""
    plain = texts.str.contains(r"^[-+]?\d+$").fill_null(False)
    digits = texts.str.strip_chars_start("+-").str.zfill(decimals + 1)
    sign = texts.str.extract(r"^([-+])", 1).fill_null("")
    pointed = sign + digits.str.head(-decimals) + "." + digits.str.tail(decimals)
    return pl.select(pl.when(plain).then(pointed).otherwise(texts)).to_series()


def _in_words(raw: pl.Series, field: Field) -> pl.Series:
    labels = dict(field.labels)
    texts = list(labels.values())
    labels = {code: text if texts.count(text) == 1 else f"{text} ({code})" for code, text in labels.items()}
    if field.text:
        return raw.replace(labels)
    numbers = {float(code): text for code, text in labels.items() if code.replace(".", "", 1).lstrip("+-").isdigit()}
    labelled = raw.cast(pl.Float64, strict=False).replace_strict(
        list(numbers), list(numbers.values()), default=None, return_dtype=pl.String
    )
    return pl.select(pl.coalesce(labelled, raw)).to_series()
