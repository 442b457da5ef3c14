"""Which hierarchy fits a column: try the builders that can work on it and rank them by the loss they cause.

The rule. A hierarchy is judged on this column alone. With `rule="level"` (default, as full-domain searches
generalize) all values go to the lowest level whose groups all hold at least k rows; with `rule="cut"` (as local
recodings do) the tree is cut where it is best, so that every group holds k rows and the loss is least, which a small
dynamic programme finds exactly. The loss of a group is the width of its published interval over the range of the data
(numbers and dates), or the share of the other values it covers (text); it is averaged over rows, so 0 means nothing
was generalized and 1 that everything became one group.

Within a table the other columns split the rows further, and groups of many more than k rows are needed. The
second number, `typical_loss`, therefore averages the same loss over k, 2k, 4k, … up to half the rows. It breaks ties.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy._errors import HierarchyError, near_miss
from kanopy._lazy import public
from kanopy._mixins import HtmlReprMixin
from kanopy._parameters import parameters_of
from kanopy._usage import Needs, checked, refuse_in_vain
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.builders.bins import EqualFrequency, EqualWidth, Widths
from kanopy.hierarchy.builders.cardinality import Cbgh, Han
from kanopy.hierarchy.builders.dates import Dates, periods_of
from kanopy.hierarchy.builders.divisors import Cgh, Dbgh
from kanopy.hierarchy.builders.grouping import Frequency, Order
from kanopy.hierarchy.builders.masking import Prefix, Redact, Suppress
from kanopy.hierarchy.builders.official.classified import FromClassification, suggested
from kanopy.hierarchy.builders.on_the_fly import Iotf, KAware, Otf
from kanopy.hierarchy.builders.relaxation import Chu
from kanopy.hierarchy.builders.rounding import PARTS, Round
from kanopy.hierarchy.builders.semantic.everyday import find_vocabulary
from kanopy.hierarchy.column import Column, column_of
from kanopy.hierarchy.construct import spans
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.ordinal import in_known_order
from kanopy.hierarchy.timestamps import EPOCH, MICROSECOND

if TYPE_CHECKING:
    from kanopy.hierarchy.builders.semantic.builders import Proposal

RULES = ("level", "cut")
DEEPEST = 32
"""Deeper trees are judged by this many of their levels."""
AS_GOOD = 0.02
"""Plain halving is as good as the best if it loses at most this much more, relatively, or a fifth of it absolutely."""
FINEST_CARDINALITY = 1000
"""Into how many intervals cbgh cuts a long range when it is tried."""
READABLE_MAY_LOSE = 1.05
"""What reads well comes first if it loses at most so many times as much as the best."""
FEWEST_WORDS, MOST_WORDS, LONGEST_WORD = 4, 1000, 40
ENOUGH_KNOWN = 0.8
"""Words are grouped by meaning if the ontology knows such a share of them …"""
MEANING_MAY_LOSE = 1.25
"""… and they lose at most so many times as much as groups of the rare ones."""
ORDERLY_CODES = 3
LONGEST_CODE = 20
"""A text column is taken for codes if all texts contain a digit; for codes to redact, if all are equally long."""

CODE_WORDS = frozenset(
    {"code", "codes", "kode", "isco", "nace", "icd", "naics", "sic", "soc", "fips", "postcode", "postal", "plz"}
)
ZIP_WORDS = frozenset({"zip", "zipcode", "zips", "zcta"})
"""Words in the name of a column of whole numbers that are codes: those of the United States have five digits."""
ZIP_DIGITS = 5
_POST_CODES = (
    (
        re.compile(r"[A-Za-z]{1,2}\d[A-Za-z\d]? ?\d[A-Za-z]{2}"),  # United Kingdom: district, area
        Prefix(ends=(r"[A-Za-z]{1,2}\d[A-Za-z\d]?(?= ?\d[A-Za-z]{2}$)", "[A-Za-z]{1,2}"), joining=True),
    ),
    (re.compile(r"[A-Za-z]\d[A-Za-z][ -]?\d[A-Za-z]\d"), Prefix(lengths=(3, 1), joining=True)),  # Canada
)
_WORD = re.compile(r"(?:^|\s)(?=[^\W\d_]*[a-z])[^\W\d_]{3,}(?=[\s,.;]|$)")

Judge = Callable[[int], tuple[float, int]]


@public("kanopy.hierarchy")
@dataclass(frozen=True, eq=False)
class Suggestion(HtmlReprMixin):
    """One builder that fits the column, its hierarchy, what it costs, and the values whose meaning is unsure."""

    method: str
    builder: Builder
    hierarchy: Hierarchy
    loss: float
    typical_loss: float
    groups: int
    reason: str
    unsure: tuple[str, ...] = ()
    reads_well: bool = False


@public("kanopy")
@checked
def suggest_hierarchies(
    values: Column | Iterable[Any],
    *,
    k: int = 5,
    rule: str = "level",
    counts: Iterable[int] | None = None,
    name: str = "",
    style: str | None = None,
) -> list[Suggestion]:
    """The builders that fit a column, best first, each with its loss at `k` and the reasons.

    Of those that lose at most 5 % more than the best, what people can read comes first. `style` says how words are
    grouped by meaning (see `Ontology`).

    >>> best = suggest_hierarchies([1, 2, 3, 50, 51, 52], k=3)[0]
    >>> best.groups, round(best.loss, 3)
    (2, 0.039)
    """
    column = column_of(values, counts, name=name)
    if k < 1:
        raise HierarchyError(f"k must be at least 1, not {k}.")
    if rule not in RULES:
        raise HierarchyError(f"There is no rule {rule!r}. {near_miss(rule, RULES)}")
    if k > column.rows:
        raise HierarchyError(
            f"{column.where} has {column.rows:,} values, fewer than k={k:,}: even one group of all values is too small."
        )
    column = column.inferred()
    tried = candidates(column, k, style)
    if style is not None and not any("style" in parameters_of(type(builder)) for builder in tried):
        refuse_in_vain({"style": Needs("a column of words that an ontology knows", lambda given: False)})
    suggestions = [_judged(builder, tree, column, k, rule) for builder, tree in _built(tried, column)]
    plain = [*(builder for builder in tried if isinstance(builder, FromClassification)), *readable(column, k)]
    suggestions = [replace(one, reads_well=one.builder in plain) for one in suggestions]
    return [suggestions[i] for i in best_first(suggestions, [one.loss for one in suggestions])]


def best_first(suggestions: Sequence[Suggestion], losses: Sequence[float | None]) -> list[int]:
    """The places of suggestions in the order of their losses; those without one come last.

    Of those that lose at most 5 % more than the least, what reads well comes first.

    >>> found = suggest_hierarchies([17, 18, 25, 31, 44, 60] * 3, k=2)
    >>> best_first(found[:3], [0.3, None, 0.2])
    [2, 0, 1]
    """
    least = min((loss for loss in losses if loss is not None), default=0.0) * READABLE_MAY_LOSE

    def place(i: int) -> tuple[bool, float, float, int]:
        loss = math.inf if (given := losses[i]) is None else given
        return (
            not (suggestions[i].reads_well and loss <= least),
            round(loss, 12),
            round(suggestions[i].typical_loss, 12),
            i,
        )

    return sorted(range(len(suggestions)), key=place)


def choose_hierarchy(values: Column | Iterable[Any], *, k: int = 5, parts: int = PARTS) -> Suggestion:
    """The hierarchy a column gets when nobody says how: a readable one, with nobody's own value at an end.

    Numbers are cut at round points, dates by the calendar, codes by prefix; of other texts the rare ones are joined.
    Only what none of this fits is kept or hidden. `parts` says how fine numbers are cut.

    >>> choose_hierarchy([17, 18, 25, 31, 44, 60], k=2).hierarchy.labels_at(1)
    ('≤ 19', '20–39', '≥ 40')
    """
    column = column_of(values).inferred()
    suggestions = [
        _judged(builder, tree, column, k, "level") for builder, tree in _built(readable(column, k, parts), column)
    ]
    return min(suggestions, key=lambda suggestion: (round(suggestion.loss, 12), round(suggestion.typical_loss, 12)))


def official_suggestions(values: Column | Iterable[Any], *, k: int = 5) -> list[Suggestion]:
    """What the official classification of a column makes of it: levels fitted to its people, and its own levels.

    >>> [each.builder.fit for each in official_suggestions(column_of(["DEU", "FRA", "POL", "JPN"] * 9, name="country"))]
    [True, False]
    """
    column = column_of(values).inferred()
    judged = [_judged(builder, tree, column, k, "level") for builder, tree in _built(suggested(column, k), column)]
    return [replace(suggestion, reads_well=True) for suggestion in judged]


def by_meaning(column: Column, k: int = 5) -> Suggestion | None:
    """The hierarchy of a column's words by what they mean, if the ontology knows enough of them and little is lost.

    `None` unless most values are words it knows, and groups of near meaning lose hardly more than groups of the rare.

    >>> towns = by_meaning(column_of(["Paris", "Lyon", "Bonn", "Kiel", "Rome", "Milan"] * 9), 5)
    >>> towns is None or towns.hierarchy.height > 1
    True
    >>> by_meaning(column_of(["qx", "qy", "qz", "qw"] * 9), 5) is None
    True
    """
    from kanopy.hierarchy.builders.semantic.builders import Ontology

    if not knows_enough(column):
        return None
    (rare, meant) = (
        _judged(builder, tree, column, k, "level") for builder, tree in _built((Frequency(k=k), Ontology()), column)
    )
    as_good = meant.typical_loss <= rare.typical_loss * MEANING_MAY_LOSE and meant.hierarchy.height > 1
    return meant if as_good else None


def knows_answers(column: Column) -> bool:
    """Whether a vocabulary knows a column's values as everyday answers.

    >>> knows_answers(column_of(["HS-grad", "Bachelors", "Masters", "Some-college"], name="education"))
    True
    """
    labels = column.labels()
    few = column.kind == "text" and FEWEST_WORDS <= len(labels) <= MOST_WORDS
    return few and in_known_order(labels) is None and find_vocabulary(labels, column.name) is not None


def knows_enough(column: Column) -> bool:
    """Whether most values of a text column are words that WordNet knows, so that they can be grouped by meaning."""
    labels = column.labels()
    if column.kind != "text" or not FEWEST_WORDS <= len(labels) <= MOST_WORDS or _codes(labels):
        return False
    from kanopy.ontology.load import load_ontology
    from kanopy.ontology.senses.senses import find_labels

    senses = find_labels(load_ontology("wordnet"), labels, None, longest=LONGEST_WORD)
    count_known = sum(len(label) > 2 and senses[label].how in ("exact", "morphology") for label in labels)
    return count_known >= ENOUGH_KNOWN * len(labels)


def _built(builders: Iterable[Builder], column: Column) -> Iterator[tuple[Builder, Hierarchy | Proposal]]:
    """The builders that fit the column, with what they build."""
    for builder in builders:
        try:
            propose = getattr(builder, "propose_column", None)
            yield builder, builder.build_column(column) if propose is None else propose(column)
        except HierarchyError:
            continue  # does not fit this column after all: a range below zero for dbgh, for example


@public("kanopy.hierarchy")
@checked
def halving_note(suggestions: Sequence[Suggestion]) -> str | None:
    """Whether plain halving of the range is as good as the best, in one sentence; `None` if it was not tried.

    >>> print(halving_note(suggest_hierarchies(range(64), k=2)))
    Plain halving (equal_width) is as good as the other methods on this column.
    """
    plain = next((s for s in suggestions if isinstance(s.builder, EqualWidth)), None)
    if plain is None:
        return None
    best_loss = min(s.loss for s in suggestions)
    best_typical = min(s.typical_loss for s in suggestions)
    if _close(plain.loss, best_loss) and _close(plain.typical_loss, best_typical):
        return "Plain halving (equal_width) is as good as the other methods on this column."
    if _close(plain.loss, best_loss):
        return (
            f"Plain halving (equal_width) is as good at this k, but loses {plain.typical_loss:.4f} against "
            f"{best_typical:.4f} where groups must be larger."
        )
    best = suggestions[0]
    return f"{best.method} loses {best.loss:.4f} where plain halving (equal_width) loses {plain.loss:.4f}."


def _close(loss: float, best: float) -> bool:
    return loss <= best * (1 + AS_GOOD) + AS_GOOD / 5


def candidates(column: Column, k: int, style: str | None = None) -> list[Builder]:
    """The builders worth trying on a column, those that people find easiest to read first."""
    builders = [*suggested(column, k), *readable(column, k)]
    if column.kind == "text":
        more: list[Builder] = [Order(fan_out=(2,)), Order(fan_out=(5,))] if _codes(column.labels()) else []
        if knows_enough(column) or knows_answers(column):
            from kanopy.hierarchy.builders.semantic.builders import Ontology

            more.append(Ontology() if style is None else Ontology(style=style))
        return [*builders, *(builder for builder in (*more, Suppress()) if builder not in builders)]
    if column.kind == "integer":
        builders += _round_widths(column)
    builders += [EqualWidth(), Cgh(), EqualFrequency(), Iotf(), Otf(), Otf(linkage="centroid"), Chu(), Han()]
    if column.kind == "integer":
        assert column.positions is not None
        extent = int(column.positions[-1] - column.positions[0]) + 1
        builders += [Cbgh(leaf_width=max(2, round(extent / FINEST_CARDINALITY))), Dbgh()]
    return [*builders, KAware(k=k), Suppress()]


def readable(column: Column, k: int, parts: int = PARTS) -> list[Builder]:
    """The builders that a column is given to unasked: their labels read well, and their ends are nobody's own value."""
    if column.kind == "integer" and (codes := _numbered(column)):
        return codes
    if column.kind in Round.fits:
        return [Round(k=k, parts=parts)]
    if column.kind in Dates.fits:
        return [_periods(column)]
    if column.kind != "text" or column.size < 3:
        return [Suppress()]
    labels = column.labels()
    if in_known_order(labels) is not None:
        return [Order(fan_out=(2,)), Order(fan_out=(3,))]
    if not _codes(labels):
        return [Frequency(k=k)]
    for form, parts_of_it in _POST_CODES:
        if all(form.fullmatch(label) for label in labels):
            return [parts_of_it]
    alike = len({len(label) for label in labels}) == 1 and len(labels[0]) >= ORDERLY_CODES
    # A shorter code can be another code: a hidden rest cannot.
    return [Redact(joining=True), Prefix(joining=True)] if alike else [Redact(keep_length=False, joining=True)]


