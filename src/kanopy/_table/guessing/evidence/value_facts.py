"""What the values of a column look like: facts that the tables of evidence name."""

from __future__ import annotations

from kanopy._table.guessing.column_names import words_of
from kanopy._table.guessing.evidence.people_numbers import number_of_people
from kanopy._table.guessing.evidence.views import ColumnView, FactFunction
from kanopy._table.guessing.lexicon import Meaning, lexicon
from kanopy._table.guessing.personal_data import first_names
from kanopy._table.guessing.value_kinds import (
    BANDS,
    FALSE,
    FEWEST_ROWS_TO_JUDGE,
    MONEY_SIGNS,
    MOSTLY,
    TEXTS,
    TRUE,
    Values,
)

FEW_VALUES, SOME_VALUES = 12, 60
"""Columns of so few different values tell few people apart; of so many, some."""
LONG_TEXT, FEWEST_NAMES, HALF = 40, 5, 0.5
MOST_COUNTED = 0.05
"""What is counted has few different values for its rows; numbers of people have many."""
LARGEST_COUNT, LARGEST_DIGIT, LONGEST_SCALE, RARE = 1000, 9, 5, 0.01
MOST_GRADES, LONGEST_MARK, MOST_YEARS_OF_SCHOOL = 18, 3, 25
HEAVY, LIGHT, SKEWED, ABOUT_ONE, SPREAD = 300.0, 5.0, 6.0, 0.25, 3.0
"""Weights of more or less than people have, that differ so many times or are one on average, count people; what is
weighed, such as cars or babies, hardly differs three times from the lightest twentieth to the heaviest."""
MOVES, FEWEST_TO_COMPARE = 0.6, 10
"""A rank correlation from which on two measures go together; fewer pairs tell nothing."""
MOST_COMPARED = 2000
RARELY, SOMETIMES = 0.2, 0.3
"""Phrases have digits in fewer, and blanks between words in more of the values."""
FARTHEST, NEAR, FINE, SHORTEST_CODE = 180.0, 30.0, 1000, 1000
FIRST_YEAR, LAST_YEAR, OLDEST = 1850, 2040, 115
YES, NO = frozenset(TRUE), frozenset(FALSE)
SAID_YES = YES | frozenset("ja oui si sí sim tak evet да 是 はい 예 نعم हाँ".split())  # noqa: SIM905
SAID_NO = NO | frozenset("nein non não nao nie nej nee hayır нет 否 いいえ 아니오 لا नहीं".split())  # noqa: SIM905
LETTERS_OF_SEX = frozenset("mfwvkdxu")


def largest(seen: Values) -> float:
    """The largest number of a column, without codes for missing values; minus infinity if it has none."""
    maximum = seen.true_numbers.max() if seen.numeric else None
    return maximum if isinstance(maximum, float) else float("-inf")


def smallest(seen: Values) -> float:
    """The smallest number of a column, without codes for missing values; infinity if it has none."""
    minimum = seen.true_numbers.min() if seen.numeric else None
    return minimum if isinstance(minimum, float) else float("inf")


def whole(seen: Values) -> bool:
    """Whether all values are whole numbers."""
    return seen.numeric and not seen.fractions


def _flag(column: ColumnView) -> bool:
    return column.seen.distinct == 1 and column.seen.rows < column.table.frame.height


def _yes_or_no(seen: Values) -> bool:
    if seen.nested or seen.distinct != 2:
        return False
    texts = {text.lower() for text in seen.sample.to_list()}
    said_yes, said_no = ({word.lower() for word in words} for words in (SAID_YES, SAID_NO))
    return len(texts & said_yes) == 1 and texts - said_yes <= said_no


def _first_names(seen: Values) -> bool:
    if not seen.text or seen.distinct < FEWEST_NAMES or seen.length > LONG_TEXT:
        return False
    return first_names(seen.sample.to_list()) >= HALF


