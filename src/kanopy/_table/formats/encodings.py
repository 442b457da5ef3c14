"""The encoding of a text that is not UTF-8, found by which letters stand beside each other in its words.

Every candidate turns the same bytes into other words. What it makes of them is compared with the pairs of letters that
a language has (`data/letters.txt`); the candidate whose words are most like those of one language wins, if it wins
clearly. Where two readings are about as good, the file is refused with both of them shown: a wrong guess would be
published as people's towns and illnesses. Two doubts do no such harm. Signs such as ° and £ that stand alone are those
of Windows-1252. And where few lines have such letters at all, the table is read, with a note that shows a line in each
of the likely encodings: often such letters were damaged before, and are right in none of them.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from kanopy._errors import DataError, short

LETTERS = Path(__file__).resolve().parents[2] / "data" / "letters.txt"
ALPHABETS = (
    "de", "fr", "es", "pt", "it", "nl", "ca", "sv", "da", "nb", "fi", "is", "ga", "en", "cs", "sk", "pl", "hu", "sl",
    "hr", "ro", "sq", "tr", "lt", "lv", "et", "ru", "uk", "be", "bg", "sr", "mk", "el", "he", "ar", "fa", "th", "vi",
)  # fmt: skip
CHARACTERS = ("zh", "zh_Hant", "ja", "ko")

# What an encoding is taken to be before anything is known: the ones that spreadsheets and databases write first.
CANDIDATES = {
    "cp1252": 2.0, "cp1250": 0.0, "cp1251": 0.0, "cp1253": 0.0, "cp1254": 0.0, "cp1255": 0.0, "cp1256": 0.0,
    "cp1257": 0.0, "cp1258": -3.0, "cp874": 0.0, "iso8859_2": -1.0, "iso8859_5": -2.0, "iso8859_6": -1.0,
    "iso8859_7": -1.0, "iso8859_13": -1.0, "iso8859_15": -1.0, "koi8_r": -1.0, "koi8_u": -1.5, "mac_roman": -2.0,
    "mac_latin2": -3.0, "mac_cyrillic": -3.0, "mac_turkish": -4.0, "mac_greek": -4.0, "cp850": -2.0, "cp852": -2.0,
    "cp437": -3.0, "cp857": -3.0, "cp866": -1.0, "cp737": -3.0, "gb18030": 0.0, "big5hkscs": -0.5, "cp950": 0.0,
    "cp932": 0.0, "euc_jp": 0.0, "cp949": 0.0,
}  # fmt: skip
WIDE = {"gb18030": ("zh",), "big5hkscs": ("zh_Hant",), "cp950": ("zh_Hant",), "cp932": ("ja",), "euc_jp": ("ja",),
        "cp949": ("ko",)}  # fmt: skip
"""Encodings of several bytes a letter, and whose letters they are for."""

MARGIN = 5.0
"""How much likelier (natural logarithm) the best reading must be than the next that reads differently."""
POOR = 9.5
"""A pair of letters is this unlikely on average (natural logarithm) where a reading is no language."""
FEW_LINES = 0.05
"""Up to this share of lines with letters that do not tell their encoding, a table is read with a note."""
SAMPLE_LINES, SAMPLE_WORDS = 3000, 300
_NEW_LETTER, _NEW_PAIR, _ODD = 13.0, 9.5, 12.0
_QUOTE = 4.0
_SEEN, _COMMON, _RARE = 7.0, 10.5, 15.0
_USUAL = set("’‘“”„–—…€£°§©®\u00a0±²³µ½¼¾«»·º´")
_AFTER_LETTERS = set("’ªº®·")
_OPENING, _CLOSING = set("“‘„«"), set("”’»…")
_BETWEEN = re.compile(r"[\x00-&(-@\[-`{-\x7f]+")
_CAPITALS_INSIDE = re.compile(r"[A-Z][À-ÖØ-ÞŠŽŸŒ][a-zà-öø-ÿ]|[À-ÖØ-ÞŠŽŸŒ]{2}[a-z]")
_HIGH_BYTES = re.compile(rb"[\x80-\xff]+")
_UNITS = frozenset(("°C", "°F", "°K", "°N", "°S", "°E", "°W", *(f"µ{unit}" for unit in "glLmsUkSVTJWAM")))
_LATIN = re.compile("[A-Za-zªº\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u02bb-\u02bc\u0300-\u036f\u1e00-\u1eff]")
_LINES = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*")


@dataclass(frozen=True)
class Reading:
    """What an encoding makes of a text: how likely that is, per pair of letters too, and in which language."""

    encoding: str
    likely: float
    poor: float
    language: str
    text: str
    doubt: str = ""
    """What is said of it where another one is about as likely."""


def words_of(text: str) -> Iterator[str]:
    """The words of a text that have a letter beyond ASCII, with what else beyond ASCII they are written with.

    >>> list(words_of("Rue de l'Église, 12"))
    ["l'Église"]
    """
    for word in _BETWEEN.split(text):
        if word and not word.isascii():
            yield word


def pairs(word: str) -> list[str]:
    """The pairs of letters of a word of which one is not ASCII, with its two ends.

    >>> pairs("Köln")
    ['kö', 'öl']
    """
    text = f"^{word.replace('İ', 'i').lower()}$"
    return [one + other for one, other in pairwise(text) if one > "\x7f" or other > "\x7f"]


def find_encoding(data: bytes, name: str) -> Reading:
    """The encoding of bytes that are not UTF-8, or a `DataError` that shows what they may be.

    >>> find_encoding("город,Москва\\nгород,Казань\\n".encode("cp1251"), "t.csv").encoding
    'cp1251'
    """
    lines = _sample(data)
    if _only_signs(lines):
        return Reading("cp1252", 0.0, 0.0, "", b"\n".join(lines).decode("cp1252"))
    readings: list[Reading] = []
    for encoding in CANDIDATES:
        try:
            text = b"\n".join(lines).decode(encoding)
        except UnicodeDecodeError:
            continue
        readings.append(_reading(encoding, text))
    readings.sort(key=lambda reading: -reading.likely)
    for index, best in enumerate(readings):
        try:
            data.decode(best.encoding)
        except UnicodeDecodeError:
            continue
        others = [other for other in readings[index + 1 :] if other.text != best.text]
        if best.poor > POOR or (others and best.likely - others[0].likely < MARGIN):
            return _doubtful(name, data, [best, *others])
        return best
    raise DataError(
        f"{name} is not valid UTF-8, nor in any other known encoding. Save it as UTF-8, or name its encoding "
        '(--encoding, encoding = "…" in the job).'
    )


def _sample(data: bytes) -> list[bytes]:
    """Different lines with a byte beyond ASCII, spread over the first of them."""
    lines_seen: dict[bytes, None] = {}
    for line in _LINES.finditer(data):
        lines_seen[line.group()[:2000]] = None
        if len(lines_seen) >= SAMPLE_LINES:
            break
    return list(lines_seen)


def _reading(encoding: str, text: str) -> Reading:
    words = list(dict.fromkeys(word for word in words_of(text)))[:SAMPLE_WORDS]
    if encoding in WIDE:
        language = WIDE[encoding][0]
        costs = [_cost_of_letters(word, _letters()[language], language) for word in words]
        likely, count = -sum(costs), sum(len(word) for word in words)
        return Reading(encoding, likely + CANDIDATES[encoding], -likely / max(count, 1), language, text)
    cut = [pairs(word) for word in words]
    odd = [_strange(word) for word in words]
    costs_by: dict[str, list[float]] = {}
    for language in ALPHABETS:
        table = _tables()[language]
        costs_by[language] = [sum(map(table.cost, costs)) + extra for costs, extra in zip(cut, odd, strict=True)]
    best = min(costs_by, key=lambda language: sum(costs_by[language]))
    # Names of many languages in one table: each word in the language that has it, which is less likely.
    mixed = sum(min(costs_by[language][index] for language in ALPHABETS) + 4.0 for index in range(len(words)))
    cost = min(sum(costs_by[best]), mixed)
    count = sum(map(len, cut))
    return Reading(encoding, CANDIDATES[encoding] - cost, cost / max(count, 1), best, text)


def _strange(word: str) -> float:
    """How unlikely it is that somebody writes capitals and small letters, or letters of two scripts, like this."""
    after_small = sum(
        5.0 for one, other in pairwise(word) if one.islower() and other.isupper() and not (one + other).isascii()
    )
    inside = len(_CAPITALS_INSIDE.findall(word)) if not word.isascii() else 0
    mixed = sum(
        6.0 for pair in pairwise(word) if any(map(_LATIN.match, pair)) and any(letter.isalpha() for letter in pair)
        and not all(_LATIN.match(letter) for letter in pair if letter.isalpha())
    )  # fmt: skip
    return after_small + 3.0 * inside + mixed


class _Pairs:
    """The pairs of one language, and what is beyond them."""

    def __init__(self) -> None:
        self.known: dict[str, float] = {}
        self.letters: set[str] = set()

    def cost(self, pair: str) -> float:
        pair_cost = self.known.get(pair)
        if pair_cost is None:
            pair_cost = self.known[pair] = self._unknown(pair)
        return pair_cost

    def _unknown(self, pair: str) -> float:
        cost = _NEW_PAIR
        if (pair[0] in _OPENING and pair[1].isalpha()) or (pair[0] == "^" and pair[1] in _OPENING):
            return _QUOTE
        if (pair[1] in _CLOSING and pair[0].isalpha()) or (pair[0] in _CLOSING and pair[1] == "$"):
            return _QUOTE
        if pair == "’s":
            return 1.5 * _QUOTE
        for letter in pair:
            if letter > "\x7f" and letter not in self.letters:
                usual = letter in _USUAL
                if unicodedata.category(letter)[0] not in "LM":
                    beside = all(other_letter.isalpha() for other_letter in pair if other_letter != letter)
                    cost = 8.0 if letter in _AFTER_LETTERS else 5.0 if usual and not beside else _ODD
                else:
                    cost = _NEW_LETTER
        return cost


def _cost_of_letters(word: str, seen: frozenset[str], language: str) -> float:
    cost = sum(
        6.0 for one, other in pairwise(word) if one.isalpha() and other.isalpha() and one.isascii() != other.isascii()
    )
    for letter in word:
        if letter in seen:
            cost += 5.0 if "\u3040" <= letter <= "\u30ff" else _SEEN
        elif letter <= "\x7f":
            cost += 1.0
        elif "\u3000" <= letter <= "\u303f" or "\uff00" <= letter <= "\uff65":
            cost += 6.0
        elif language == "ko":
            cost += 11.0 if "\uac00" <= letter <= "\ud7a3" else _RARE
        elif "\u4e00" <= letter <= "\u9fff":
            cost += _COMMON if _is_common(letter, language) else _RARE
        else:
            cost += _RARE
    return cost


def _is_common(letter: str, language: str) -> bool:
    """Whether a character is among the few thousand that a standard put first."""
    try:
        lead = letter.encode({"zh": "gb2312", "zh_Hant": "big5", "ja": "euc_jp"}[language])[0]
    except UnicodeEncodeError:
        return False
    return lead <= {"zh": 0xD7, "zh_Hant": 0xC6, "ja": 0xCF}[language]


@lru_cache
def _lines() -> list[list[str]]:
    return [line.split(" ") for line in LETTERS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


@lru_cache
def _tables() -> dict[str, _Pairs]:
    tables = {language: _Pairs() for language in ALPHABETS}
    for language, rare, *letter_pairs in _lines():
        if rare != "*":
            table = tables[language]
            table.known.update(dict.fromkeys(letter_pairs, float(rare)))
            table.letters.update(letter for pair in letter_pairs for letter in pair if letter > "\x7f")
    return tables


@lru_cache
def _letters() -> dict[str, frozenset[str]]:
    return {language: frozenset(alphabet[0]) for language, rare, *alphabet in _lines() if rare == "*"}


def _only_signs(lines: list[bytes]) -> bool:
    """Whether everything beyond ASCII is a sign that stands alone, as in `21 °C`, `5 m²` and `£7`."""
    for line in lines:
        for high_bytes in _HIGH_BYTES.finditer(line):
            sign = high_bytes.group().decode("cp1252", "replace")
            before, after = (
                line[position : position + 1].decode("ascii", "replace")
                for position in (high_bytes.start() - 1, high_bytes.end())
            )
            if sign not in _USUAL or (before.isalpha() and sign not in "²³"):
                return False
            if after.isalpha() and sign + after not in _UNITS:
                return False
    return bool(lines)


def _doubtful(name: str, data: bytes, readings: list[Reading]) -> Reading:
    """The likeliest reading if few lines depend on it, else the error that shows a line in each of the likeliest."""
    lines_shown: dict[str, str] = {}
    texts: set[str] = set()
    places = None
    for reading in readings:
        lines = reading.text.split("\n")
        if reading.text in texts:
            continue
        texts.add(reading.text)
        if places is None:
            places = max(
                range(min(len(lines), 50)), key=lambda line_index: sum(letter > "\x7f" for letter in lines[line_index])
            )
        lines_shown[reading.encoding] = _beyond_ascii(lines[places])
        if len(lines_shown) == 4:
            break
    line = _line_number(data, _sample(data)[places or 0]) if readings else 0
    line_readings = ", ".join(f"{encoding}: {short(text)}" for encoding, text in lines_shown.items())
    count, all_lines = sum(1 for _ in _LINES.finditer(data)), max(data.count(b"\n"), data.count(b"\r"), 1)
    if count <= FEW_LINES * all_lines:
        best = readings[0]
        if best.poor > POOR:
            best = next((reading for reading in readings if reading.encoding == "cp1252"), best)
        lines_said = "1 line has" if count == 1 else f"{count:,} of {all_lines:,} lines have"
        return replace(best, doubt=(
            f"{Path(name).name} is not UTF-8: {lines_said} letters that do not determine the encoding; it is read as "
            f"{best.encoding}. Line {line:,} reads as {line_readings}. Name the right encoding if it is another "
            "(--encoding), or correct these lines."
        ))  # fmt: skip
    raise DataError(
        f"{name} is not UTF-8, and its letters do not determine the encoding. Line {line:,} reads as "
        f"{line_readings}. Name "
        'the right one (--encoding, or encoding = "…" in the job), or save the file as UTF-8.'
    )


def _beyond_ascii(line: str) -> str:
    """The part of a line that holds its first letters beyond ASCII."""
    first = next((index for index, letter in enumerate(line) if letter > "\x7f"), 0)
    start = max(line.rfind(" ", 0, max(first - 12, 0)) + 1, first - 24, 0)
    return line[start : start + 50]


def _line_number(data: bytes, line: bytes) -> int:
    position = data.find(line)
    return data.count(b"\n", 0, position) + 1 or data.count(b"\r", 0, position) + 1


_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
_PIECE = 1 << 18
_IF_WRONG = "If texts look wrong, name another encoding (--encoding)."


def encoding_of(sample: bytes, whole: Callable[[], bytes], named: str | None, name: str) -> tuple[str, tuple[str, ...]]:
    """The encoding of a file by its first bytes, or by the `whole` of them, and what is said of it.

    `named` is what the user says: it counts, unless the file is UTF-8 and it would make nonsense of that.

    >>> encoding_of(b"a,b", lambda: b"a,b", None, "t.csv")
    ('utf-8', ())
    """
    for mark, encoding in _BOMS:
        if sample.startswith(mark):
            if encoding == "utf-8-sig":
                return encoding, ()
            return named or encoding, (f"{Path(name).name} is read as {encoding}, according to its first bytes.",)
    if named is not None:
        return _named(sample, named, name)
    if (wide := _of_zeros(sample)) is not None:
        return wide, (f"{Path(name).name} is read as {wide}. {_IF_WRONG}",)
    if b"\x1b$" in sample and sample.isascii():
        return "iso2022_jp", (
            f"{Path(name).name} is read as iso2022_jp. If texts look wrong, name another (--encoding).",
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) < _PIECE)
    except UnicodeDecodeError:
        return encoding_beside_utf8(whole(), name)
    return "utf-8", ()


def encoding_beside_utf8(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """The encoding of bytes that are not UTF-8; damaged UTF-8 stays UTF-8, and is told when it is read."""
    if not _looks_older(data):
        return "utf-8", ()
    reading = find_encoding(data, name)
    return reading.encoding, (
        reading.doubt or f"{Path(name).name} is not UTF-8: its letters say that it is {reading.encoding}. {_IF_WRONG}",
    )


def _named(sample: bytes, named: str, name: str) -> tuple[str, tuple[str, ...]]:
    try:
        narrow = len("é".encode().decode(named, "replace")) == 2
        sample.decode("utf-8")
    except (LookupError, UnicodeError, ValueError, TypeError):
        return named, ()
    if narrow and not sample.isascii():
        return "utf-8", (
            f"{Path(name).name} is UTF-8 and is read as UTF-8, not as {named}: that would change its letters.",
        )
    return named, ()


def _of_zeros(sample: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, by where its zero bytes lie; other zero bytes are refused."""
    zeros = sample.count(0)
    if not zeros:
        return None
    best: tuple[int, str] = (0, "")
    for encoding, unit in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        try:
            text = sample[: len(sample) // unit * unit].decode(encoding)
        except UnicodeDecodeError:
            continue
        plain = len(re.findall(r"[\t\r\n -~]", text))
        # What stands for nothing, or is a sign of control, is no text.
        if len(sample) % unit == 0 or len(sample) >= _PIECE:
            wrong = sum(
                unicodedata.category(letter) in ("Cc", "Cn", "Co", "Cs")
                for letter in text[:2000]
                if letter not in "\t\r\n"
            )
            if not wrong and plain > best[0]:
                best = plain, encoding
    if best[1] and best[0] * 20 >= len(sample) // 4:
        return best[1]
    if zeros * 20 > len(sample):
        raise DataError(
            "This does not look like a text file: it is full of zero bytes. Give a CSV file, or use the suffix "
            "of its real format (.parquet, .xlsx, .feather …)."
        )
    return None  # told with its line when the whole file is read


def _looks_older(data: bytes) -> bool:
    """Whether bytes that are not UTF-8 are an older encoding rather than damaged UTF-8."""
    good = bad = 0
    for start in range(0, len(data), _PIECE):
        rest, sequences = _UTF8_SEQUENCE.subn(b"", data[start : start + _PIECE])
        good += sequences
        bad += len(_HIGH_BYTE.findall(rest))
    return bad > good


def decode(data: bytes, encoding: str, name: str) -> str:
    """The whole text, or an error that names the line and byte that cannot be decoded."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise undecodable(data, error.start, encoding, name) from None
    except UnicodeError as error:
        raise DataError(f"{name} is not valid {encoding}: {error}.") from None


def undecodable(data: bytes, position: int, encoding: str, name: str) -> DataError:
    """The error for a byte that does not belong to the encoding."""
    line = data.count(b"\n", 0, position) + 1
    near = data[max(0, position - 15) : position + 15].decode("ascii", "backslashreplace")
    return DataError(
        f"{name} is not valid {encoding}: line {line:,}, byte {position + 1:,} of the file is 0x{data[position]:02x} "
        f"(near {near!r}). Save the file as UTF-8, or name its encoding, e.g. encoding='latin-1'."
    )