def _periods(column: Column) -> Dates:
    """Calendar periods that suit how long the column's dates last."""
    moments = column.positions
    if column.period or moments is None or not len(moments):
        return Dates()
    if column.kind == "date":
        return Dates(periods_of([dt.date.fromordinal(int(at)) for at in moments]))
    return Dates(periods_of([(EPOCH + int(at) * MICROSECOND).date() for at in moments]))


def _numbered(column: Column) -> list[Builder]:
    """The builders for whole numbers that are codes by the name of their column, and of one length; otherwise none.

    Zip codes of the United States may have lost their leading zeros. Other codes of different lengths stay numbers.

    >>> codes = [10001, 2139, 90210]
    >>> _numbered(column_of(codes, name="ZipCode"))[0].zeros, _numbered(column_of(codes, name="pay"))
    (5, [])
    """
    words = {word.casefold() for word in re.findall(r"[A-Z]?[a-zß-ÿ]+|[A-Z]+", column.name)}
    words |= {re.sub(r"[\W\d_]", "", column.name).casefold()}
    if column.size < 3 or not words & (CODE_WORDS | ZIP_WORDS):
        return []
    labels = column.labels()
    lengths = {len(label) for label in labels if label.isdecimal() and label[0] != "0"}
    if len(lengths) == 1 and min(lengths) >= ORDERLY_CODES and all(len(label) in lengths for label in labels):
        return [Redact(joining=True), Prefix(joining=True)]
    short = sum(len(label) < ZIP_DIGITS for label in labels)
    lost = words & ZIP_WORDS and lengths <= {3, 4, ZIP_DIGITS} and all(label.isdecimal() for label in labels)
    return [Redact(zeros=ZIP_DIGITS, joining=True)] if lost and 2 * short <= len(labels) else []


