"""Tables that come with Kanopy, for trying things out and for checking published numbers.

*Adult*: Becker and Kohavi (1996), UCI Machine Learning Repository, DOI 10.24432/C5XW20, CC BY 4.0 (the licence lies
beside the file). The hierarchies for its columns are our own.

*Survey*: 975 open answers of two words each, made up by us.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import polars.selectors as cs

from kanopy._errors import InputError, near_miss
from kanopy._table.survey import survey as survey
from kanopy._usage import checked

if TYPE_CHECKING:
    from kanopy.hierarchy.hierarchy import Hierarchy

_FOLDER = Path(__file__).resolve().parents[1] / "data"

ADULT_QUASI_IDENTIFIERS = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)
"""The columns of Adult that others may know about a person; `income` is its sensitive one."""


@checked
def adult(*, complete: bool = False) -> pl.DataFrame:
    """The Adult data set: 48,842 people from the United States census of 1994, in file order.

    `complete=True` keeps the 45,222 records without gaps.

    >>> adult().shape, adult(complete=True).height
    ((48842, 15), 45222)
    >>> adult()["native-country"].null_count()
    857
    """
    frame = pl.read_parquet(path("adult.parquet")).with_columns(cs.integer().cast(pl.Int64))
    return frame.drop_nulls() if complete else frame


@checked
def adult_hierarchies() -> dict[str, Hierarchy]:
    """A hierarchy for every column of Adult that has a use for one.

    >>> adult_hierarchies()["native-country"].generalize("Peru", 1)
    'South America'
    """
    from kanopy.hierarchy.hierarchy import Hierarchy

    hierarchies = {}
    for file in sorted(path("adult_hierarchies").glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            hierarchies[file.stem] = Hierarchy.from_rows(csv.reader(lines, delimiter=";"), name=file.stem)
    return hierarchies


@checked
def path(name: str) -> Path:
    """Where a bundled file lies: `adult.parquet` or the folder `adult_hierarchies`.

    >>> path("adult.parquet").name
    'adult.parquet'
    """
    bundled = _FOLDER / name
    if not bundled.exists():
        names = sorted(entry.name for entry in _FOLDER.iterdir() if not entry.name.startswith("_"))
        raise InputError(f"Kanopy does not contain the file {name!r}. {near_miss(name, names)}")
    return bundled


@checked
def write_adult_csv(target: str | Path, *, complete: bool = False) -> Path:
    """Write Adult as a comma-separated file, as an example to run commands on.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_adult_csv(Path(folder) / "adult.csv").stat().st_size > 5_000_000
    True
    """
    from kanopy._table.sinks import write_table

    write_table(adult(complete=complete), target)
    return Path(target)
