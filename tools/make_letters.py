"""Make `src/kanopy/data/letters.txt`: which letters stand beside which in the languages whose old encodings are told
apart, counted in the names that Unicode's CLDR gives to places, languages, currencies, units and days (through Babel).

    python tools/make_letters.py
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel import Locale

from kanopy._table.formats.encodings import ALPHABETS, CHARACTERS, pairs

DATA = Path(__file__).resolve().parents[1] / "src" / "kanopy" / "data"
KINDS = (
    "territories", "languages", "scripts", "currencies", "time_zones", "meta_zones", "months", "days",
    "unit_display_names", "unit_patterns", "variants", "quarters", "eras", "date_fields",
)  # fmt: skip
OTHERS = {"zh": ("zh", "zh_Hans"), "zh_Hant": ("zh_Hant", "zh_Hant_HK"), "pt": ("pt", "pt_PT"), "sr": ("sr_Cyrl",)}
"""Where a language is written in several ways, the locales that are counted."""
HEAD = """\
# Letters beside letters per language, as what Kanopy needs to tell old encodings apart: made by tools/make_letters.py.
# Counted in names of the Unicode CLDR, (c) 1991-2026 Unicode, Inc., Unicode License v3 (unicode.org/license.txt).
# An alphabet: pairs with one letter that is not ASCII (^ and $ are the ends of a word), grouped by how rare they are.
# Chinese, Japanese, Korean: the characters that occur.
"""


def texts(value: Any) -> Iterator[str]:
    """All texts within a value."""
    if isinstance(value, str):
        yield value
    elif hasattr(value, "items"):
        for key in value:
            yield from texts(value[key])


def words(language: str) -> set[str]:
    """The words of a language."""
    found: set[str] = set()
    for name in OTHERS.get(language, (language,)):
        locale = Locale.parse(name)
        for kind in KINDS:
            for text in texts(locale._data.get(kind, {})):
                found.update(re.findall(r"[^\W\d_]+", text.replace("\u00ad", "")))
    return found


def main() -> None:
    lines = [HEAD]
    for language in ALPHABETS:
        counted = Counter(pair for word in words(language) for pair in pairs(word))
        total = sum(counted.values())
        classes: dict[int, list[str]] = {}
        for pair, count in counted.items():
            if count > 1 or total < 3000:
                classes.setdefault(min(9, round(-math.log(count / total))), []).append(pair)
        lines += [f"{language} {rare} {' '.join(sorted(own))}\n" for rare, own in sorted(classes.items())]
    for language in CHARACTERS:
        seen = {letter for word in words(language) for letter in word if letter > "\u2e80"}
        lines.append(f"{language} * {''.join(sorted(seen))}\n")
    (DATA / "letters.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
