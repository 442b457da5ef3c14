"""What the experiments of Martínez 2010 and of its appended papers share: the survey as a table, runs, curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanopy._progress import SILENT
from kanopy._table.frames import to_polars
from kanopy.masking.encoding import encode_columns, masking_tables
from kanopy.masking.evaluation import Evaluation
from kanopy.masking.job import MaskJob
from kanopy.masking.masking_result import Masked
from kanopy.masking.table import MaskingTable
from kanopy.report.charts.marks import lines, sheet
from kanopy_papers.reproduction import Figure, Table

TEXT = ("reason1", "reason2")
MEASURES = {"Wu & Palmer": "wu-palmer", "Leacock & Chodorow": "leacock-chodorow", "Path length": "path-length"}
RANDOM_SEEDS = range(5)
CLUSTERING_K = 5
SIMILAR = "mean Wu & Palmer similarity of original and published answers"

Curve = list[float]


@dataclass(frozen=True, eq=False)
class Bench:
    """The survey, encoded once per measure and ontology."""

    columns: dict[str, list[str]]

    def table(self, measure: str = "wu-palmer", ontology: Any = "wordnet", text: Sequence[str] = TEXT) -> MaskingTable:
        """The survey as a table to mask."""
        frame, _ = to_polars(self.columns)
        job = MaskJob(text=tuple(text), guide=measure, ontology=ontology, targets="any")
        return masking_tables(frame, job, encode_columns(frame, job))[0]


def run(table: MaskingTable, k: int, **options: Any) -> Masked:
    """One masking by fusion."""
    return MaskJob(text=table.names, k=k, **options).make().mask(table, k, {}, SILENT)


def mean(table: MaskingTable, runs: Sequence[Sequence[Masked]], ks: Sequence[int], what: str) -> Curve:
    """A figure of the evaluation per k, the mean over its runs."""

    def value(masked: Masked, k: int) -> float:
        evaluation = Evaluation(table, masked, k)
        return float((evaluation.sizes**2).sum()) if what == "dm" else float(getattr(evaluation, what))

    return [float(np.mean([value(masked, k) for masked in runs_of_k])) for k, runs_of_k in zip(ks, runs, strict=True)]


def above(a: Curve, b: Curve) -> list[bool]:
    """Where the first curve lies above the second."""
    return [x > y for x, y in zip(a, b, strict=True)]


def curve_table(name: str, ks: Sequence[int], curves: dict[str, Curve]) -> Table:
    """Curves over k as a table."""
    rows = tuple((k, *(curve[i] for curve in curves.values())) for i, k in enumerate(ks))
    return Table(name, ("k", *curves), rows)


def curve_figure(name: str, caption: str, ks: Sequence[int], curves: dict[str, Curve], title: str, axis: str) -> Figure:
    """Curves over k as a figure."""
    rows = [{"k": k, "value": curve[i], "series": series} for series, curve in curves.items() for i, k in enumerate(ks)]
    panel = lines(rows, list(curves), "k", "value", axis=axis, width=460)
    panel["encoding"]["y"] |= {"scale": {"zero": False}, "title": None}  # the subtitle says what it is
    return Figure(name, caption, sheet(title, axis, panel))
