"""What a model finds unsafe, with more care where the model does not come with Kanopy.

The second look counts classes anew from the published labels; a model then says which of them are not safe. Models of
Kanopy are held to their definition by its tests. A model of somebody else is asked the same question in other words,
and a model that contradicts itself has no say: nothing is published.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kanopy._arrays import Mask
from kanopy._core.classes import Classes
from kanopy._errors import KanopyError, VerificationFailed
from kanopy.privacy.base import Model

ASKED_ALONE = 256
"""Classes about which a model that does not come with Kanopy is asked once more, each by itself."""


def judged_twice(model: Model, classes: Classes) -> Mask:
    """Which classes a model of somebody else finds unsafe, asked again in other words: the answers must be the same.

    It is asked about copies that it cannot change, in the opposite order, and about some classes by themselves. A model
    that remembers what it was asked, or goes by the place of a class, contradicts itself and is refused.

    >>> from kanopy.privacy.sizes import KAnonymity
    >>> judged_twice(KAnonymity(2), Classes(np.array([1, 3]))).tolist()
    [True, False]
    """
    everything = np.arange(classes.count)
    wrong = _asked(model, some_classes(classes, everything))
    same = np.array_equal(_asked(model, some_classes(classes, everything[::-1]))[::-1], wrong)
    if not (model.of_release or model.of_others or model.all_quasi or model.needs_households):
        for position in everything[:: max(1, classes.count // ASKED_ALONE)]:
            same = same and bool(
                _asked(model, some_classes(classes, everything[position : position + 1]))[0] == wrong[position]
            )
    if not same:
        raise VerificationFailed(
            f"The model {model.name!r} contradicts itself: for the same classes in another order, or one by one, it "
            "gives another answer. Nothing was written. Report this to the author of the model."
        )
    if not wrong.any() and not _holds(model, classes):
        return ~wrong
    return wrong


def _asked(model: Model, classes: Classes) -> Mask:
    """The answer of a model, which must be one truth value for each class."""
    try:
        answer: Any = model.violated(classes)
    except KanopyError:
        raise
    except Exception as error:
        raise VerificationFailed(
            f"The model {model.name!r} failed when the release was verified ({type(error).__name__}: {error}). "
            "Nothing was written. Report this to the author of the model."
        ) from error
    if not isinstance(answer, np.ndarray) or answer.shape != (classes.count,) or answer.dtype != np.bool_:
        raise VerificationFailed(
            f"The model {model.name!r} must answer with an array of truth values, one for each of the "
            f"{classes.count:,} classes. Nothing was written. Report this to the author of the model."
        )
    return answer.copy()


def _holds(model: Model, classes: Classes) -> bool:
    """Whether the release as a whole is safe, by two answers that agree."""
    answers = []
    for order in (1, -1):
        reordered = some_classes(classes, np.arange(classes.count)[::order])
        answers.append(bool(model.satisfied(reordered, reordered)))
    return all(answers)


def some_classes(classes: Classes, picked: np.ndarray[Any, Any]) -> Classes:
    """Some of the classes, in the order given, as copies that nobody can change.

    >>> some_classes(Classes(np.array([5, 7, 9])), np.array([2, 0])).sizes.tolist()
    [9, 5]
    """

    def own(values: Any, whole: bool = False) -> Any:
        if values is None:
            return None
        copied = np.array(values if whole else values[picked])
        copied.setflags(write=False)
        return copied

    new_index = np.full(classes.count + 1, -1, np.int32)  # the last one stands for rows of no class
    new_index[picked] = np.arange(len(picked))
    return replace(
        classes,
        sizes=own(classes.sizes),
        histograms={name: own(histogram) for name, histogram in classes.histograms.items()},
        facts={
            name: replace(column_facts, totals=own(column_facts.totals, True), numbers=own(column_facts.numbers, True))
            for name, column_facts in classes.facts.items()
        },
        population=own(classes.population),
        labels={name: replace(labels, codes=own(labels.codes)) for name, labels in classes.labels.items()},
        weights=own(classes.weights),
        class_of_row=None if classes.class_of_row is None else new_index[classes.class_of_row],
        household_of_row=own(classes.household_of_row, True),
        fitting=None,
    )
