"""A guess at the role of every column, with the reason and how sure it is. What is not clear stays undecided."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from kanopy._table.guessing.company import (
    FEW_VALUES,
    HALF,
    LIKELY,
    NOTHING,
    SURE,
    UNSURE,
    coarser,
    groups,
    measures,
    relatives,
    told_by,
)
from kanopy._table.guessing.lexicon import (
    BODY,
    COORDINATES,
    DATE,
    DURATION,
    EDUCATION,
    FREE_TEXT,
    HEALTH,
    MONEY,
    ORIGIN,
    PERSON_NAME,
    POST_CODE,
    RECORD_NUMBER,
    RESULTS,
    SURVEY_WEIGHT,
    WORK,
    YEAR,
    Meaning,
    lexicon,
)
from kanopy._table.guessing.names import ENDINGS_OF_NUMBERS, SHORTEST_STEM, STEM, WORD, Spoken, meanings_of, words_of
from kanopy._table.guessing.personal import first_names
from kanopy._table.guessing.structure import hangs_on
from kanopy._table.guessing.values import BANDS, FEWEST_ROWS_TO_JUDGE, MONEY_SIGNS, MOSTLY, TEXTS, Values
from kanopy._table.roles import HOUSEHOLD_WORDS, Role

LONG_TEXT = 40
WEIGHT_WORDS = ("weight", "wt", "gewicht", "poids", "peso")
HEAVY, LIGHT, SKEWED, ABOUT_ONE = 300.0, 5.0, 6.0, 0.25
"""Weights of more or less than people have, that differ so many times or are one on average, count people."""
FEWEST_NAMES = 5
MOST_WORDS = 60
"""The values of a column of at most so many different texts are looked up as words."""
FEW_PER_ROW = 0.1
NUMBERS = "its values number them"
FEWEST_UNITS, MOST_UNITS = 20, 0.95
"""People of whom a table holds several rows each: enough of them to hide among, and fewer than rows."""
MOST_COUNTED = 0.05
"""What is counted has few different values for its rows; numbers of people have many."""
MOST_GRADES = 18
MOTHERS, MOST_YEARS_OF_SCHOOL = frozenset({"med"}), 25
LANGUAGES = frozenset({"english", "german", "french", "spanish", "latin", "language"})
GRADES, LIMITS = frozenset({"grade", "gradelevel"}), frozenset({"limit", "limits"})
EXPENSES, MOST_EXPERIENCE = frozenset({"exp"}), 100
"""Experience is counted in years; larger numbers are expenses."""
LARGEST_DIGIT = 9
LONGEST_SCALE, RARE = 5, 0.01
"""Longer scales of which hardly anybody takes the highest step are counts, as of people in a home."""
PARTS_OF_DATES = ("yr", "year", "mon", "mois", "mes", "maand", "day", "dow", "week", "date", "dato", "datum")
NOTES, LONGEST_MARK = frozenset({"note", "notes"}), 3
"""What is longer is no mark such as B+, but a word."""
LETTERS_OF_SEX = frozenset("mfwvkdxu")


@dataclass(frozen=True)
class Guess:
    """A guess at a column's role: why, how sure (`sure`, `likely`, `unsure`), and what kind of hierarchy would suit.

    `hierarchy_hint` is one of `numeric`, `date`, `mask` (codes cut from the right), `grouping` (few named values),
    `semantic` (words with a meaning) or `None`. `missing` are values that seem to stand for missing ones; `alone`: most
    records have a value of their own.
    """

    column: str
    role: Role
    reason: str
    hierarchy_hint: str | None
    certainty: str = LIKELY
    missing: tuple[str, ...] = ()
    alone: bool = False


def guess_roles(frame: pl.DataFrame) -> list[Guess]:
    """A guess for every column, with the reason in plain words; `kanopy init` shows and writes them down.

    Names are looked up in several languages and as abbreviations; values tell addresses, numbers of persons, dates,
    codes and free text; columns that say the same as another share its role. What nothing speaks of, and could still
    point at people, is undecided: it is not published until somebody decides.

    >>> [str(guess.role) for guess in guess_roles(pl.DataFrame({"Name": ["Ann"], "Alter": [41], "income": [9]}))]
    ['identifier', 'quasi-identifier', 'sensitive']
    """
    values = {name: Values(frame[name].rename("")) for name in frame.columns}
    found = {name: _guess(frame, name, values) for name in frame.columns}
    alike = [each(frame, values, found) for each in (coarser, groups, relatives)]
    for name, (other, why) in {name: why for each in alike for name, why in each.items()}.items():
        reason = f"{why} {other!r}, which is {_a(found[other].role)}"
        like = found[other]
        found[name] = replace(found[name], role=like.role, reason=reason, hierarchy_hint=like.hierarchy_hint)
    found |= measures(values, found)
    found |= told_by(frame, values, found)
    unit = _unit(frame, values, found)
    if unit is not None:
        whose = found[unit].reason.partition(";")[0]
        reason = f"{whose}; several rows have the same: the promise counts its values, not rows"
        found[unit] = replace(found[unit], role=Role.UNIT, reason=reason)
    return [
        replace(
            guess,
            reason=guess.reason + _alone(guess, values[name]),
            missing=values[name].missing_codes,
            alone=values[name].many_alone,
        )
        for name, guess in found.items()
    ]


def _unit(frame: pl.DataFrame, values: Mapping[str, Values], found: Mapping[str, Guess]) -> str | None:
    """The key whose rows are about one person, where several rows are; not one of households, schools or places."""
    keys = [
        name
        for name, guess in found.items()
        if guess.role == Role.IDENTIFIER
        and (NUMBERS in guess.reason or RECORD_NUMBER in guess.reason)
        and FEWEST_UNITS <= values[name].distinct <= MOST_UNITS * values[name].rows
        and values[name].rows == frame.height
        and not HOUSEHOLD_WORDS & set(words_of(name))
        and not about_places(name)
        and hangs_on(frame, name, values)
    ]
    return max(keys, key=lambda name: values[name].distinct, default=None)


def _a(role: Role) -> str:
    return f"{'an' if role[0] in 'iu' else 'a'} {role}" if role in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER) else role


def _alone(guess: Guess, seen: Values) -> str:
    """A word about sensitive values that most records have alone and that are published as they are."""
    if guess.role != Role.SENSITIVE or not seen.many_alone:
        return ""
    return (
        f"; published untouched, though {seen.alone:,} records have a value of their own: whoever knows it finds them"
    )


def _guess(frame: pl.DataFrame, name: str, values: Mapping[str, Values]) -> Guess:
    seen = values[name]
    shape = f"{seen.distinct:,} different values in {seen.rows:,} records"
    if seen.elements:
        parted = "" if seen.separator is None else f" parted by {seen.separator!r}"
        reason = f"holds lists{parted} of {seen.elements:,} different elements, of which others may know some"
        return Guess(name, Role.QUASI_IDENTIFIER, reason, None, LIKELY)
    if seen.nested:
        return Guess(
            name, Role.IDENTIFIER, f"holds {frame[name].dtype} values, which cannot be generalized", None, SURE
        )
    if seen.rows == 0 or (seen.distinct == 1 and seen.rows > 1):
        return _constant(name, seen)
    pointer = seen.points_at_people
    if pointer is not None:
        return Guess(name, Role.IDENTIFIER, f"its values look like {pointer}; {shape}", None, SURE)
    if _counts_people(frame, name, seen, values):
        reason = f"its name speaks of people, and {NUMBERS}; {shape}"
        return Guess(name, Role.IDENTIFIER, reason, None, LIKELY)
    spoken = meanings_of(name)
    if seen.free_text or (seen.length > LONG_TEXT and seen.text and not seen.dates and seen.distinct > 50):
        reason = f"is free text ({seen.length:.0f} characters on average): it may say anything about a person"
        return Guess(name, Role.IDENTIFIER, reason, None, SURE)
    if (seen.full_names or _first_names(seen)) and not about_places(name):
        return Guess(name, Role.IDENTIFIER, f"its values look like names of people; {shape}", None, LIKELY)
    for meaning in spoken:
        guess = _by_name(frame, name, seen, meaning, values, shape)
        if guess is not None:
            return guess
    return _by_values(frame, name, seen, values, shape)


def _first_names(seen: Values) -> bool:
    """Whether half of the values hold a first name of a person and hardly anything else."""
    if not seen.text or seen.distinct < FEWEST_NAMES or seen.length > LONG_TEXT:
        return False
    return first_names(seen.sample.to_list()) >= HALF


def _constant(name: str, seen: Values) -> Guess:
    """A column of one value tells nobody apart; where its name speaks clearly of what others know, or should not, it is
    that all the same: the next table may have other values, and all may share what nobody should learn."""
    why = "has the same value in every record" if seen.rows else "is empty"
    clear = next((each.meaning for each in meanings_of(name) if each.strength >= WORD), None) if seen.rows else None
    if clear is None or clear.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        return Guess(name, Role.INSENSITIVE, why, None, SURE)
    ranks = clear.says == RESULTS and GRADES & set(words_of(name)) and _grades_of_people(seen)
    role = Role.QUASI_IDENTIFIER if ranks else clear.role
    return Guess(name, role, f"its name speaks of {clear.says}; {why}", None, LIKELY)


def _by_name(
    frame: pl.DataFrame, name: str, seen: Values, spoken: Spoken, values: Mapping[str, Values], shape: str
) -> Guess | None:
    """The guess that a meaning of the name leads to, or `None` where the values do not fit it."""
    meaning = spoken.meaning
    says = f"its name speaks of {meaning.says}; {shape}"
    certainty = SURE if spoken.strength >= WORD else LIKELY if spoken.strength >= STEM else UNSURE
    if meaning.says == RECORD_NUMBER:
        return _record_number(frame, name, seen, values, says)
    if meaning.role == Role.INSENSITIVE and spoken.strength < WORD:
        return None  # a part of its name is too little to call a column harmless
    if (meaning.says == FREE_TEXT and seen.numeric) or (meaning.says == PERSON_NAME and seen.dates):
        return None
    if meaning.role == Role.SENSITIVE and _kinds_of_people(seen) and seen.text and _only_short(name, meaning):
        why = f"{says}; but so short a word may mean another thing: decide what it is"
        return Guess(name, Role.UNDECIDED, why, "grouping", UNSURE)
    if meaning.says == HEALTH and MOTHERS & set(words_of(name)) and _years_of_school(seen):
        meaning = next(each for each in lexicon().meanings if each.says == EDUCATION)
        says = f"its name and values may speak of a mother's {EDUCATION}; {shape}"
    if meaning.says in (DATE, YEAR, DURATION) and not _can_be_time(meaning, name, seen):
        return None
    if meaning.says == ORIGIN and LANGUAGES & set(words_of(name)) and seen.numeric and seen.distinct > FEW_VALUES:
        meaning = next(each for each in lexicon().meanings if each.says == RESULTS)
        says = f"its name and values speak of {RESULTS} in a language; {shape}"
    if meaning.says == PERSON_NAME and not (seen.text and _names_people(name, seen)):
        return None
    if meaning.role == Role.IDENTIFIER and _counts(name, seen):
        return None
    if meaning.says == RESULTS and GRADES & set(words_of(name)) and _grades_of_people(seen):
        kind = "numeric" if seen.numeric else "grouping"
        return Guess(name, Role.QUASI_IDENTIFIER, f"its values are grades of a school or a rank; {shape}", kind, LIKELY)
    if meaning.says == RESULTS and NOTES & set(words_of(name)) and seen.text and seen.length > LONGEST_MARK:
        return Guess(name, Role.IDENTIFIER, f"its name and values speak of remarks; {shape}", None, LIKELY)
    if meaning.says == HEALTH and LIMITS & set(words_of(name)) and seen.numeric and seen.distinct > FEW_VALUES:
        meaning = next(each for each in lexicon().meanings if each.says == MONEY)
        says = f"its name and values speak of {MONEY}; {shape}"
    if meaning.says == WORK and EXPENSES & set(words_of(name)) and seen.numeric and _above(seen, MOST_EXPERIENCE):
        meaning = next(each for each in lexicon().meanings if each.says == MONEY)
        says = f"its name and values speak of {MONEY}; {shape}"
    if meaning.says == POST_CODE and seen.numeric and not _above(seen, LARGEST_DIGIT):
        return None
    if meaning.role == Role.IDENTIFIER and seen.distinct <= FEW_VALUES and (seen.rows >= 200 or not seen.text):
        if meaning.says != COORDINATES or not seen.text:
            return None
        return Guess(name, Role.QUASI_IDENTIFIER, f"{says}, few of them: a kind of place", "grouping", LIKELY)
    if meaning.says == COORDINATES and "long" in words_of(name) and not (seen.numeric and seen.fractions):
        return None
    if meaning.says == BODY and seen.numeric and _counts_population(name, seen):
        return Guess(name, Role.INSENSITIVE, f"looks like a survey weight; {shape}", None, LIKELY)
    if meaning.says == SURVEY_WEIGHT and seen.numeric and _could_be_body(seen):
        meaning = next(each for each in lexicon().meanings if each.says == BODY)
        says = f"its name and values may speak of {BODY}; {shape}"
    if meaning.role == Role.INSENSITIVE and seen.many_alone and not seen.dates and seen.distinct > FEW_VALUES:
        return Guess(name, Role.UNDECIDED, f"{says}, many of them of one record only: decide", "numeric", UNSURE)
    unclear = meaning.role == Role.SENSITIVE and spoken.strength < WORD
    if unclear and seen.text and seen.nearly_unique and seen.rows >= FEWEST_ROWS_TO_JUDGE:
        return None  # a part of its name is too little to publish texts that nearly every record has alone
    if meaning.says == "sex or gender" and seen.distinct > 60:
        return None
    if meaning.alone & set(words_of(name)) and len(words_of(name)) == 1 and seen.distinct == 2:
        return None  # one of two classes is an outcome, not a social class
    hint = meaning.hint
    if seen.dates:
        hint = "date"
        if meaning.role in (Role.SENSITIVE, Role.INSENSITIVE):  # when it happened is known, whatever it was
            return Guess(name, Role.QUASI_IDENTIFIER, f"{says}; its dates others may know", hint, LIKELY)
    elif hint == "date" or (seen.numeric and hint not in ("mask", None)):
        hint = "numeric" if seen.numeric else "grouping"
    return Guess(name, meaning.role, says, hint, certainty)


def _counts(name: str, seen: Values) -> bool:
    """Whether a column counts things, as `num_open_accounts` does: small whole numbers of which few differ."""
    high = seen.numbers.max() if seen.numeric and not seen.fractions else None
    few = seen.distinct <= MOST_COUNTED * seen.rows
    return len(words_of(name)) > 1 and few and isinstance(high, float) and high < 1000


def _only_short(name: str, meaning: Meaning) -> bool:
    """Whether nothing but a word of at most three letters speaks of a meaning: `rep` may be a party or a department."""
    words = words_of(name)
    parts = (*words, "".join(words), *("".join(pair) for pair in itertools.pairwise(words)))
    found = [part for part in parts if meaning in lexicon().index.get(part, ())]
    return bool(found) and max(map(len, found)) <= SHORTEST_STEM - 2


def _years_of_school(seen: Values) -> bool:
    """Whether numbers can be years of school: whole, many of them, up to some twenty."""
    whole = seen.numeric and not seen.fractions and not bool((seen.numbers < 0).any())
    return whole and seen.distinct > FEW_VALUES and not _above(seen, MOST_YEARS_OF_SCHOOL)


def _grades_of_people(seen: Values) -> bool:
    """Whether grades are years of school (whole numbers up to eighteen, some above six) or ranks (words), not marks."""
    if seen.text:
        return seen.length > LONGEST_MARK
    low, high = seen.numbers.min(), seen.numbers.max()
    whole = seen.numeric and not seen.fractions and seen.distinct > 2
    return whole and isinstance(low, float) and isinstance(high, float) and low >= 0 and 6 < high <= MOST_GRADES


def _above(seen: Values, limit: float) -> bool:
    """Whether some number is larger than a limit."""
    high = seen.numbers.max()
    return isinstance(high, float) and high > limit


def _can_be_time(meaning: Meaning, name: str, seen: Values) -> bool:
    """Whether values can be dates, years or durations: numbers of yes and no are none of them, texts no durations,
    years no small fractions, and dates no small numbers unless the name speaks of a part of a date."""
    if seen.dates:
        return meaning.says != DURATION
    if seen.numeric and set(seen.numbers.unique().to_list()) <= {0.0, 1.0}:
        return False
    if meaning.says == YEAR:
        return not (seen.fractions and not _above(seen, MOST_EXPERIENCE))
    if meaning.says == DURATION or not seen.numeric:
        return seen.numeric and meaning.says == DURATION
    high = seen.numbers.max()
    return any(part in name.lower() for part in PARTS_OF_DATES) or not isinstance(high, float) or high >= 1000


def about_places(name: str) -> bool:
    """Whether a word of the name speaks of what others may know and is no word for people: a place, an employer."""
    words = [word for word in words_of(name) if word not in lexicon().people]
    return any(each.role == Role.QUASI_IDENTIFIER for word in words for each in lexicon().index.get(word, ()))


def _names_people(name: str, seen: Values) -> bool:
    """Whether the values of a column of names can be those of people: not of places or employers, not a few codes."""
    if about_places(name):
        return False
    return seen.rows < 200 or seen.distinct >= FEW_VALUES


def _counts_population(name: str, seen: Values) -> bool:
    """Whether a column of weights says how many people of a population each record stands for."""
    if not any(word.endswith(WEIGHT_WORDS) for word in words_of(name)):
        return False
    middle, most = seen.true_numbers.median(), seen.true_numbers.max()
    if not isinstance(middle, float) or not isinstance(most, float) or middle <= 0:
        return False
    birth = any(word.startswith(("birth", "bw", "b")) for word in words_of(name))
    about_one = abs(float(seen.true_numbers.mean() or 0) - 1) < ABOUT_ONE  # type: ignore[arg-type]
    return (middle > HEAVY and not birth) or most < LIGHT or about_one or most > SKEWED * middle


def _could_be_body(seen: Values) -> bool:
    """Whether weights lie where those of people do, in kilograms or pounds."""
    low, high = seen.true_numbers.min(), seen.true_numbers.max()
    return isinstance(low, float) and isinstance(high, float) and low >= 20 and 60 <= high <= 400 and high < 5 * low


def _counts_people(frame: pl.DataFrame, name: str, seen: Values, values: Mapping[str, Values]) -> bool:
    """Whether a column is named after people and numbers them: `mom`, `prof`, `child_id`."""
    people = lexicon().people
    words = [word for word in words_of(name) if word not in ENDINGS_OF_NUMBERS]
    named = all(word in people or re.sub(r"(id|no|nr|num|key)$", "", word) in people for word in words)
    if not words or not named or seen.fractions or seen.dates:
        return False
    if seen.distinct <= max(30, 0.02 * seen.rows) or not (seen.numeric or seen.codes):
        return False
    numbered = words_of(name)[-1] in ENDINGS_OF_NUMBERS or words[-1] not in people
    return numbered or seen.distinct > HALF * seen.rows or hangs_on(frame, name, values) > 0


def _record_number(
    frame: pl.DataFrame, name: str, seen: Values, values: Mapping[str, Values], says: str
) -> Guess | None:
    """A number of a record or a person: unique, or repeated with what belongs to the person beside it."""
    if seen.fractions or seen.dates or (words_of(name)[-1] not in ENDINGS_OF_NUMBERS and _counts(name, seen)):
        return None
    if seen.distinct <= FEW_PER_ROW * seen.rows and any(
        each.meaning.role != Role.IDENTIFIER and each.strength >= WORD for each in meanings_of(name)
    ):
        return None  # numbers of departments or kinds, not of people
    if seen.distinct > 0.5 * seen.rows:
        return Guess(name, Role.IDENTIFIER, says, None, SURE)
    if seen.distinct > max(FEW_VALUES, 0.02 * seen.rows):
        hanging = hangs_on(frame, name, values)
        if hanging:
            why = f"{says}; {hanging} other columns have one value for each of them"
            return Guess(name, Role.IDENTIFIER, why, None, LIKELY)
        return Guess(name, Role.IDENTIFIER, f"{says}, each many times", None, LIKELY)
    return None


def _by_values(frame: pl.DataFrame, name: str, seen: Values, values: Mapping[str, Values], shape: str) -> Guess:
    """The guess for a name that says nothing."""
    meaning = _by_words(seen)
    if meaning is not None:
        reason = f"its values speak of {meaning.says}; {shape}"
        return Guess(name, meaning.role, reason, meaning.hint, LIKELY)
    if isinstance(seen.column.dtype, TEXTS) and seen.share(MONEY_SIGNS) >= MOSTLY:
        return Guess(name, Role.SENSITIVE, f"its values are amounts of {MONEY}; {shape}", "numeric", LIKELY)
    if seen.disease_codes:
        return Guess(name, Role.SENSITIVE, f"its values look like codes of diseases; {shape}", "mask", LIKELY)
    if seen.dates:
        return Guess(name, Role.QUASI_IDENTIFIER, f"holds dates, which others may know; {shape}", "date", LIKELY)
    counted = seen.numeric and not seen.fractions and seen.nearly_unique and not bool((seen.numbers < 0).any())
    if seen.many_alone and seen.distinct > FEW_VALUES and (seen.text or counted):
        reason = f"its value occurs only once in {seen.alone:,} of {seen.rows:,} records: there it points at one person"
        return Guess(name, Role.IDENTIFIER, reason, None, LIKELY if seen.nearly_unique else UNSURE)
    reason = f"{NOTHING}; {shape}"
    if _running_number(frame, name, seen):
        why = f"numbers records one after the other, as a number within a household or of a visit does; {shape}: decide"
        return Guess(name, Role.UNDECIDED, why, "numeric", UNSURE)
    if _kinds_of_people(seen):
        why = f"{reason}; it may count or name what others know: decide what it is"
        return Guess(name, Role.UNDECIDED, why, "numeric" if seen.numeric else "grouping", UNSURE)
    if seen.distinct <= FEW_VALUES or (seen.rows < FEWEST_ROWS_TO_JUDGE and seen.numeric):
        # Published as harmless it could not be guarded, and what it says of a person is not known.
        return Guess(name, Role.SENSITIVE, f"{reason}: taken as sensitive until you know better", None, UNSURE)
    if seen.text and seen.share(BANDS) >= MOSTLY:
        return Guess(name, Role.UNDECIDED, f"holds bands of numbers, of what is not clear; {shape}", "grouping", UNSURE)
    telling = f"{reason}; but with so many values it may tell people apart: decide what it is"
    return Guess(name, Role.UNDECIDED, telling, "numeric" if seen.numeric else "grouping", UNSURE)


def _running_number(frame: pl.DataFrame, name: str, seen: Values) -> bool:
    """Whether whole numbers go up by one from record to record and begin anew at one, or their name says that they
    number something: which record it is of a person or a household, others may know."""
    if not seen.numeric or seen.fractions or seen.distinct <= 2 or float(seen.numbers.min() or 0) != 1:  # type: ignore[arg-type]
        return False
    if any(each.meaning.says == RECORD_NUMBER and each.strength >= WORD for each in meanings_of(name)):
        return True
    numbers = frame[name].cast(pl.Float64, strict=False)
    steps = (numbers.diff() == 1) | (numbers == 1)
    return numbers.null_count() == 0 and bool(steps[1:].all()) and bool((numbers.diff() == 1).any())


def _kinds_of_people(seen: Values) -> bool:
    """Whether three to twelve values of unknown meaning may be what others know: counts from nought, as of children, or
    kinds, as of places; not grades of a scale, and not answers such as `never` and `often`."""
    if not 2 < seen.distinct <= FEW_VALUES:
        return False
    if seen.numeric:
        numbers = set(seen.numbers.to_list())
        rare = float((seen.numbers == max(numbers)).mean() or 0) < RARE
        digits = numbers <= {float(each) for each in range(LARGEST_DIGIT + 1)}
        counts = len(numbers) > LONGEST_SCALE and rare and min(numbers) == 1 and max(numbers) <= FEW_VALUES
        return counts or (digits and min(numbers) != 1)
    answers = sum(bool(lexicon().answers & set(words_of(text))) for text in seen.sample.to_list())
    return seen.text and answers < HALF * len(seen.sample)


def _by_words(seen: Values) -> Meaning | None:
    """What the values of a column of few texts speak of, word by word: `Divorced`, `Hauptschule`, `Black`."""
    if not seen.text or not 2 <= seen.distinct <= MOST_WORDS:
        return None
    texts = [words_of(text) for text in seen.sample.to_list()]
    texts = [words for words in texts if words]
    if len(texts) < 2:
        return None
    if {"m"} < {word for words in texts for word in words} <= LETTERS_OF_SEX and len(texts) <= FEW_VALUES:
        return next(each for each in lexicon().meanings if "male" in each.values)
    counted = {
        each.says: sum(any(word in each.values for word in words) for words in texts)
        for each in lexicon().meanings
        if each.values
    }
    says = max(counted, key=lambda each: counted[each])
    if counted[says] < max(2, HALF * len(texts)):
        return None
    return next(each for each in lexicon().meanings if each.says == says)
