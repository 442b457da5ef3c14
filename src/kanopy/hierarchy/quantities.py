"""Numbers that texts write with a unit, a money sign or thousands set apart (`65 kg`, `12%`, `€ 1,200`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

_MONEY = r"[$€£¥₹]|(?:USD|EUR|GBP|CHF)(?![^\W\d_])"
_FORM = re.compile(
    rf"((?:{_MONEY})?\s*)([-−]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?)"
    r"(\s*(?:[^\d\s.,;:+*()\[\]<>–/_-][^\d;:+*()\[\]<>–_-]{0,14})?)"
)
_TIGHT = re.compile(r"[kmµ]?g|lbs?|oz|[cmk]?m|ft|in|[md]?l|h|hrs|min|m?s|y|yrs?|k")
"""Units of letters that follow a number without a space; other letters behind digits are codes (`12A`)."""
_LONGEST = 60
_PLURAL = 4
"""Words of so many letters may have an s for more than one: `1 year`, `5 years`."""


@dataclass(frozen=True)
class Quantity:
    """What stands before and after each number of a column, and whether thousands are set apart by commas.

    >>> Quantity(after=" kg").write("65"), Quantity(before="€ ").write("1,200")
    ('65 kg', '€ 1,200')
    """

    before: str = ""
    after: str = ""
    thousands: bool = False

    def write(self, number: str) -> str:
        """A number as the column writes it."""
        return f"{self.before}{number}{self.after}"


AS_IT_IS = Quantity()


def read_quantities(texts: Sequence[str]) -> tuple[list[Decimal], Quantity] | None:
    """The numbers of texts that are all written with one unit, and how; `None` if they are not, or not for sure.

    A comma sets thousands apart only where it can mean nothing else: in money, beside a second one (`1,200,000`), or
    where another number has a decimal point. Digits after a leading zero are a code.

    >>> read_quantities(["65 kg", "72.5 kg"])
    ([Decimal('65'), Decimal('72.5')], Quantity(before='', after=' kg', thousands=False))
    >>> read_quantities(["€ 1,200", "€ 850"])[0], read_quantities(["1 year", "5 years"])[1].after
    ([Decimal('1200'), Decimal('850')], ' years')
    >>> [read_quantities(texts) for texts in (["1,200", "850"], ["65 kg", "143 lb"], ["12A", "14A"], ["007 m", "12 m"])]
    [None, None, None, None]
    """
    written_forms = []
    for text in texts:
        if len(text) > _LONGEST or (match := _FORM.fullmatch(text.strip())) is None:
            return None
        written_forms.append(match.groups())
    if len({(_unit(before), _unit(after)) for before, _, after in written_forms}) != 1:
        return None
    numbers = [number for _, number, _ in written_forms]
    before, after = (_usual([match[at] for match in written_forms]) for at in (0, 2))
    if any(_tight(unit) for *_, unit in written_forms) or any(re.match(r"[-−]?0\d", number) for number in numbers):
        return None
    money = re.search(_MONEY, before + after) is not None
    grouped = [number for number in numbers if "," in number]
    pointed = [number for number in numbers if "," not in number and re.fullmatch(r"[-−]?\d{1,3}\.\d{3}", number)]
    if pointed and (money or grouped or any("." not in number for number in numbers)):
        return None  # 1.200 may be twelve hundred
    sure = money or any("." in number or number.count(",") > 1 for number in grouped)
    if grouped and not (sure or any("." in number for number in numbers)):
        return None
    plain = [Decimal(number.replace(",", "").replace("−", "-")) for number in numbers]
    return plain, Quantity(before, after.rstrip(), bool(grouped))


def _usual(written: Sequence[str]) -> str:
    """How most write it; of two the longer."""
    return max(Counter(written).items(), key=lambda entry: (entry[1], len(entry[0]), entry[0]))[0]


def _unit(written: str) -> str:
    """What tells one unit from another: one thing and several of them are alike."""
    word = written.strip()
    return word[:-1] if len(word) > _PLURAL and word[-1] == "s" else word


def _tight(after: str) -> bool:
    """Whether letters follow the digits at once that are no usual unit."""
    return after[:1].isalpha() and _TIGHT.fullmatch(after.strip()) is None
