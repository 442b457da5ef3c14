"""A step for scikit-learn pipelines: a model that is trained on a release sees new rows as the release says them.

Needs scikit-learn (`pip install 'kanopy[sklearn]'`). **It promises nothing about new rows**: those that it was fitted
on are a release that was proved safe; new ones are only said in the same words, each by itself, so that a model can be
asked about them. They are not safe to publish.
"""

from __future__ import annotations

from typing import Any

from kanopy._errors import JobError, MissingDependency

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError:
    raise MissingDependency("A step of a pipeline needs scikit-learn: pip install 'kanopy[sklearn]'.") from None

__all__ = ["Anonymizer"]


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Publishes the rows it is fitted on, and says new rows at the same levels.

    `job` is a `Job` with one level per column (as `optimal` finds) that leaves no row out. `result_` is the release of
    the rows it was fitted on, with its losses and proofs. A value that its hierarchy does not know becomes `*`; new
    rows are never judged, and nothing is promised about them.

    >>> import polars as pl
    >>> from kanopy import Job
    >>> step = Anonymizer(Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10]}}))
    >>> step.fit_transform(pl.DataFrame({"age": [31, 34, 45, 47]}))["age"].to_list()
    ['[30, 39]', '[30, 39]', '[40, 49]', '[40, 49]']
    >>> step.transform(pl.DataFrame({"age": [34, 41]}))["age"].to_list()
    ['[30, 39]', '[40, 49]']
    """

    def __init__(self, job: Any) -> None:
        self.job = job

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Find the release of a table."""
        from kanopy.release.run import anonymize
        from kanopy.release.solution_file import check_reusable

        check_reusable(self.job)
        if self.job.suppressed_rows == "drop" or self.job.shuffle:
            raise JobError("A step of a pipeline keeps every row at its place: no suppressed_rows='drop', no shuffle.")
        self.result_ = anonymize(X, self.job)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:
        """The release of a table."""
        return self.fit(X).result_.data

    def transform(self, X: Any) -> Any:
        """Rows at the levels of the release, each by itself: no promise about them."""
        from sklearn.utils.validation import check_is_fitted

        from kanopy._arrays import SUPPRESSED_LABEL
        from kanopy._job.reading_rules import apply_reading_rules
        from kanopy._table.column import is_text, overwritten
        from kanopy._table.delimited import check_columns
        from kanopy._table.encode import encode_column
        from kanopy._table.frames import to_polars

        check_is_fitted(self, "result_")
        published, levels = self.result_.frame, self.result_.levels or {}
        frame, restore = apply_reading_rules(*to_polars(X), self.job)
        check_columns(published.columns, frame.columns, "The table")
        frame = frame[published.columns]
        for name, hierarchy in self.result_.hierarchies.items():
            if not is_text(published[name]):
                continue  # published as it was, with its type
            column = encode_column(frame[name], hierarchy, unknown="suppress")
            labels = overwritten(column.decode(levels[name]), column.suppressed_rows, SUPPRESSED_LABEL)
            frame = frame.with_columns(labels.alias(name))
        return restore(frame)

    def get_feature_names_out(self, input_features: Any = None) -> list[str]:
        """The columns that leave."""
        return list(self.result_.frame.columns)