def _codes(labels: Sequence[str]) -> bool:
    """Whether texts are codes: a digit in each, none too long, and no words beside the digits.

    >>> _codes(["SW1A 1AA", "E1 6AN"]), _codes(["1. White", "2. Black", "4. Other"]), _codes(["A", "B"])
    (True, False, False)
    """
    if not all(len(label) <= LONGEST_CODE and any(c.isdigit() for c in label) for label in labels):
        return False
    return 2 * sum(_WORD.search(label) is not None for label in labels) <= len(labels)


def _round_widths(column: Column) -> list[Builder]:
    assert column.positions is not None
    extent = int(column.positions[-1] - column.positions[0]) + 1
    return [Widths(widths=(5, 10, 20))] if 40 <= extent <= 2000 else []


def _judged(builder: Builder, made: Hierarchy | Proposal, column: Column, k: int, rule: str) -> Suggestion:
    unsure: tuple[str, ...] = ()
    if isinstance(made, Hierarchy):
        hierarchy = made
    else:
        hierarchy = made.hierarchy
        values = set(column.labels())
        doubtful = (*made.senses.unknown, *made.senses.ambiguous)
        unsure = tuple(dict.fromkeys(choice.label for choice in doubtful if choice.label in values))
    rows = hierarchy.subtree_sums(_rows_per_leaf(hierarchy, column))
    width = _widths(hierarchy, column)
    judge = _judge(rule, hierarchy, rows, width)
    loss, groups = judge(k)
    sizes = [k]
    while sizes[-1] * 2 <= column.rows // 2:
        sizes.append(sizes[-1] * 2)
    typical = float(np.mean([judge(size)[0] for size in sizes]))
    reason = (
        f"{groups:,} group{'s' if groups != 1 else ''} of at least {k} rows, loss {loss:.4f}; "
        f"{typical:.4f} on average up to groups of {sizes[-1]:,}; {hierarchy.height + 1} levels"
    )
    return Suggestion(builder.method, builder, hierarchy, loss, typical, groups, reason, unsure)


