"""The section on what follows from a release being minimal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report.documents.document import Notes, Part, Section, Table
from kanopy.report.text import figure, percent, whole

WORDS = (
    "An attacker who knows that no finer release satisfies the job excludes what would have allowed one. The "
    "minimality attack (Wong, Fu, Wang, Pei 2007) asks which sensitive values follow, downcoding (Cohen 2022) which "
    "children of a published label."
)
HELP = (
    "What helps: levels that were fixed before the data were seen (min-level and max-level), applying an earlier "
    "solution to new rows (kanopy apply), a larger k, and a release that a secret draws within a margin of the least "
    "loss (margin)."
)
MARGIN = (
    "The job has a margin of {}: a secret chose among several releases. The figures are those of an attacker who takes "
    "the release for minimal all the same. Of the people or rows under 'not minimal' he would exclude the truth."
)


def minimal_section(results: Mapping[str, Any]) -> Section:
    """Figures of both attacks, how many people they concern, and what helps."""
    parts: list[Part] = []
    if results["minimality"]:
        heads = (
            "sensitive column", "highest belief", "by frequency", "allowed", "people above", "credible worlds",
            "not minimal",
        )  # fmt: skip
        rows = tuple(
            (
                entry["column"], percent(entry["believed"]) if entry["told"] else "–", percent(entry["by_frequency"]),
                percent(entry["promised"]), whole(entry["people"]) if entry["told"] else "too few credible worlds",
                f"{entry['credible']:,} of {entry['worlds']:,}{'' if entry['exact'] else ' drawn'}",
                whole(entry["not_minimal"]),
            )
            for entry in results["minimality"]
        )  # fmt: skip
        parts.append(Table("Minimality attack", heads, rows, (1, 2, 3, 4, 5, 6)))
    if results["downcoding"]:
        heads = (
            "column", "rows", "in narrowed classes", "least share left", "certain", "certain for members",
            "not minimal",
        )  # fmt: skip
        rows = tuple(
            (
                entry["column"], whole(entry["rows"]), whole(entry["narrowed_rows"]), percent(entry["least_share"]),
                whole(entry["certain_rows"]), whole(entry["certain_for_members"]), whole(entry["not_minimal"]),
            )
            for entry in results["downcoding"]
        )  # fmt: skip
        parts.append(Table("Downcoding: rows concerned", heads, rows, (1, 2, 3, 4, 5, 6)))
    elif not results["local"]:
        parts.append(
            Notes(("Every column has one level: classes are not cut one by one, and downcoding excludes nothing.",))
        )
    words = (WORDS, MARGIN.format(figure(results["margin"]))) if results.get("margin") else (WORDS,)
    return Section("Minimality", (*words, HELP), tuple(parts))
