"""Does a release keep what its job says beside its models? Read from the two tables and the job alone.

Nothing here is shared with searches, builders or the engine: rows are compared with rows, and published labels with the
labels that the hierarchy of a column has for a value. Whatever is not as the job says raises `VerificationFailed`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from kanopy._errors import VerificationFailed
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.personal import Constrained
from kanopy.verify.labels import SUPPRESSED, as_text, written

Mask = npt.NDArray[np.bool_]
UNPUBLISHED_ROLES = ("identifier", "undecided", "withheld", "unit")
RECOUNTED = ("loss", "loss-geometric", "precision", "height", "aecs", "discernibility")
"""Scores that are counted again where columns have one level each; entropy is not."""
GENERALIZED = ("quasi-identifier", "text")


@dataclass(frozen=True, eq=False)
class Claims:
    """What a run says of its release: the original row behind each published one, which original rows are suppressed,
    and, where columns have one level each, these levels, the metric it went by and its value. `hierarchies` are those
    of the quasi-identifiers; maskings have none."""

    rows: npt.NDArray[np.int64] | None = None
    suppressed: Mask | None = None
    hierarchies: Mapping[str, Hierarchy] | None = None
    levels: Mapping[str, int] | None = None
    score: float | None = None
    metric: str = "loss"
    multiplicity: npt.NDArray[np.int64] | None = None
    """For how many rows each row of both tables stands, where an engine counted them: those left out stand here too."""

    def many(self, marked: Mask) -> int:
        """How many rows are marked."""
        return int(marked.sum()) if self.multiplicity is None else int(self.multiplicity[marked].sum())


def verify_job(job: Any, original: pl.DataFrame, published: pl.DataFrame, claims: Claims | None = None) -> None:
    """Raise if a release does not keep its job: columns, rows, suppression, levels, nodes, values left as they are.

    `job` is a job for generalizing or for masking; all that is asked of it are its settings.

    >>> from types import SimpleNamespace
    >>> job = SimpleNamespace(roles={"name": "identifier", "age": "insensitive"}, rest="leave out", pseudonymize=())
    >>> people = pl.DataFrame({"name": ["Ada"], "age": [36]})
    >>> verify_job(job, people, people)
    Traceback (most recent call last):
    kanopy._errors.VerificationFailed: 'name' must not leave, and would be published. Nothing was written...
    """
    claims = claims or Claims()
    if len(set(published.columns)) != len(published.columns):
        raise _failed("Two columns of the release have the same name")
    _columns(job, original, published)
    suppressed = np.zeros(original.height, np.bool_) if claims.suppressed is None else claims.suppressed
    rows = np.arange(original.height) if claims.rows is None else claims.rows
    _rows(job, original, published, rows, suppressed, claims)
    before = original if claims.rows is None else original[claims.rows]
    suppressed_here = suppressed[rows]
    _untouched(job, before, published, suppressed_here)
    _pseudonyms(job, before, published, suppressed_here)
    if claims.hierarchies is not None:
        for name, hierarchy in claims.hierarchies.items():
            _labels(job, before[name], published[name], hierarchy, suppressed_here, (claims.levels or {}).get(name))
        _loss(job, original, published, claims, suppressed_here)
    else:
        _substitutes(job, before, published)


def require_used_categories(published: pl.DataFrame) -> None:
    """Raise if a column would be published with categories that none of its rows has: they are values of others."""
    for column in published.get_columns():
        if isinstance(column.dtype, pl.Enum):
            values = set(column.rename("").cast(pl.String).unique().to_list())
            if unused := [label for label in column.dtype.categories if label not in values]:
                raise _failed(f"{column.name!r} would be published with {len(unused):,} categories that no row has")


def _failed(what: str) -> VerificationFailed:
    return VerificationFailed(f"{what}. Nothing was written. This is an error in Kanopy: please report it.")


def _columns(job: Any, original: pl.DataFrame, published: pl.DataFrame) -> None:
    """Columns that must leave, must not, and their order."""
    there = set(published.columns)
    for name in original.columns:
        role = job.roles.get(name)
        hashed = name in job.pseudonymize or name in _treated(job)
        if name in there and not hashed and (role in UNPUBLISHED_ROLES or (role is None and job.rest != "publish")):
            raise _failed(f"{name!r} must not leave, and would be published")
        if name not in there and (hashed or (role is not None and role not in UNPUBLISHED_ROLES)):
            raise _failed(f"{name!r} is missing from the release")
    if published.columns != [name for name in original.columns if name in there]:
        raise _failed("The release has other columns than the table, or has them in another order")


def _treated(job: Any) -> set[str]:
    """The columns that a treatment changes: `kanopy.verify.treatments` looks at them."""
    plain = {column: treatment.to_dict() for column, treatment in (getattr(job, "protect", None) or {}).items()}
    return {name for column, parameters in plain.items() for name in (column, *parameters.get("together", ()))}


def _rows(
    job: Any,
    original: pl.DataFrame,
    published: pl.DataFrame,
    rows: npt.NDArray[np.int64],
    suppressed: Mask,
    claims: Claims,
) -> None:
    """Every row once, no more suppressed than allowed, and suppressed ones without their quasi-identifiers."""
    hierarchies = claims.hierarchies or {}
    dropped = getattr(job, "suppressed_rows", "keep") == "drop"
    expected = np.flatnonzero(~suppressed) if dropped else np.arange(original.height)
    every_row = np.array_equal(rows, expected) or np.array_equal(np.sort(rows), expected)
    if published.height != len(rows) or not every_row:
        raise _failed(f"The release has {published.height:,} rows where {len(expected):,} belong")
    if not hierarchies:
        return
    excluded = np.zeros(original.height, np.bool_)
    for name, hierarchy in hierarchies.items():
        if job.missing == "suppress":
            excluded |= missing(original[name], job.missing_tokens)
        if job.unknown == "suppress":
            excluded |= _strangers(original[name], hierarchy, job.missing_tokens)
    allowed = math.floor(job.suppress * claims.many(np.ones(original.height, np.bool_)) + 1e-9)
    if (beyond := claims.many(suppressed & ~excluded)) > allowed:
        raise _failed(f"{beyond:,} rows are suppressed where the job allows {allowed:,}")
    if (excluded & ~suppressed).any():
        raise _failed("Rows with missing or unknown values are published that the job suppresses")
    if not dropped and suppressed.any():
        hidden = published.filter(pl.Series(suppressed[rows]))
        for name in hierarchies:
            if not (as_text(hidden[name].rename("")) == SUPPRESSED).fill_null(False).all():
                raise _failed(f"Some suppressed rows still show {name!r}")


def missing(series: pl.Series, tokens: Sequence[str] = ()) -> Mask:
    """Which rows have no value: nothing, not a number, an empty text, or a text that means missing.

    >>> missing(pl.Series(["a", "", None, "?"]), ["?"]).tolist()
    [False, True, True, True]
    """
    series = series.rename("")  # the library's methods would take some names for patterns
    is_missing = series.is_null()
    if series.dtype.is_float():
        is_missing |= series.is_nan().fill_null(False)
    elif isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum)):
        is_missing |= series.cast(pl.String).is_in(["", *tokens]).fill_null(False)
    return np.asarray(is_missing.to_numpy(), np.bool_)


def _strangers(series: pl.Series, hierarchy: Hierarchy, tokens: Sequence[str]) -> Mask:
    series = series.rename("value")
    different = series.unique()
    is_known = [value is None or written(value) in hierarchy.index for value in different.to_list()]
    lacking = pl.DataFrame([different, pl.Series("known", is_known)]).filter(~pl.col("known"))["value"]
    return np.asarray(series.is_in(lacking.implode()).fill_null(False).to_numpy()) & ~missing(series, tokens)


def _untouched(job: Any, before: pl.DataFrame, published: pl.DataFrame, suppressed: Mask) -> None:
    """Columns that no one generalizes leave as they are; only suppressed rows may lack a value."""
    for name in published.columns:
        role = job.roles.get(name)
        if role in GENERALIZED or name in job.pseudonymize or name in _treated(job):
            continue
        was, now = before[name].rename(""), published[name].rename("")
        texts = (pl.Categorical, pl.Enum)
        if isinstance(was.dtype, texts) and isinstance(now.dtype, texts):
            was, now = was.cast(pl.String), now.cast(pl.String)
        if was.dtype != now.dtype:
            raise _failed(f"{name!r} would be published as {now.dtype} instead of {was.dtype}")
        if isinstance(was.dtype, pl.Object):
            same = pl.Series([one == other for one, other in zip(was, now, strict=True)], dtype=pl.Boolean)
        else:
            same = was.eq_missing(now)
        withheld_values = now.is_null().to_numpy() & suppressed
        changed = ~same.to_numpy() & ~withheld_values
        if changed.any():
            raise _failed(f"{int(changed.sum()):,} values of {name!r} were changed, which is published as it is")


def _pseudonyms(job: Any, before: pl.DataFrame, published: pl.DataFrame, suppressed: Mask) -> None:
    """A pseudonym is never the value itself, the same for the same value and another for another; suppressed rows may
    lack theirs."""
    for name in job.pseudonymize:
        texts = pl.Series([None if value is None else written(value) for value in before[name]], dtype=pl.String)
        pairs = pl.DataFrame({"value": texts, "hash": published[name].rename("hash")})
        pairs = pairs.filter(~(pl.Series(suppressed) & pairs["hash"].is_null())).unique().drop_nulls("value")
        plain = set(pairs["value"].to_list()) & set(pairs["hash"].to_list())
        if plain or not pairs.height == pairs["value"].n_unique() == pairs["hash"].n_unique():
            raise _failed(f"{name!r} would be published under pseudonyms that are not one to one")


def _substitutes(job: Any, before: pl.DataFrame, published: pl.DataFrame) -> None:
    """Maskings publish answers of the same column, nothing else (`verify_answers` looks where rare ones may not)."""
    if getattr(job, "targets", "any") != "any":
        return
    for name in [name for name, role in job.roles.items() if role in GENERALIZED]:
        answers = {None if value is None else written(value).strip() for value in set(before[name].to_list())}
        published_answers = {
            None if value is None else written(value).strip() for value in set(published[name].to_list())
        }
        if strange := published_answers - answers - {None}:
            raise _failed(f"{len(strange):,} published values of {name!r} are not answers of the table")


def _labels(
    job: Any, before: pl.Series, now: pl.Series, hierarchy: Hierarchy, suppressed: Mask, level: int | None
) -> None:
    """Labels stand at levels that the job allows, at the level claimed, and not above nodes that must not be passed."""
    name = before.name
    lowest, highest = job.min_levels.get(name, 0), job.max_levels.get(name, hierarchy.height)
    named = [set(model.nodes) for model in job.models if isinstance(model, Constrained) and model.column == name]
    pairs = pl.DataFrame({"value": before.rename("value"), "label": now.rename("label")})
    pairs = (pairs.filter(pl.Series(~suppressed)) if suppressed.any() else pairs).unique(maintain_order=True)
    pairs = pairs.filter(pl.Series(~missing(pairs["value"], job.missing_tokens)))
    free = level is None and not named and (lowest, highest) == (0, hierarchy.height)
    if free:  # nothing is said about levels: only what reads as suppressed is looked at
        pairs = pairs.filter(as_text(pairs["label"]) == SUPPRESSED)
    elif level is not None and not named and lowest <= level <= highest:
        pairs = _elsewhere(pairs, hierarchy, level)
    for value, published_value in pairs.iter_rows():
        label = None if published_value is None else written(published_value)
        labels = labels_above(hierarchy, written(value)) if free else labels_by_level(hierarchy, written(value))
        at = [index for index, level_label in enumerate(labels) if level_label == label]
        example = f"{written(value)} as {label}"
        if label == SUPPRESSED and not at and value != SUPPRESSED:
            raise _failed(f"{name!r} would be published suppressed in rows that are not: {example}")
        if free or not labels or (level is None and label not in labels and (lowest, highest) == (0, hierarchy.height)):
            continue  # a range or set made without the hierarchy: whether it is true is read elsewhere
        if not any(lowest <= at_level <= highest for at_level in at):
            raise _failed(f"{name!r} would be published beyond its levels {lowest} to {highest}: {example}")
        if level is not None and level not in at:
            raise _failed(f"{name!r} would be published at another level than {level}: {example}")
        for nodes in named:
            allowed = [index for index, level_label in enumerate(labels) if level_label in nodes]
            if allowed and min(at) > max(allowed):
                raise _failed(f"{name!r} would be generalized beyond what the model 'constrained' allows: {example}")


def _elsewhere(pairs: pl.DataFrame, hierarchy: Hierarchy, level: int) -> pl.DataFrame:
    """The pairs of texts whose label is not that of the value at a level, all at once; other pairs stay as they are."""
    if pairs.dtypes != [pl.String, pl.String] or len(set(hierarchy.values)) < hierarchy.size:
        return pairs
    labels = [hierarchy.label(node) for node in hierarchy.table[level].tolist()]
    labels_at_level = pl.DataFrame({"value": list(hierarchy.values), "claimed": labels})
    agrees = pl.col("label") == pl.col("claimed")
    return (
        pairs.join(labels_at_level, on="value", how="left", maintain_order="left")
        .filter(~agrees.fill_null(False))
        .drop("claimed")
    )


def labels_by_level(hierarchy: Hierarchy, value: str) -> list[str]:
    """The labels of a value from its own up to the broadest; nothing for a value that the hierarchy does not know.

    >>> labels_by_level(Hierarchy.from_rows([["Lyon", "France", "*"]]), "Lyon")
    ['Lyon', 'France', '*']
    """
    leaf = hierarchy.index.get(value)
    return [] if leaf is None else [hierarchy.label(int(node)) for node in hierarchy.table[:, leaf].tolist()]


def labels_above(hierarchy: Hierarchy, value: str) -> list[str]:
    """The same without saying at which level each stands: also of trees too deep for levels."""
    if hierarchy.has_table or hierarchy.parent is None:
        return labels_by_level(hierarchy, value)
    node, labels = hierarchy.index.get(value, -1), []
    while node >= 0:
        labels.append(hierarchy.label(node))
        node = int(hierarchy.parent[node])
    return labels


def _loss(job: Any, original: pl.DataFrame, published: pl.DataFrame, claims: Claims, suppressed: Mask) -> None:
    """The score that is claimed, counted again from the labels with the weights of the job: none is forgotten."""
    hierarchies, levels = claims.hierarchies, claims.levels
    if claims.score is None or levels is None or hierarchies is None:
        return
    rows, covered = claims.many(np.ones(original.height, np.bool_)), {}
    behind = np.arange(original.height) if claims.rows is None else claims.rows
    standing = np.ones(len(suppressed), np.int64) if claims.multiplicity is None else claims.multiplicity[behind]
    published_rows = int(standing[~suppressed].sum())
    weights = [job.weights.get(name, 1.0) for name in hierarchies]
    labels = [published[name].alias(str(at)) for at, name in enumerate(hierarchies)]
    classes = pl.DataFrame([*labels, pl.Series("rows", standing)]).filter(pl.Series(~suppressed))
    if claims.metric in ("aecs", "discernibility"):
        measured = _of_sizes(claims.metric, rows, published_rows, classes)
    elif claims.metric == "height":
        measured = sum(weight * levels[name] for weight, name in zip(weights, hierarchies, strict=True))
    elif claims.metric == "precision":
        up = [
            published_rows * levels[name] / max(tree.height, 1) + rows - published_rows
            for name, tree in hierarchies.items()
        ]
        measured = sum(weight * column_loss / rows for weight, column_loss in zip(weights, up, strict=True)) / sum(
            weights
        )
    else:
        for at, (name, hierarchy) in enumerate(hierarchies.items()):
            share = share_under(hierarchy, levels[name])
            counted = classes.group_by(str(at)).agg(pl.col("rows").sum())
            covered[name] = sum(number * share(label) for label, number in counted.iter_rows()) + rows - published_rows
        measured = loss_of(job, hierarchies, rows, covered, geometric=claims.metric == "loss-geometric")
    same_loss(claims.score, measured, claims.metric)


def _of_sizes(metric: str, rows: int, published_rows: int, classes: pl.DataFrame) -> float:
    """The losses that look at classes alone: rows per class, or what every row is charged for those it looks like."""
    names = [name for name in classes.columns if name != "rows"]
    sizes = classes.group_by(names).agg(pl.col("rows").sum())["rows"].to_numpy().astype(np.float64)
    if metric == "aecs":
        return rows / max(1, len(sizes) + (rows > published_rows))
    return float((sizes**2).sum()) + float(rows) * (rows - published_rows)


def share_under(hierarchy: Hierarchy, level: int) -> Callable[[Any], float]:
    """What share of a column's values has a published label, at a level.

    >>> share_under(Hierarchy.from_rows([["Lyon", "France", "*"], ["Bonn", "Germany", "*"]]), 1)("France")
    0.5
    """
    size = hierarchy.size
    nodes, values = np.unique(hierarchy.table[level], return_counts=True)
    under: dict[str, float] = {hierarchy.label(int(n)): v / size for n, v in zip(nodes, values.tolist(), strict=True)}
    # A missing value is a leaf of its own where rows have one.
    return lambda label: under.get("" if label is None else written(label), 1 / size)


def loss_of(
    job: Any, hierarchies: Mapping[str, Hierarchy], rows: int, covered: Mapping[str, float], *, geometric: bool = False
) -> float:
    """The loss of a release from the shares of values under its labels, added up over all rows (1 where suppressed)."""
    parts, weights = [], []
    for name, hierarchy in hierarchies.items():
        size = hierarchy.size
        parts.append(max(0.0, (covered[name] - rows / size) / (rows - rows / size)) if size > 1 else 0.0)
        weights.append(job.weights.get(name, 1.0))
    if geometric:
        logs = [w * math.log1p(loss) for w, loss in zip(weights, parts, strict=True)]
        return math.expm1(sum(logs) / sum(weights))
    return float(sum(w * loss for w, loss in zip(weights, parts, strict=True)) / sum(weights))


def same_loss(claimed: float, measured: float, metric: str = "loss") -> None:
    """Raise unless the loss that a search claims is the one that the labels have."""
    if not math.isclose(measured, claimed, rel_tol=1e-6, abs_tol=1e-9):
        raise _failed(f"The release claims a {metric} of {claimed:.6f}, its labels give {measured:.6f}")