def _counts(column: ColumnView) -> bool:
    seen = column.seen
    few = seen.distinct <= MOST_COUNTED * seen.rows
    return len(column.words) > 1 and few and whole(seen) and largest(seen) < LARGEST_COUNT


def _counts_from_nought(seen: Values) -> bool:
    if not whole(seen) or not 2 < seen.distinct <= FEW_VALUES:
        return False
    numbers = set(seen.numbers.to_list())
    return numbers <= {float(digit) for digit in range(LARGEST_DIGIT + 1)} and min(numbers) != 1


def _rarely_many(seen: Values) -> bool:
    if not whole(seen) or not LONGEST_SCALE < seen.distinct <= FEW_VALUES:
        return False
    high = largest(seen)
    rare = float((seen.numbers == high).mean() or 0) < RARE  # type: ignore[arg-type]
    return rare and smallest(seen) == 1 and high <= FEW_VALUES


def _answers(seen: Values) -> bool:
    if not seen.text or not len(seen.sample):
        return False
    with_answer = sum(bool(lexicon().answers & set(words_of(text))) for text in seen.sample.to_list())
    return with_answer >= HALF * len(seen.sample)


def _scale(seen: Values) -> bool:
    """Steps from one on, as of a question with five or seven answers.

    >>> import polars as pl
    >>> [_scale(Values(pl.Series(steps))) for steps in ([1, 2, 3, 2], [2, 3, 4, 3], [1, 2, 30])]
    [True, False, False]
    """
    if not whole(seen) or not 2 < seen.distinct <= FEW_VALUES:
        return False
    return smallest(seen) == 1 and largest(seen) <= FEW_VALUES and not _rarely_many(seen)


def _grades_of_people(seen: Values) -> bool:
    """Years of school (whole numbers, some above six) or ranks (words), not marks such as B+ or 1.3."""
    numbers = seen.numbers if not seen.numeric and len(seen.numbers) >= HALF * max(len(seen.sample), 1) else None
    if seen.text and numbers is None:
        return seen.length > LONGEST_MARK
    numbers = seen.numbers if numbers is None else numbers
    low, high = numbers.min(), numbers.max()
    if not isinstance(low, float) or not isinstance(high, float) or seen.distinct <= 2:
        return False
    return bool((numbers == numbers.floor()).all()) and low >= 0 and 6 < high <= MOST_GRADES


def _counts_population(column: ColumnView) -> bool:
    """Weights that say how many people of a population each record stands for."""
    numbers = column.seen.true_numbers
    middle, most = numbers.median(), numbers.max()
    if not isinstance(middle, float) or not isinstance(most, float) or middle <= 0:
        return False
    birth = any(word.startswith(("birth", "bw", "b")) for word in column.words)
    about_one = abs(float(numbers.mean() or 0) - 1) < ABOUT_ONE  # type: ignore[arg-type]
    low, high = (numbers.quantile(share) or 0.0 for share in (0.05, 0.95))
    spread = high >= SPREAD * low
    return (middle > HEAVY and spread and not birth) or (most < LIGHT and spread) or about_one or most > SKEWED * middle


def _moves_with_measures(column: ColumnView) -> bool:
    """Whether another column of many numbers goes up or down with it, as the length of a car does with its weight.

    Sampling weights depend on how people were drawn, which hardly any answer tells.
    """
    import polars as pl

    own_words = set(column.words)
    others = [
        name
        for name, seen in column.table.values.items()
        if name != column.name and seen.numeric and seen.distinct > FEW_VALUES and not own_words & set(words_of(name))
    ]
    if column.seen.distinct < FEWEST_TO_COMPARE or not others:
        return False
    numbers = column.table.frame.head(MOST_COMPARED).select(
        pl.col(name).cast(pl.String).cast(pl.Float64, strict=False) for name in (column.name, *others)
    )
    for name in others:
        both = numbers.select(column.name, name).drop_nulls()
        if both.height >= FEWEST_TO_COMPARE:
            moves = both.select(pl.corr(column.name, name, method="spearman")).item()
            if abs(moves or 0.0) >= MOVES:
                return True
    return False


