"""Can a model still be learned? Classifiers trained on the original and on the release, judged on original rows.

Both are cross-validated on the same folds and tested on the same held-out *original* rows, so that the comparison says
how well a model learned from the release serves real people. Numbers are taken for the middle of their interval,
categories as the share of each value a label may stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._errors import DataError, MissingDependency
from kanopy._mixins import DictMixin
from kanopy.metrics.utility.association import middles, spread
from kanopy.metrics.utility.column_utility import bins_of
from kanopy.metrics.utility.published_values import Covers

LEARNERS = ("logistic regression", "decision tree", "random forest", "naive Bayes")
MOST_ROWS = 10_000
FOLDS = 5


@dataclass(frozen=True)
class LearnerUtility(DictMixin):
    """One learner: mean accuracy before and after, and that of always guessing the most frequent class.

    `kept` is the share of what can be learned beyond guessing that the release still teaches.
    """

    target: str
    learner: str
    rows: int
    folds: int
    baseline: float
    before: float
    after: float
    spread_before: float
    spread_after: float

    @property
    def kept(self) -> float | None:
        """1 if the release is as good as the original, 0 if it teaches no more than the most frequent class."""
        gain = self.before - self.baseline
        return None if gain <= 0.0 else (self.after - self.baseline) / gain

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**super().to_dict(), "kept": self.kept}


def learned(
    target: str,
    classes: Ints,
    columns: Sequence[tuple[Ints, Ints, Covers]],
    partner: Longs,
    *,
    learners: Sequence[str] = LEARNERS,
    folds: int = FOLDS,
    most_rows: int = MOST_ROWS,
    seed: int = 0,
) -> tuple[LearnerUtility, ...]:
    """Accuracy of each learner, trained before and after.

    `classes` is the target of every original row; `columns` are the features (value codes of the original rows, label
    codes of the released ones, what the labels cover); `partner` gives the released row of each original row, or -1.
    Above `most_rows` a random sample (by `seed`) is used. Needs scikit-learn (the extra `utility`).
    """
    try:
        from sklearn import config_context
        from sklearn.model_selection import StratifiedKFold
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise MissingDependency(
            "Classifier accuracy needs scikit-learn: install it, or the extra kanopy[utility]."
        ) from None
    random = np.random.default_rng(seed)
    rows = np.arange(len(classes))
    counts = np.bincount(classes)
    rare = np.flatnonzero(counts < folds)
    rows = rows[~np.isin(classes[rows], rare)]
    if len(np.unique(classes[rows])) < 2:
        raise DataError(
            f"{target!r} has fewer than two classes with at least {folds} rows, so it cannot be predicted. Name "
            "another target."
        )
    if len(rows) > most_rows:
        rows = np.sort(random.choice(rows, most_rows, replace=False))
    before, after = _features(columns, partner, rows)
    original, released = (before, _numbered(before)), (after, _numbered(after))
    wanted = classes[rows]
    published = partner[rows] >= 0
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(before, wanted))
    baseline = float(np.bincount(wanted).max() / len(wanted))
    results = []
    # Threads of the linear algebra wait for each other by spinning: on tables of this size they only take time. The
    # features are finite and the parameters those below: neither needs to be looked at for every tree.
    with threadpool_limits(1), config_context(assume_finite=True, skip_parameter_validation=True):
        for name in learners:
            scores: list[tuple[float, float]] = []
            for train, test in splits:
                published_train = train[published[train]]
                pair = []
                for (features, number), training_rows in ((original, train), (released, published_train)):
                    if len(np.unique(wanted[training_rows])) < 2:
                        pair.append(float((wanted[test] == np.bincount(wanted).argmax()).mean()))
                        continue
                    model = _fitted(
                        _learner(name, seed), features[training_rows], number[training_rows], wanted[training_rows]
                    )
                    pair.append(float((model.predict(before[test]) == wanted[test]).mean()))
                scores.append((pair[0], pair[1]))
            table = np.array(scores)
            scored = (float(score) for score in (*table.mean(axis=0), *table.std(axis=0)))
            results.append(LearnerUtility(target, name, len(rows), folds, baseline, *scored))
    return tuple(results)


def _numbered(features: Floats) -> Longs:
    """The number of each row's features among the distinct ones."""
    rows = np.ascontiguousarray(features).view(np.dtype((np.void, features.itemsize * features.shape[1])))
    return np.unique(rows.ravel(), return_inverse=True)[1].reshape(-1)


def _fitted(model: Any, features: Floats, number: Longs, classes: Ints) -> Any:
    """The model trained; logistic regression on distinct rows with their counts: the same problem, but smaller."""
    from sklearn.linear_model import LogisticRegression

    if not isinstance(model, LogisticRegression):
        return model.fit(features, classes)
    _, first, rows = np.unique(number * (int(classes.max()) + 1) + classes, return_index=True, return_counts=True)
    return model.fit(features[first], classes[first], sample_weight=rows)


def _features(columns: Sequence[tuple[Ints, Ints, Covers]], partner: Longs, rows: Longs) -> tuple[Floats, Floats]:
    """The same features before and after; rows that were left out are all zero after (they are never trained on)."""
    released = partner[rows]
    there = released >= 0
    before, after = [], []
    for values, labels, covers in columns:
        numbers = covers.domain.numbers
        if numbers is not None:
            center, scale = float(np.nanmean(numbers[values])), float(np.nanstd(numbers[values])) or 1.0
            before.append(np.nan_to_num((numbers[values[rows]] - center) / scale)[:, None])
            points = np.nan_to_num((middles(covers) - center) / scale)
            column = np.zeros((len(rows), 1))
            column[there, 0] = points[labels[released[there]]]
        else:
            bins, names = bins_of(covers)
            before.append(np.eye(len(names))[bins[values[rows]]])
            column = np.zeros((len(rows), len(names)))
            column[there] = spread(covers, bins, len(names))[labels[released[there]]]
        after.append(column)
    return np.hstack(before), np.hstack(after)


def _learner(name: str, seed: int) -> Any:
    from sklearn import ensemble, linear_model, naive_bayes, tree

    if name == "logistic regression":
        return linear_model.LogisticRegression(solver="newton-cholesky", max_iter=50, tol=1e-3)
    if name == "decision tree":
        return tree.DecisionTreeClassifier(min_samples_leaf=20, random_state=seed)
    if name == "random forest":
        return ensemble.RandomForestClassifier(n_estimators=30, min_samples_leaf=5, random_state=seed, n_jobs=1)
    if name == "naive Bayes":
        return naive_bayes.GaussianNB(var_smoothing=1e-3)
    raise DataError(f"There is no learner {name!r}. Known: {', '.join(LEARNERS)}.")
