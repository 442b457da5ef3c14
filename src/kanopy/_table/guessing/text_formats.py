"""How numbers and dates are written in texts: decimal signs, thousands, and the forms of dates."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence

import polars as pl

from kanopy._errors import DataError, some
from kanopy.hierarchy.timestamps import USUAL_DATES, USUAL_TIMES, iso_moment, written_moment

_SIGNS = "$€£¥₹%"
_THOUSANDS = {",": r"[.'’ \u00a0\u202f]", ".": r"[,'’ \u00a0\u202f]"}
_TIMES = ("", *USUAL_TIMES)
DATE_FORMS = (
    *(day + time for day in USUAL_DATES for time in _TIMES),
    *(
        day + time
        for day in ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%b-%y", "%d-%m-%y", "%m-%d-%y")
        for time in _TIMES
    ),
)
"""How dates are written besides the ISO form; where two fit, the day comes first."""
ISO = ""
MOSTLY = 0.95


def reader_of(decimal: str) -> Callable[[str], float | None]:
    """A function that reads numbers with this decimal sign, thousands set apart in any usual way, and money signs.

    >>> read = reader_of(",")
    >>> read("1.234,5 €"), read("12,25"), read("-7"), read("1.23"), read("n/a")
    (1234.5, 12.25, -7.0, None, None)
    """
    form = re.compile(
        rf"([-+−]?)\s*[{_SIGNS}]?\s*(\d{{1,3}}(?:{_THOUSANDS[decimal]}\d{{3}})+|\d+)(?:{re.escape(decimal)}(\d+))?"
        rf"\s*[{_SIGNS}]?"
    )

    def read(text: str) -> float | None:
        match = form.fullmatch(text.strip())
        if match is None:
            return None
        sign, whole, fraction = match.groups()
        number = float(f"{re.sub(r'[^0-9]', '', whole)}.{fraction or 0}")
        return -number if sign in ("-", "−") else number

    return read


def decimal_of(texts: Sequence[str]) -> str | None:
    """The decimal sign of texts that are numbers, but not as programs write them; `None` if that is not so.

    >>> decimal_of(["1.234,5", "12"]), decimal_of(["1,200", "$3"]), decimal_of(["1.5", "2"]), decimal_of(["a", "1,5"])
    (',', '.', None, None)
    """
    if not texts or all(re.fullmatch(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?", text.strip()) for text in texts):
        return None
    fits = [sign for sign in (".", ",") if all(reader_of(sign)(text) is not None for text in texts)]
    return fits[0] if fits else None


def date_form(texts: Sequence[str], today: dt.date | None = None) -> tuple[str, list[str], bool] | None:
    """The form in which (nearly) all texts are dates, those that are not, and whether another form fits as well.

    The form is empty for dates in ISO form. Dates of two-digit years that would lie in the future have no form.

    >>> date_form(["27/8/2014", "1/9/2014"]), date_form(["2014-08-27"]), date_form(["1/2/2014"])[2], date_form(["x"])
    (('%d/%m/%Y', [], False), ('', [], False), True, None)
    """
    today = today or dt.date.today()
    forms: list[tuple[str, list[str]]] = []
    if not texts:
        return None
    for form in (ISO, *DATE_FORMS):
        if any(_day(text, form) is not None for text in texts[:20]):
            days = [(text, _day(text, form)) for text in texts]
            wrong = [text for text, day in days if day is None]
            future = "%y" in form and any(day is not None and day > today for _, day in days)
            if len(wrong) <= (1 - MOSTLY) * len(texts) and not future:
                forms.append((form, wrong))
    if not forms:
        return None
    form, wrong = min(forms, key=lambda form_and_wrong: len(form_and_wrong[1]))
    return form, wrong, sum(len(other) == len(wrong) for _, other in forms) > 1


def _day(text: str, form: str) -> dt.date | None:
    if form == ISO:
        moment = iso_moment(text) if "-" in text else None
        return None if moment is None else moment.date()
    try:
        return written_moment(form, text.strip()).date()
    except ValueError:
        return None


def second_header(rows: Sequence[Sequence[str | None]], columns: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are no records: texts where (nearly) all others of the column are numbers.

    `columns` are the values below `rows`, column by column.

    >>> second_header([["years", "kg", "ann"], ["41", "60", "bob"]], [["41", "29"], ["60", "81"], ["bob", "cy"]])
    1
    """
    numeric = [at for at, texts in enumerate(columns) if texts and _share(texts) >= MOSTLY]
    count = 0
    for row in rows:
        words = [at for at in numeric if (row[at] or "").strip() and not _number(row[at] or "")]
        if not numeric or len(words) < max(2, 0.6 * len(numeric)) or len({row[at] for at in words}) < 2:
            break
        count += 1
    return count


def _share(texts: Sequence[str]) -> float:
    return sum(map(_number, texts)) / len(texts)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lower() not in ("nan", "inf", "-inf", "infinity")


def rows_of_no_record(frame: pl.DataFrame) -> int:
    """Rows below the header that hold units or questions."""
    if frame.height < 10 or not all(dtype == pl.String for dtype in frame.dtypes):
        return 0
    below = frame.slice(3, 500)
    return second_header(frame.head(3).rows(), [column.drop_nulls().to_list() for column in below.get_columns()])


def written_numbers(column: pl.Series, decimal: str) -> pl.Series:
    """Texts such as 1.234,50 € as numbers; an error names those that are none."""
    if column.dtype.is_numeric():
        return column
    read, texts = reader_of(decimal), column.cast(pl.String).rename("")
    distinct = [text for text in texts.unique().to_list() if text]
    numbers = {text: read(text) for text in distinct}
    wrong = sorted(text for text, number in numbers.items() if number is None)
    if wrong:
        sign = "comma" if decimal == "," else "point"
        raise DataError(
            f"The column {column.name!r} contains texts that are not numbers with a decimal {sign}: {some(wrong)}. "
            "Declare them missing (missing-tokens), or leave the setting decimal out."
        )
    numbers_of_rows = texts.replace_strict(
        pl.Series(distinct), pl.Series(list(numbers.values()), dtype=pl.Float64), default=None
    )
    whole = all(number is not None and number.is_integer() and abs(number) < 2**53 for number in numbers.values())
    return (numbers_of_rows.cast(pl.Int64) if whole else numbers_of_rows).rename(column.name)
