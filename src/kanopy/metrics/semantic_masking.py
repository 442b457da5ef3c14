"""What masking by substitution does to meaning and to risk (Martínez 2010, chapters 2, 4 and 5): pure functions.

`people[m]` records make move `m`: they had the values of an original tuple and publish those of another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs


def semantic_quality(similarities: Floats, people: npt.ArrayLike) -> float:
    """Eq. 21: the sum over all records and attributes of the similarity of original and published value.

    >>> semantic_quality(np.array([[1.0, 1.0], [0.5, 1.0]]), [3, 1])
    7.5
    """
    return float((np.asarray(people)[:, None] * similarities).sum())


def normalized_semantic_quality(
    similarities: Floats, people: npt.ArrayLike, weights: Sequence[float] | None = None
) -> float:
    """Eq. 22: the mean over records and attributes; `weights` make some attributes count more.

    >>> normalized_semantic_quality(np.array([[1.0, 1.0], [0.5, 1.0]]), [3, 1])
    0.9375
    """
    counts = np.asarray(people, np.float64)
    if not counts.sum():
        return 0.0
    share = np.ones(similarities.shape[1]) if weights is None else np.asarray(weights, np.float64)
    return float((counts @ similarities) @ share / (counts.sum() * share.sum()))


def information_content(counts: npt.ArrayLike) -> float:
    """The mean of −ln p(value) over the records of a sample; `counts` say how often each value occurs.

    >>> information_content([4]), round(information_content([1, 1]), 4)
    (0.0, 0.6931)
    """
    numbers = np.asarray(counts, np.float64)
    shares = numbers[numbers > 0] / numbers.sum()
    return float(-(shares * np.log(shares)).sum()) + 0.0


def information_content_loss(before: Sequence[npt.ArrayLike], after: Sequence[npt.ArrayLike]) -> float:
    """The information content of the original sample minus that of the masked one, averaged over the attributes.

    >>> round(information_content_loss([[1, 1]], [[2]]), 4)
    0.6931
    """
    losses = [information_content(old) - information_content(new) for old, new in zip(before, after, strict=True)]
    return float(np.mean(losses)) if losses else 0.0


def discernibility_per_record(sizes: npt.ArrayLike) -> int:
    """The sum over *records* of the squared size of their group, as the thesis prints eq. 1.

    The usual metric (`cluster_loss.discernibility`) sums over groups.

    >>> discernibility_per_record([3, 2])
    35
    """
    return int((np.asarray(sizes, np.int64) ** 3).sum())


def exact_linkage_percent(people: npt.ArrayLike, origin: Longs, published: Longs, counts: Longs) -> float:
    """Eq. 27–28: the share of records found by matching the published text with the original table.

    Move `m` publishes the text of original tuple `shown[m]` (-1 if no original record has that text). An attacker who
    finds `counts` equal originals picks one of them.

    >>> exact_linkage_percent([1, 3], np.array([0, 1]), np.array([1, 1]), np.array([1, 3]))
    25.0
    """
    same_text = origin == published
    link_chance = np.zeros(len(same_text))
    link_chance[same_text] = 1.0 / counts[published[same_text]]
    return linkage_percent(people, link_chance)


def linkage_percent(people: npt.ArrayLike, chances: Floats) -> float:
    """The share of records found, from the chance of each move's records.

    >>> linkage_percent([2, 2], np.array([0.5, 0.0]))
    25.0
    """
    number = np.asarray(people, np.float64)
    return float(100.0 * (number * chances).sum() / number.sum()) if number.sum() else 0.0


def hidden_values(groups: Longs, values: npt.NDArray[np.integer], people: npt.ArrayLike) -> tuple[Longs, Longs]:
    """Per group how many different original values of an attribute it hides, and how many people it has.

    >>> [part.tolist() for part in hidden_values(np.array([0, 0, 1]), np.array([5, 6, 5]), [1, 1, 4])]
    [[2, 1], [2, 4]]
    """
    _, group = np.unique(groups, return_inverse=True)
    group = group.reshape(-1)
    pairs = np.unique(np.column_stack([group, values]), axis=0)
    return (
        np.bincount(pairs[:, 0]).astype(np.int64),
        np.bincount(group, weights=np.asarray(people, np.float64)).astype(np.int64),
    )


def loss_metric(groups: Longs, columns: Sequence[npt.NDArray[np.integer]], people: npt.ArrayLike) -> float:
    """LM (Iyengar 2002): (values a cell may stand for − 1) / (values of the column − 1), averaged over cells.

    A published value may stand for every original value in its group.

    >>> loss_metric(np.array([0, 0, 1]), [np.array([1, 2, 3])], [1, 1, 2])
    0.25
    """
    losses = []
    for values in columns:
        hidden, size = hidden_values(groups, values, people)
        different = len(np.unique(values))
        losses.append(((hidden - 1) * size).sum() / (max(1, different - 1) * size.sum()))
    return float(np.mean(losses)) if losses else 0.0


def certainty_penalty(
    groups: Longs,
    columns: Sequence[npt.NDArray[np.integer]],
    people: npt.ArrayLike,
    numbers: Sequence[Floats | None] = (),
) -> float:
    """NCP (Xu et al. 2006): values a cell may stand for over the values of the column (0 for one), averaged over cells.

    `numbers[j]` gives, for a numeric attribute, the value of each code scaled to 0 … 1: its penalty is the range.

    >>> certainty_penalty(np.array([0, 0, 1]), [np.array([1, 2, 3])], [1, 1, 2])
    0.3333333333333333
    """
    losses = []
    scaled = list(numbers) or [None] * len(columns)
    for values, numbers_of_column in zip(columns, scaled, strict=True):
        hidden, size = hidden_values(groups, values, people)
        if numbers_of_column is None:
            penalty = np.where(hidden > 1, hidden / len(np.unique(values)), 0.0)
        else:
            _, group = np.unique(groups, return_inverse=True)
            low, high = np.full(len(size), np.inf), np.full(len(size), -np.inf)
            np.minimum.at(low, group.reshape(-1), numbers_of_column[values])
            np.maximum.at(high, group.reshape(-1), numbers_of_column[values])
            penalty = np.clip(high - low, 0.0, 1.0)
        losses.append((penalty * size).sum() / size.sum())
    return float(np.mean(losses)) if losses else 0.0
