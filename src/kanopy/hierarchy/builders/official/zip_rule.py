"""HIPAA's rule for post codes of the United States: three digits, and 000 where fewer than 20,001 people live.

45 CFR 164.514(b)(2)(i)(B): the first three digits may be published if all ZIP codes that begin with them hold more
than 20,000 people; otherwise they are changed to 000. Without a table of people the areas are those that the
Department of Health and Human Services lists from the census of 2000; newer counts can be given as a file.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._errors import HierarchyError, some
from kanopy._files import read_text, usable
from kanopy._parameter_types import Integer, Text
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.hierarchy import Hierarchy

_LISTED = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
FEW_PEOPLE = frozenset(_LISTED.split(" "))
"""The 17 areas of at most 20,000 people by the census of 2000 (guidance of the Office for Civil Rights, 2012)."""
NOWHERE = "000 (few people)"
_ZIP = re.compile(r"\s*(\d{3,5})(?:-?\d{4})?(?:\.0)?\s*")
_DIGITS = 5


@dataclass(frozen=True)
class HipaaZip(Builder):
    """ZIP codes to three digits, or to 000 where few people live; texts that are no ZIP code become 000 too.

    `population` is a table of ZIP codes (three or five digits) and people; areas that it lacks become 000. Publish the
    column at level 1 or above (`min-level = 1`) to follow the rule.

    >>> list(HipaaZip().build(["02139", "03601", 2140]).rows())
    [('02139', '021**', '*'), ('03601', '000 (few people)', '*'), ('2140', '021**', '*')]
    """

    method: ClassVar[str] = "hipaa_zip"
    summary: ClassVar[str] = "ZIP codes by HIPAA: three digits, 000 where at most 20,000 people live"
    fits: ClassVar[frozenset[str]] = frozenset({"text", "integer"})
    population: Annotated[str, Text(empty=True), "a table of ZIP codes and people [default: the census of 2000]"] = ""
    least: Annotated[int, Integer(1), "the number of people that an area must exceed"] = 20_000

    def build_column(self, column: Column) -> Hierarchy:
        few = self._few()
        rows = []
        for value in column.labels():
            match = _ZIP.fullmatch(value)
            area = match[1].zfill(_DIGITS)[:3] if match is not None else ""
            hidden = not area or area in few[0] or (bool(few[1]) and area not in few[1])
            rows.append([value, NOWHERE if hidden else f"{area}**", SUPPRESSED_LABEL])
        return Hierarchy.from_rows(rows, name=column.name)

    def _few(self) -> tuple[frozenset[str], frozenset[str]]:
        """Areas of few people, and all areas that are known (none: only those of few people are)."""
        if not self.population:
            if self.least != 20_000:
                raise HierarchyError(
                    "least needs a table of people (population): without one, only areas of at most 20,000 are known."
                )
            return FEW_PEOPLE, frozenset()
        path = usable(self.population, HierarchyError)
        people: Counter[str] = Counter()
        wrong = []
        for number, row in enumerate(csv.reader(read_text(Path(path), HierarchyError).splitlines()), 1):
            cells = [cell.strip() for cell in row]
            if len(cells) < 2:
                continue
            code, count = cells[0], cells[1].replace(",", "")
            if code.isdecimal() and len(code) <= _DIGITS and count.isdecimal():
                people[code if len(code) == 3 else code.zfill(_DIGITS)[:3]] += int(count)
            elif number > 1:
                wrong.append(f"line {number}: {','.join(row)}")
        if wrong or not people:
            raise HierarchyError(
                f"{path} must hold a ZIP code of three or five digits and its people in each line: "
                f"{some(wrong) if wrong else 'it holds none'}."
            )
        return frozenset(area for area, count in people.items() if count <= self.least), frozenset(people)