def _may_be_weights(seen: Values) -> bool:
    """Numbers above nought, some with fractions or large ones, as survey weights are."""
    return seen.numeric and smallest(seen) >= 0 and largest(seen) > 0 and seen.distinct >= 1


def _body(seen: Values) -> bool:
    """Where weights of people lie, in kilograms or pounds."""
    low, high = smallest(seen), largest(seen)
    return low >= 20 and 60 <= high <= 400 and high < 5 * low


def _degrees(seen: Values) -> bool:
    """Degrees of places: written to four decimals or more, on the globe, near each other."""
    low, high = smallest(seen), largest(seen)
    if not seen.fractions or max(-low, high) > FARTHEST:
        return False
    finer = seen.numbers * FINE
    return high - low < NEAR and int((finer != finer.round()).sum()) >= MOSTLY * len(finer)


def _large_codes(seen: Values) -> bool:
    """Large whole numbers that all have as many digits."""
    low, high = smallest(seen), largest(seen)
    return whole(seen) and SHORTEST_CODE <= low < high < 1e18 and len(str(int(low))) == len(str(int(high)))


def _running(column: ColumnView) -> bool:
    """Numbers that go up by one from record to record and begin anew at one."""
    import polars as pl

    seen = column.seen
    if not whole(seen) or seen.distinct <= 2 or smallest(seen) != 1 or seen.rows < column.table.frame.height:
        return False
    values = column.table.frame[column.name]
    numbers = (values if values.dtype.is_numeric() else values.cast(pl.String)).cast(pl.Float64, strict=False)
    steps = (numbers.diff() == 1) | (numbers == 1)
    return bool(steps[1:].all()) and bool((numbers.diff() == 1).any())


def meaning_of_values(seen: Values) -> Meaning | None:
    """What the values of a column of few texts speak of, word by word: `Divorced`, `Hauptschule`, `Black`."""
    if not seen.text or not 2 <= seen.distinct <= SOME_VALUES:
        return None
    texts = [words for text in seen.sample.to_list() if (words := _words_of_value(text))]
    if len(texts) < 2:
        return None
    if {"m"} < {word for words in texts for word in words} <= LETTERS_OF_SEX and len(texts) <= FEW_VALUES:
        return next(meaning for meaning in lexicon().meanings if "male" in meaning.values)
    with_values = [meaning for meaning in lexicon().meanings if meaning.values]
    counted = [sum(any(word in meaning.values for word in words) for words in texts) for meaning in with_values]
    most = max(range(len(with_values)), key=counted.__getitem__)
    return with_values[most] if counted[most] >= max(2, HALF * len(texts)) else None


def _words_of_value(text: str) -> tuple[str, ...]:
    return words_of(text) if text.isascii() else (*words_of(text), *text.casefold().split())


def _words(column: ColumnView, argument: str) -> bool:
    meaning = meaning_of_values(column.seen)
    return meaning is not None and argument in (meaning.role, meaning.says)


def _of(function: object) -> FactFunction:
    return lambda column, _: function(column.seen)  # type: ignore[operator]


def _many_long(seen: Values) -> bool:
    return seen.free_text or (seen.length > LONG_TEXT and seen.text and not seen.dates and seen.distinct > 50)


