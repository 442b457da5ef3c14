"""What rerunning a paper's experiments gives: its claims beside our numbers, tables, figures, a page."""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._core.numbering import distinct_tuples
from kanopy._errors import InputError, near_miss
from kanopy._progress import SILENT, Progress

if TYPE_CHECKING:
    import polars as pl

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "not decidable"
VERDICTS = (HOLDS, FAILS, UNDECIDED)


def verdict(held: bool) -> str:
    """The verdict on a claim that can be decided."""
    return HOLDS if held else FAILS


@dataclass(frozen=True)
class Claim:
    """One published statement, what it says in numbers, what came out here, and the verdict.

    >>> Claim("a ≤ b", "always", "in 3 of 3 cases", "holds").verdict
    'holds'
    """

    claim: str
    published: str
    ours: str
    verdict: str
    why: str = ""
    source: str = "paper"
    """Whose statement it is: the paper's, or `ours` where it says nothing of the kind."""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"unknown verdict {self.verdict!r}")
        if self.source not in ("paper", "ours"):
            raise ValueError(f"unknown source {self.source!r}")


@dataclass(frozen=True)
class Table:
    """A table of results, written as CSV."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def csv(self) -> str:
        """The table as comma-separated text."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return text.getvalue()


@dataclass(frozen=True)
class Figure:
    """A figure as a Vega-Lite dictionary, with the caption that says which published figure it corresponds to."""

    name: str
    caption: str
    chart: dict[str, Any]


@dataclass(frozen=True)
class Picture:
    """A figure that is no chart: a tree, as SVG."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Reproduction:
    """A paper rerun. `data` goes into `--json` beside the claims."""

    key: str
    title: str
    citation: str
    introduction: str
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    data: dict[str, Any] = field(default_factory=dict)
    quick: bool = False
    conventions: tuple[str, ...] = ()
    """What the paper leaves open and decides a result: how it was read here, and what another reading gives."""
    pictures: tuple[Picture, ...] = ()

    def json(self) -> dict[str, Any]:
        """What `kanopy reproduce … --json` prints."""
        theirs = [claim for claim in self.claims if claim.source == "paper"]
        counts = {verdict: sum(claim.verdict == verdict for claim in theirs) for verdict in VERDICTS}
        claims = [asdict(claim) for claim in self.claims]
        return {"paper": self.key, "citation": self.citation, "quick": self.quick, "verdicts": counts,
                "claims": claims, "conventions": list(self.conventions), **self.data}  # fmt: skip

    def write(self, folder: str | Path, progress: Progress = SILENT) -> list[Path]:
        """Write tables (CSV), figures (PNG and SVG) and the page (`index.html`) into a folder; returns the files."""
        from kanopy._files import write_whole
        from kanopy.report.render import picture
        from kanopy_papers.page import page

        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"Cannot write into {target}: {error.strerror}. Choose another folder with -o.") from error
        written = []
        for table in self.tables:
            written.append(target / f"{table.name}.csv")
            write_whole(written[-1], table.csv())
        for number, figure in enumerate(self.figures):
            progress("drawing", number / len(self.figures), figure.name)
            for kind in ("svg", "png"):
                written.append(target / f"{figure.name}.{kind}")
                write_whole(written[-1], picture(figure.chart, kind))
        for paper_picture in self.pictures:
            written.append(target / f"{paper_picture.name}.svg")
            write_whole(written[-1], paper_picture.svg)
        written.append(target / "index.html")
        write_whole(written[-1], page(self))
        return written


PAPERS = ("ayala2014", "campan2011", "martinez2010", "yaseen2018")
"""The modules beside this one, each with a function `reproduce`."""


RATED = "martinez2010"


def reproduce_paper(
    key: str, *, quick: bool = False, progress: Progress = SILENT, ratings: Sequence[Path] = ()
) -> Reproduction:
    """Rerun a paper's experiments on bundled or generated data; `ratings` of word pairs are for the thesis."""
    if key not in PAPERS:
        raise InputError(f"No paper is called {key!r}. {near_miss(key, PAPERS)}")
    rerun: Callable[..., Reproduction] = importlib.import_module(f"kanopy_papers.{key}").reproduce
    if ratings and key != RATED:
        raise InputError(f"Ratings of word pairs are compared in {RATED} only. Leave --ratings out for {key}.")
    return rerun(quick=quick, progress=progress, **({"ratings": ratings} if ratings else {}))


def number_columns(frame: pl.DataFrame, names: Sequence[str]) -> tuple[list[Any], Ints, Longs, Ints]:
    """The columns as arrays, the distinct tuples of the ranks of their values, the count of each, and the tuple of
    every row.

    Leaves of hierarchies over numbers are in ascending order, so a value's leaf is its rank.
    """
    columns = [frame[name].to_numpy() for name in names]
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in columns]
    return columns, *distinct_tuples(codes, [int(code.max()) + 1 for code in codes])[:3]


def at_every(values: Sequence[bool], ks: Sequence[int]) -> str:
    """In how many cases something held, and where it did not.

    >>> at_every([True, True], [2, 3]), at_every([True, False], [2, 3])
    ('at all 2 values of k', 'at 1 of 2 values of k (not at k = 3)')
    """
    missed = [k for k, value in zip(ks, values, strict=True) if not value]
    if not missed:
        return f"at all {len(ks)} values of k"
    if len(missed) == len(ks):
        return f"at none of {len(ks)} values of k"
    return f"at {len(ks) - len(missed)} of {len(ks)} values of k (not at k = {', '.join(map(str, missed))})"
