"""The document of `kanopy cells`: which small counts a reader can make from a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report.documents.document import Document, Section, Table
from kanopy.report.text import plural, whole

MOST_ROWS = 60


def cells_document(results: Mapping[str, Any], source: str) -> Document:
    """The document from what `CellReport.to_dict` gives."""
    limit, counted = results["least"], results["counted"]
    small, differences = results["small_cells"], results["differences"]
    verdict = (
        f"No count of 1 to {limit - 1} can be made from the release"
        if results["holds"]
        else f"{plural(small + differences, 'count')} of 1 to {limit - 1} can be made from the release"
    )
    return Document(
        kind="Small cells", source=source, verdict=verdict, good=results["holds"],
        sentences=(
            f"All crosses of up to three of {plural(len(results['by']), 'column')} were counted: "
            f"{whole(results['cells'])} cells, {whole(small)} of them with 1 to {limit - 1} {counted}. "
            f"{whole(differences)} further counts follow by subtraction.",
        ),
        facts=(
            ("cells", whole(results["cells"]), f"in {plural(len(results['crosses']), 'cross', 'crosses')}"),
            ("small cells", whole(small), f"1 to {limit - 1} {counted}"),
            ("by subtraction", whole(differences), "from a total and its part"),
        ),
        sections=sections(results), numbers=results,
        footer="Counts are those of the release as it stands.",
    )  # fmt: skip


def sections(results: Mapping[str, Any]) -> tuple[Section, ...]:
    """The crosses with small counts, and the protected table."""
    worst = sorted(results["crosses"], key=lambda entry: (-(entry["small"] + entry["differences"]), entry["columns"]))
    rows = tuple(
        (
            " × ".join(entry["columns"]), whole(entry["cells"]), whole(entry["small"]), whole(entry["people_in_small"]),
            whole(entry["differences"]),
        )
        for entry in worst[:MOST_ROWS] if entry["small"] or entry["differences"]
    )  # fmt: skip
    heads = ("columns", "cells", "small", f"{results['counted']} in small cells", "small by subtraction")
    shown_sections = [
        Section(
            "Crosses of columns",
            (
                "A cell is one combination of published labels. A small difference is a count less one of its parts, "
                "made of several cells: so many people have another label in one column.",
            ),
            (Table("Crosses with small counts", heads, rows, (1, 2, 3, 4)),) if rows else (),
        )
    ]
    if (table := results["table"]) is not None:
        shown_sections.append(
            Section(
                "Table of counts",
                (
                    f"By {', '.join(table['by'])}: {whole(table['cells'])} cells with totals. "
                    f"{whole(table['small_cells'])} small cells are hidden, and {whole(table['complementary_cells'])} "
                    "further ones so that they do not follow from the totals. The smallest and the largest count of "
                    "each hidden cell that agree with all published ones were computed by linear programs: "
                    + (
                        f"none can be told to be below {table['least']}."
                        if table["holds"]
                        else f"some can be told to be below {table['least']}; the table is too small to hide them."
                    ),
                ),
            )
        )
    return tuple(shown_sections)
