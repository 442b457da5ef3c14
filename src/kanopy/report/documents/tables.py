"""The document of several linked tables: what is promised over joins, and what links and numbers of rows still tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.release_charts import column_losses
from kanopy.report.documents.document import Document, Figure, Notes, Section, Table
from kanopy.report.documents.release_document import SIGNATURES
from kanopy.report.text import figure, percent, plural, whole


def tables_document(results: Mapping[str, Any], links: Sequence[tuple[str, str]], *, checksum: str = "") -> Document:
    """The document from what `LinkedResult.summary` gives; no value of a table is in it."""
    verified, rows = results["verified"], sum(results["rows"].values())
    suppressed_rows = sum(results["suppressed"].values())
    losses = {
        f"{table}.{column}": loss
        for table, losses_of_columns in results["column_losses"].items() for column,
        loss in losses_of_columns.items() if not column.startswith("\0")
    }  # fmt: skip
    return Document(
        kind="Report on several tables", source=", ".join(results["rows"]), good=True,
        verdict="The tables keep what the job promises over everything that can be joined",
        sentences=(results["promise"],),
        facts=(
            ("people", whole(verified["people"]), "counted by the published keys"),
            ("smallest group", whole(verified["smallest_group"]), f"k = {whole(results['k'])}"),
            ("suppressed rows", whole(suppressed_rows), f"of {whole(rows)} in {plural(len(results['rows']), 'table')}"),
            ("loss", figure(results["score"]),
            f"{results['metric']}{', proved optimal' if results['optimal'] else ''}"),
        ),
        sections=(_joins(results, links), _tables(results), _losses(losses), *_notes(results)), checksum=checksum,
        signatures=SIGNATURES, numbers=results, footer="It says what was checked; it certifies no compliance.",
    )  # fmt: skip


def _joins(results: Mapping[str, Any], links: Sequence[tuple[str, str]]) -> Section:
    verified = results["verified"]
    words = (
        "The published labels were joined by the published keys and counted again by code that shares nothing with the "
        f"search. {whole(verified['orphan_keys'])} published keys lack the row they refer to.",
        *results["remarks"],
    )
    counted = (
        ("the whole trace", whole(verified["people_with_rare_traces"])),
        ("the number of rows per table", whole(verified["people_with_rare_numbers_of_rows"])),
        ("all rows, each with the rows that it refers to", whole(verified["people_with_rare_chains"])),
    )
    caption = f"People whose data fewer than k = {whole(results['k'])} share"
    parts = (
        Table(caption, ("what is compared", "people"), counted, (1,)),
        Table("Links", ("from", "to"), tuple(links)),
    )
    return Section("Joins", words, parts if links else parts[:1])


def _tables(results: Mapping[str, Any]) -> Section:
    rows = tuple(
        (
            name, whole(count), whole(results["verified"]["rows"][name]), whole(results["suppressed"][name]),
            ", ".join(f"{column} {level}" for column, level in results["levels"][name].items()) or "–",
        )
        for name, count in results["rows"].items()
    )  # fmt: skip
    heads = ("table", "rows", "published", "suppressed", "level of each quasi-identifier")
    return Section("Tables", (), (Table("Rows and levels", heads, rows, (1, 2, 3)),))


def _losses(losses: Mapping[str, float]) -> Section:
    rows = tuple((name, percent(loss)) for name, loss in losses.items())
    chart = Figure("losses", "Detail lost per column", "Loss of every quasi-identifier", column_losses(losses))
    table = Table("Loss per column, over the rows of its table", ("column", "loss"), rows, (1,))
    return Section("Loss", (), (table, *((chart,) if losses else ())))


def _notes(results: Mapping[str, Any]) -> tuple[Section, ...]:
    return (Section("Remarks", (), (Notes(tuple(results["notes"])),)),) if results["notes"] else ()