def _rows_per_leaf(hierarchy: Hierarchy, column: Column) -> Longs:
    """Row counts in the leaf order of the hierarchy, which is the column's unless an order was given."""
    numbers = column.numbers
    apart = hierarchy.low is not None and numbers is not None and bool((np.diff(numbers) > 0).all())
    if apart and np.array_equal(hierarchy.low[: hierarchy.size], numbers):  # type: ignore[index, arg-type]
        return column.counts  # told by their numbers, a million leaves need no labels
    labels = column.labels()
    if hierarchy.size == column.size and hierarchy.values == tuple(labels):
        return column.counts
    rows = np.zeros(hierarchy.size, np.int64)
    rows[[hierarchy.index[label] for label in labels]] = column.counts
    return rows


def _other_values(hierarchy: Hierarchy) -> Floats:
    """Per node the share of the other values that it covers."""
    return np.asarray((hierarchy.leaf_counts - 1) / max(hierarchy.size - 1, 1), np.float64)


def _widths(hierarchy: Hierarchy, column: Column) -> Floats:
    """Per node what a row loses when it is published as that node: all of it where the interval exceeds the data."""
    if column.numbers is None:
        return _other_values(hierarchy)
    extent = float(column.numbers[-1] - column.numbers[0]) or 1.0
    if hierarchy.low is not None and hierarchy.high is not None:
        return np.minimum((hierarchy.high - hierarchy.low) / extent, 1.0).astype(np.float64)
    numbers = column.numbers.astype(np.float64)
    low, high = spans(hierarchy.tree(), numbers, numbers)
    return np.asarray((high - low) / extent, np.float64)


