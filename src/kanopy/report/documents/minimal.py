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


def minimal_section(found: Mapping[str, Any]) -> Section:
    """Figures of both attacks, how many people they concern, and what helps."""
    parts: list[Part] = []
    if found["minimality"]:
        heads = (
            "sensitive column", "highest belief", "by frequency", "allowed", "people above", "credible worlds",
            "not minimal",
        )  # fmt: skip
        rows = tuple(
            (
                each["column"], percent(each["believed"]) if each["told"] else "–", percent(each["by_frequency"]),
                percent(each["promised"]), whole(each["people"]) if each["told"] else "too few credible worlds",
                f"{each['credible']:,} of {each['worlds']:,}{'' if each['exact'] else ' drawn'}",
                whole(each["not_minimal"]),
            )
            for each in found["minimality"]
        )  # fmt: skip
        parts.append(Table("Minimality attack", heads, rows, (1, 2, 3, 4, 5, 6)))
    if found["downcoding"]:
        heads = (
            "column", "rows", "in narrowed classes", "least share left", "certain", "certain for members",
            "not minimal",
        )  # fmt: skip
        rows = tuple(
            (
                each["column"], whole(each["rows"]), whole(each["narrowed_rows"]), percent(each["least_share"]),
                whole(each["certain_rows"]), whole(each["certain_for_members"]), whole(each["not_minimal"]),
            )
            for each in found["downcoding"]
        )  # fmt: skip
        parts.append(Table("Downcoding: rows concerned", heads, rows, (1, 2, 3, 4, 5, 6)))
    elif not found["local"]:
        parts.append(
            Notes(("Every column has one level: classes are not cut one by one, and downcoding excludes nothing.",))
        )
    words = (WORDS, MARGIN.format(figure(found["margin"]))) if found.get("margin") else (WORDS,)
    return Section("Minimality", (*words, HELP), tuple(parts))
