"""Latitude and longitude as one column: a place with a hierarchy of cells, not two numbers that find people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._table.roles import Role

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.guessing.guess import Guess

LATITUDE = frozenset({"lat", "latitude", "breite", "breitengrad", "latitud", "latitudine", "ycoord"})
LONGITUDE = frozenset(
    {
        "lon",
        "long",
        "lng",
        "longitude",
        "laenge",
        "länge",
        "laengengrad",
        "längengrad",
        "longitud",
        "longitudine",
        "xcoord",
    }
)
FEWEST_DIFFERENT = 3


def with_places(frame: pl.DataFrame, places: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """The frame with one column per place (`52.52, 13.405`) instead of its latitude and longitude.

    A release, which has the place and no coordinates any more, stays as it is.

    >>> import polars as pl
    >>> with_places(pl.DataFrame({"lat": [52.5, None], "lon": [13.4, 2.0]}), {"home": ("lat", "lon")})["home"].to_list()
    ['52.5, 13.4', None]
    """
    import polars as pl

    for name, pair in places.items():
        if len(pair) != 2 or pair[0] == pair[1]:
            raise JobError(f"The place {name!r} is made of two columns, latitude and longitude, not of {some(pair)}.")
        absent = [name for name in pair if name not in frame.columns]
        if len(absent) == 2 and name in frame.columns:
            continue
        if absent:
            raise DataError(
                f"The table has no column {some(absent)} for the place {name!r}. {near_miss(absent[0], frame.columns)}"
            )
        if name in frame.columns:
            raise JobError(f"The place {name!r} has the name of a column of the table. Give it a name of its own.")
        texts = pl.Series(name, _texts(frame[pair[0]], frame[pair[1]]), dtype=pl.String)
        at = min(frame.columns.index(name) for name in pair)
        left = frame.drop(pair)
        frame = left.insert_column(min(at, len(left.columns)), texts)
    return frame


def _texts(latitude: pl.Series, longitude: pl.Series) -> list[str | None]:
    """Both coordinates as one text; none where one is missing."""
    from kanopy._table.guessing.value_kinds import MISSING_WORDS
    from kanopy.hierarchy.points import point_text

    numbers = latitude.dtype.is_numeric() and longitude.dtype.is_numeric()
    absent = {*MISSING_WORDS, ""}
    texts: list[str | None] = []
    for north, east in zip(latitude.to_list(), longitude.to_list(), strict=True):
        if north is None or east is None or (numbers and (north != north or east != east)):
            texts.append(None)
        elif numbers:
            texts.append(point_text(float(north), float(east)))
        else:
            pair = [str(coordinate).strip() for coordinate in (north, east)]
            texts.append(None if any(coordinate.lower() in absent for coordinate in pair) else ", ".join(pair))
    return texts


@dataclass(frozen=True)
class PlaceGuess:
    """Two columns that are a place together: its name, and the columns."""

    name: str
    latitude: str
    longitude: str


def guess_places(frame: pl.DataFrame) -> list[PlaceGuess]:
    """Pairs of columns that are latitude and longitude by their names and ranges.

    >>> import polars as pl
    >>> guess_places(pl.DataFrame({"home_lat": [52.5, 48.1, 50.9], "home_lon": [13.4, 11.6, 6.9]}))
    [PlaceGuess(name='home_place', latitude='home_lat', longitude='home_lon')]
    """
    guesses = []
    used: set[str] = set()
    for name in frame.columns:
        word = _word(name, LATITUDE)
        if word is None or name in used or not _degrees(frame[name], 90):
            continue
        rest = name.casefold().replace(word, "", 1)
        for other in frame.columns:
            partner = _word(other, LONGITUDE)
            if (
                partner is not None and other not in used and other.casefold().replace(partner, "", 1) == rest
                and _degrees(frame[other], 180)
            ):  # fmt: skip
                stem = rest.strip("_. -")
                called = f"{stem}_place" if stem else "place"
                while called in frame.columns:
                    called += "_"
                guesses.append(PlaceGuess(called, name, other))
                used |= {name, other}
                break
    return guesses


def _word(name: str, words: frozenset[str]) -> str | None:
    """The word of a column's name that speaks of a coordinate."""
    import re

    parts = [word for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name) if word]
    return next((word.casefold() for word in parts if word.casefold() in words), None)


def _degrees(column: pl.Series, most: float) -> bool:
    """Whether a column holds decimal degrees: numbers in their range, some with a fraction, several different."""
    import polars as pl

    if column.dtype == pl.String:  # of a file of text
        texts = _said(column)
        column = texts.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        if column.null_count() > 0.1 * len(column):
            return False
    if not column.dtype.is_float():
        return False
    values = column.drop_nulls().drop_nans().to_numpy()
    if len(set(values[:10_000].tolist())) < FEWEST_DIFFERENT:
        return False
    # Latitudes may stand in the other column: that is an error that says so, not a column of numbers.
    inside = float((abs(values) <= 180).mean()) > 0.9 and (most == 180 or float((abs(values) <= 90).mean()) > 0.5)
    return inside and bool((values != values.round()).any())


def _said(column: pl.Series) -> pl.Series:
    """The texts of a column without spaces around them, and without words that mean missing."""
    from kanopy._table.guessing.value_kinds import MISSING_WORDS

    texts = column.drop_nulls().str.strip_chars()
    return texts.filter(~texts.str.to_lowercase().is_in([*MISSING_WORDS, ""]))


def place_guesses(frame: pl.DataFrame, guesses: list[Guess]) -> tuple[pl.DataFrame, list[Guess], dict[str, Any]]:
    """The frame with places, a guess for each instead of those of its columns, and the setting that makes them."""
    from kanopy._table.guessing.guess import LIKELY
    from kanopy._table.guessing.guess import Guess as Made

    pairs = guess_places(frame)
    changed: list[Guess] = []
    for guess in guesses:
        own_pair = next((pair for pair in pairs if guess.column in (pair.latitude, pair.longitude)), None)
        if own_pair is None:
            changed.append(_of_text(frame, guess))
        elif not any(column.column == own_pair.name for column in changed):
            reason = f"{own_pair.latitude} and {own_pair.longitude} together are a place, which an attacker may know"
            changed.append(Made(own_pair.name, Role.QUASI_IDENTIFIER, reason, "place", LIKELY))
    places = {pair.name: [pair.latitude, pair.longitude] for pair in pairs}
    return with_places(frame, places), changed, places


def _of_text(frame: pl.DataFrame, guess: Guess) -> Guess:
    """A column of texts that are points is a place."""
    import polars as pl

    column = frame[guess.column]
    if guess.role not in (Role.IDENTIFIER, Role.UNDECIDED) or column.dtype != pl.String:
        return guess
    texts = column.drop_nulls().unique().head(200).to_list()
    if len(texts) < FEWEST_DIFFERENT or not all(_looks_like_point(text) for text in texts):
        return guess
    return replace(
        guess,
        role=Role.QUASI_IDENTIFIER,
        hierarchy_hint="place",
        reason="points on the globe: a place, which an attacker may know",
    )


def _looks_like_point(text: str) -> bool:
    """Whether a text is a point with decimals, WKT or hemispheres: two whole numbers may be anything."""
    from kanopy._errors import HierarchyError
    from kanopy.hierarchy.points import read_points

    if not ("." in text or "POINT" in text.upper() or "°" in text):
        return False
    try:
        return bool(read_points([text]).known.all())
    except HierarchyError:
        return False