def _cut_loss(hierarchy: Hierarchy, rows: Longs, width: Floats, k: int) -> tuple[float, int]:
    from kanopy.hierarchy.trees_kernel import best_cut

    cost, groups = best_cut(hierarchy.tree(), rows, rows * width, k)
    roots = hierarchy.roots
    return float(cost[roots].sum() / rows[roots].sum()), int(groups[roots].sum())


def _judge(rule: str, hierarchy: Hierarchy, rows: Longs, width: Floats) -> Judge:
    """The function that says loss and number of groups at a k."""
    if rule == "cut":
        return lambda k: _cut_loss(hierarchy, rows, width, k)
    levels = []
    short = hierarchy.with_levels(DEEPEST) if hierarchy.height > DEEPEST else hierarchy
    rows_of_leaf = rows[: hierarchy.size]
    for level in range(short.height + 1):
        codes = short.level(level).codes
        held = np.bincount(codes, weights=rows_of_leaf).astype(np.int64)
        nodes = short.level(level).nodes
        # A shortened hierarchy has other node numbers; its intervals tell the widths.
        node_width = width[nodes] if short is hierarchy else _short_widths(short, hierarchy, width)[nodes]
        held_nodes = held > 0
        levels.append(
            (int(held[held_nodes].min()), float((held * node_width).sum() / rows_of_leaf.sum()), int(held_nodes.sum()))
        )

    return lambda k: next(((loss, groups) for smallest, loss, groups in levels if smallest >= k), (1.0, 1))