FACTS: dict[str, FactFunction] = {
    "empty": lambda column, _: column.seen.rows == 0,
    "constant": lambda column, _: column.seen.distinct == 1 and column.seen.rows == column.table.frame.height,
    "flag": lambda column, _: _flag(column),
    "mostly missing": lambda column, _: column.seen.rows < HALF * column.table.frame.height,
    "no lists but nested": lambda column, _: column.seen.nested and not column.seen.elements,
    "lists": lambda column, _: column.seen.elements > 0,
    "text": _of(lambda seen: seen.text),
    "number": _of(lambda seen: seen.numeric),
    "whole": _of(whole),
    "fractions": _of(lambda seen: seen.fractions),
    "dates": _of(lambda seen: seen.dates),
    "yes or no": _of(_yes_or_no),
    "two values": _of(lambda seen: seen.distinct == 2),
    "few values": _of(lambda seen: seen.distinct <= FEW_VALUES),
    "some values": _of(lambda seen: FEW_VALUES < seen.distinct <= SOME_VALUES),
    "many values": _of(lambda seen: seen.distinct > SOME_VALUES),
    "more than": lambda column, argument: column.seen.distinct > int(argument),
    "more per row": lambda column, argument: column.seen.distinct > float(argument) * column.seen.rows,
    "nearly unique": _of(lambda seen: seen.nearly_unique),
    "many alone": _of(lambda seen: seen.many_alone),
    "few rows": _of(lambda seen: seen.rows < FEWEST_ROWS_TO_JUDGE),
    "fewer rows": lambda column, argument: column.seen.rows < int(argument),
    "leading zeros": _of(lambda seen: seen.leading_zeros),
    "phrases": _of(
        lambda seen: seen.text and seen.share(r"\d") < RARELY and seen.share(r"\p{L}\s+\S*\p{L}") >= SOMETIMES
    ),
    "codes": _of(lambda seen: seen.codes),
    "long texts": _of(_many_long),
    "longer": lambda column, argument: column.seen.length > float(argument),
    "full names": _of(lambda seen: seen.full_names),
    "first names": _of(_first_names),
    "points at people": _of(lambda seen: seen.points_at_people is not None),
    "number of people": lambda column, _: number_of_people(column.seen) is not None,
    "amounts of money": _of(lambda seen: isinstance(seen.column.dtype, TEXTS) and seen.share(MONEY_SIGNS) >= MOSTLY),
    "codes of diseases": _of(lambda seen: seen.disease_codes),
    "bands": _of(lambda seen: seen.text and seen.share(BANDS) >= MOSTLY),
    "words of": _words,
    "speaks": _of(lambda seen: meaning_of_values(seen) is not None),
    "counts": lambda column, _: _counts(column),
    "counts from nought": _of(_counts_from_nought),
    "rarely many": _of(_rarely_many),
    "scale": _of(_scale),
    "answers": _of(_answers),
    "negative": _of(lambda seen: smallest(seen) < 0),
    "above": lambda column, argument: largest(column.seen) > float(argument),
    "up to": lambda column, argument: column.seen.numeric and largest(column.seen) <= float(argument),
    "from": lambda column, argument: column.seen.numeric and smallest(column.seen) >= float(argument),
    "nought and one": _of(lambda seen: seen.numeric and set(seen.numbers.unique().to_list()) <= {0.0, 1.0}),
    "grades of people": _of(_grades_of_people),
    "years of school": _of(
        lambda seen: whole(seen) and seen.distinct > FEW_VALUES and smallest(seen) >= 0
        and largest(seen) <= MOST_YEARS_OF_SCHOOL
    ),
    "years": _of(lambda seen: whole(seen) and smallest(seen) >= FIRST_YEAR and largest(seen) <= LAST_YEAR),
    "ages": _of(lambda seen: seen.numeric and smallest(seen) >= 0 and 12 < largest(seen) <= OLDEST),
    "counts a population": lambda column, _: column.seen.numeric and _counts_population(column),
    "may be weights": _of(_may_be_weights),
    "weights of bodies": _of(_body),
    "moves with measures": lambda column, _: column.seen.numeric and _moves_with_measures(column),
    "degrees": _of(_degrees),
    "large codes": _of(_large_codes),
    "running": lambda column, _: _running(column),
}  # fmt: skip
