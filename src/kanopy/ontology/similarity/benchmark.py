"""How well measures agree with people: correlations with rated word pairs (Rubenstein, Goodenough 1965 and later)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kanopy._arrays import Floats, correlation
from kanopy._errors import OntologyError
from kanopy._files import read_text
from kanopy.ontology.similarity.measures import MEASURES
from kanopy.ontology.similarity.words import resolve_all, word_similarities
from kanopy.ontology.taxonomy import Taxonomy


class Agreement(NamedTuple):
    """One measure's correlations with the ratings; `reason` says why there are none."""

    measure: str
    pearson: float | None
    spearman: float | None
    reason: str = ""


def read_word_pairs(path: str | Path, *, ratings: bool = False) -> tuple[list[tuple[str, str]], list[float]]:
    """Word pairs from a CSV file of two columns, or three with `ratings`; a header row is recognised.

    Without ratings, the first row is a header if it is `a,b`, `word1,word2` or the like.
    """
    path = Path(path)
    pairs: list[tuple[str, str]] = []
    numbers: list[float] = []
    headers = {"a", "b", "word", "word1", "word2", "word_1", "word_2", "left", "right", "term1", "term2"}
    text = read_text(path, OntologyError, "Give a CSV file of word pairs.")
    reader = csv.reader(io.StringIO(text, newline=""))
    for row in reader:
        cells = [cell.strip() for cell in row]
        if not any(cells) or (not pairs and all(cell.lower() in headers for cell in cells[:2])):
            continue
        if len(cells) < (3 if ratings else 2) or not all(cells[:2]):
            wanted = "word,word,rating" if ratings else "word,word"
            raise OntologyError(f"{path.name}, line {reader.line_num}: expected {wanted}, found {row!r}.")
        if ratings:
            try:
                numbers.append(float(cells[2]))
            except ValueError:
                raise OntologyError(
                    f"{path.name}, line {reader.line_num}: the rating {cells[2]!r} is not a number."
                ) from None
        pairs.append((cells[0], cells[1]))
    if not pairs:
        raise OntologyError(f"{path.name} has no word pairs. Give one pair per line.")
    return pairs, numbers


def rating_agreement(
    taxonomy: Taxonomy,
    pairs: Sequence[tuple[str, str]],
    ratings: Sequence[float],
    measures: Sequence[str] = MEASURES.built_in,
) -> list[Agreement]:
    """Pearson and Spearman correlation of every measure with people's ratings, best over senses.

    A measure that lacks what it needs (definitions, tag counts) is listed with the reason.
    """
    resolve_all(taxonomy, (word for pair in pairs for word in pair))  # an unknown word is no fault of a measure
    human = np.asarray(ratings, np.float64)
    if len(human) < 3 or np.ptp(human) == 0:
        raise OntologyError("A correlation needs at least three pairs with different ratings.")
    agreements = []
    for name in measures:
        try:
            values = np.array([pair.similarity for pair in word_similarities(taxonomy, pairs, name)])
        except OntologyError as error:
            agreements.append(Agreement(name, None, None, str(error)))
            continue
        if np.ptp(values) == 0:
            agreements.append(Agreement(name, None, None, "All pairs are equally similar."))
        else:
            agreements.append(Agreement(name, correlation(values, human), correlation(ranks(values), ranks(human))))
    return agreements


def ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of their ranks.

    >>> import numpy as np
    >>> ranks(np.array([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, group, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    mean: Floats = ((2 * last - count + 1) / 2)[group]
    return mean