def _short_widths(short: Hierarchy, hierarchy: Hierarchy, width: Floats) -> Floats:
    """Widths of the nodes of a hierarchy with fewer levels."""
    if short.low is None or short.high is None or hierarchy.low is None or hierarchy.high is None:
        return _other_values(short)
    whole = float(hierarchy.high.max() - hierarchy.low.min()) or 1.0
    return np.asarray((short.high - short.low) / whole * float(width.max()), np.float64)


def node_facts(hierarchy: Hierarchy, values: Column | Iterable[Any]) -> tuple[Longs, Floats]:
    """Per node how many rows lie under it, and what a row loses that is published as it.

    >>> rows, losses = node_facts(Hierarchy.flat(["a", "b"]), ["a", "a", "b"])
    >>> rows.tolist(), losses.tolist()
    ([2, 1, 3], [0.0, 0.0, 1.0])
    """
    column = column_of(values)
    if hierarchy.low is not None:
        column = column.inferred()
    rows = hierarchy.subtree_sums(_rows_per_leaf(hierarchy, column))
    return rows, _other_values(hierarchy) if hierarchy.low is None else _widths(hierarchy, column)


def loss_at(hierarchy: Hierarchy, values: Column | Iterable[Any], k: int, *, rule: str = "level") -> tuple[float, int]:
    """The loss of a given hierarchy on given data with groups of at least `k` rows, and the number of groups.

    >>> loss_at(Iotf().build([1, 2, 9, 10]), [1, 2, 9, 10], k=2)
    (0.111..., 2)
    """
    column = column_of(values)
    if hierarchy.low is not None:
        column = column.inferred()
    unknown = [label for label in column.labels() if label not in hierarchy.index]
    if unknown:
        hierarchy.find(unknown[0])  # raises an error with the near misses
    rows = hierarchy.subtree_sums(_rows_per_leaf(hierarchy, column))
    width = _other_values(hierarchy) if hierarchy.low is None else _widths(hierarchy, column)
    return _judge(rule, hierarchy, rows, width)(k)
