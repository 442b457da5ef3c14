"""Treated columns in reports: what each treatment promises, what was found to hold, risk and utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.assessment import before_after
from kanopy.report.charts.marks import Chart
from kanopy.report.shell import LEGEND, drawing, section, shell, table
from kanopy.report.text import Markup, esc, percent, plural


def treated_section(treatments: Sequence[Mapping[str, Any]], studies: Sequence[Any]) -> Markup:
    """The section of a report about treated columns; empty where there are none."""
    if not treatments:
        return Markup("")
    rows = [
        [treatment["column"], treatment["method"], treatment["guarantees"], treatment["lacks"], treatment["verified"]]
        for treatment in treatments
    ]
    promises = table("", ["column", "treatment", "guarantees", "does not promise", "verified"], rows)
    numbers = figures_of([study.to_dict() for study in studies])
    drawn = [f"<h3>{esc(study.column)}</h3>{_drawn(study)}" for study in studies if study.histogram]
    legend = LEGEND if drawn else ""
    return section(
        "Treated columns",
        "Columns that are no quasi-identifiers, and what was done to their values. Rows linked: the share of rows that "
        "an attacker with the original values finds by the nearest published row. IL1s per value: the mean distance "
        "of a "
        "value, in units of √2 standard deviations.",
        promises, numbers, legend, *drawn,
    )  # fmt: skip


def figures_of(studies: Sequence[Mapping[str, Any]]) -> str:
    """Risk and utility of treated numbers as a table; empty where there are none."""
    figures = [row for study in studies if (row := _figures(study)) is not None]
    if not figures:
        return ""
    return table(
        "Risk and utility of treated numbers",
        ["columns", "rows linked", "closest row", "within 5 % of sd", "within 5 % of ranks", "IL1s per value",
         "means differ", "sd differ", "covariances differ", "correlations differ", "eigenvalues differ",
         "regression differs"],
        figures, list(range(1, 12)),
    )  # fmt: skip


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _largest(values: Mapping[str, float | None]) -> str:
    magnitudes = [abs(value) for value in values.values() if value is not None]
    return _number(max(magnitudes)) + " sd" if magnitudes else "–"


def _figures(study: Mapping[str, Any]) -> list[str] | None:
    risk, utility = study["risk"], study["utility"]
    if risk is None or utility is None:
        return None
    return [
        ", ".join(risk["columns"]), _share(risk["linked"]), _number(risk["closest"]),
        _share(risk["interval_deviation"]), _share(risk["interval_rank"]), _number(utility["il1s_per_value"]),
        _largest(utility["means"]), _largest(utility["deviations"]).replace(" sd", ""),
        _number(utility["covariances"]), _number(utility["correlations"]), _number(utility["eigenvalues"]),
        _number(utility["regression"]),
    ]  # fmt: skip


def _drawn(study: Any) -> str:
    names = [name for name, _, _ in study.histogram]
    chart: Chart = before_after(
        names, [b for _, b, _ in study.histogram], [a for _, _, a in study.histogram], study.column
    )
    description = "; ".join(f"{name}: {percent(b)} before, {percent(a)} after" for name, b, a in study.histogram)
    return drawing(chart, "before-after", f"Shares of {study.column}: {description}.")


def treated_page(
    source: str, treatments: Sequence[Mapping[str, Any]], studies: Sequence[Any], rows: int, notes: Sequence[str]
) -> str:
    """The page of a release whose job has treatments only."""
    return shell(
        "Privacy report",
        source,
        verdict=f"{plural(len(treatments), 'treatment')} applied to {plural(rows, 'row')}, each verified.",
        sentences=[
            "No column was generalized: this release makes no promise about combinations of columns, such as "
            "k-anonymity.",
            *notes,
        ],
        parts=[("treated", "Treated columns", treated_section(treatments, studies))],
    )
