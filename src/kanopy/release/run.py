"""The one way to a release: search or mask, apply, verify what is about to leave. `anonymize` and `mask` begin here."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import Hint, JobError, NoSolution
from kanopy._job.job import Job
from kanopy._progress import SILENT, Callback, Clock, Progress
from kanopy.masking.names import MASKING_NAMES
from kanopy.release.prepare import Generalizable, Prepared, Substitutable, make_problem, prepare
from kanopy.release.result import PublishedRows, Result
from kanopy.study import ends

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs, Mask
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.masking.job import MaskJob
    from kanopy.masking.result import Masked
    from kanopy.search.bound.bound import Bound
    from kanopy.search.solution import Solution
    from kanopy.verify.people import Whose
    from kanopy.verify.regroup import Background
    from kanopy.verify.verify import Verification


def anonymize(
    data: Any,
    job: Job | MaskJob,
    *,
    progress: Callback | None = None,
    clock: Clock | None = None,
    source: str | None = None,
    population: Any = None,
    key: bytes | None = None,
    bound: bool | float | str = False,
) -> Result:
    """Find the release that keeps most information under the job, and prove that it satisfies it.

    `data` is a pandas, Polars, Arrow, DuckDB or Spark frame, a dictionary of columns, a list of records, or a path.
    Raises `NoSolution` if nothing satisfies the job. `progress` is called with a `Step`; returning `False` stops it.
    `population` is the table that models such as k-map compare with (or the job names it); `key` is the secret with
    which identifiers are pseudonymized, where the job asks for that. `bound` also proves how far from the best possible
    the release is: no local recoding with these hierarchies loses less than `result.bound.value` (`60s`: in that time).

    >>> import kanopy
    >>> people = {"age": [31, 34, 38, 52, 57, 59], "sex": ["f", "f", "f", "m", "m", "m"], "ill": list("abcabc")}
    >>> job = kanopy.Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> kanopy.anonymize(people, job).data["age"]
    ['[30, 39]', '[30, 39]', '[30, 39]', '[50, 59]', '[50, 59]', '[50, 59]']
    """
    if bound and job.algorithm in MASKING_NAMES:
        raise JobError(
            f"{job.algorithm!r} substitutes answers by meaning: there is no loss of hierarchies to bound. Leave "
            "the bound out, or use an algorithm that generalizes, such as 'best'."
        )
    if job.pseudonymize:
        from kanopy._table.pseudonyms import check_key

        check_key(key)
    if type(data).__module__.startswith("pyspark."):
        from kanopy.release.where import anonymize_on_spark

        return anonymize_on_spark(data, job, bound=bound, progress=progress, clock=clock, population=population)
    clock, tell = clock or Clock(), Progress(progress)
    prepared = prepare(data, job, population=population, source=source, clock=clock, progress=tell)
    return run(prepared, prepared.job, key=key, bound=bound, clock=clock, progress=tell)


def mask(
    data: Any,
    job: MaskJob,
    *,
    progress: Callback | None = None,
    clock: Clock | None = None,
    source: str | None = None,
    key: bytes | None = None,
) -> Result:
    """Substitute rare answers by answers of similar meaning until every published combination is shared by `k` rows.

    `data` is a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns, a list of records, or a path.
    Martínez 2010; see `MaskJob` for the choices.

    >>> from kanopy import MaskJob
    >>> answers = {"reason": ["beach", "beach", "beach", "baech", "seaside", "heron", "stork", "egret"]}
    >>> mask(answers, MaskJob(text=["reason"], k=3)).data["reason"]
    ['beach', 'beach', 'beach', 'beach', 'beach', 'wading bird', 'wading bird', 'wading bird']
    """
    return anonymize(data, job, progress=progress, clock=clock, source=source, key=key)


def run(
    prepared: Prepared,
    job: Job | MaskJob,
    *,
    found: Solution | Masked | None = None,
    key: bytes | None = None,
    bound: bool | float | str = False,
    clock: Clock | None = None,
    progress: Progress = SILENT,
    true_labels: set[tuple[str, int]] | None = None,
) -> Result:
    """A release of a prepared table, verified on what would be published.

    `found` is what a search found before, where several releases share one. `true_labels` are columns and levels whose
    labels were read before: for releases that only are compared, and share levels.

    >>> job = Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10]}})
    >>> run(prepare({"age": [31, 34, 52, 55]}, job), job).smallest_class
    2
    """
    clock = clock or Clock()
    if found is None:
        with clock.stage("search"):
            found = search(prepared, job, progress)
    proved: Bound | None = None
    why_not: tuple[str, ...] = ()
    if bound:
        with clock.stage("bound"):
            proved, why_not = _bound(prepared, job, found, bound, progress)
    from kanopy._table.column import emptied
    from kanopy.masking.result import Masked

    with clock.stage("apply"):
        progress("applying")
        published, kept = apply_found(prepared, job, found)
        empty, told = without_values(prepared, job, found)
        for name in empty:
            assert not isinstance(found, Masked), "maskings suppress nothing"
            published = published.with_columns(emptied(published[name], found.recoding.group_of_row < 0))
        if job.pseudonymize:
            from kanopy._table.pseudonyms import with_pseudonyms

            published = with_pseudonyms(published, prepared.frame, job.pseudonymize, key, kept)
        order = shuffled(published, _seed(job)) if job.shuffle else None
        frame = published if order is None else published[order]
    with clock.stage("verify"):
        progress("verifying")
        background = background_of(prepared, job, found)
        if order is not None:  # what is about to leave, beside the rows it was made from
            published = frame[np.argsort(order)]
        verification, remarks = second_opinion(prepared, job, found, published, background, kept, true_labels)
    result = Result(
        records=PublishedRows(frame, kept, order),
        job=job,
        found=found,
        verification=verification,
        notes=(*prepared.notes, *found.notes, *why_not, *remarks, *told),
        about_suppressed=told,
        clock=clock,
        bound=proved,
        prepared=prepared,
        private_notes=remarks,
        published_population=None if background is None else background.population,
    )
    if prepared.lists is not None and isinstance(job, Job):
        from kanopy.verify.people import require_lists

        with clock.stage("verify"):
            whose = _whose(prepared, job, kept)
            require_lists(result.frame, prepared.names, prepared.lists.column, prepared.lists.separator, whose, job.k)
    return result


def search(prepared: Prepared, job: Job | MaskJob, progress: Progress = SILENT) -> Solution | Masked:
    """What the job's algorithm finds: a recoding, or substitutions."""
    if isinstance(job, Job):
        from kanopy.search.algorithms import make_algorithm

        progress("searching")
        return make_algorithm(job.algorithm, **job.parameters).solve(make_problem(prepared.domain, job), progress)
    from kanopy import _compiler as compiler
    from kanopy.masking.algorithms.fusion_kernel import fuse
    from kanopy.masking.likeness_kernel import linkage

    assert isinstance(prepared.table, Substitutable)
    compiler.prepare((fuse, linkage), progress)
    progress("masking")
    return job.make().mask(prepared.table.guide, job.k, job.diversity, progress)


def _bound(
    prepared: Prepared, job: Job | MaskJob, found: Solution | Masked, budget: bool | float | str, progress: Progress
) -> tuple[Bound | None, tuple[str, ...]]:
    """A lower bound on the loss of any release with these hierarchies, or why there is none."""
    from kanopy._kinds import as_seconds
    from kanopy.search.bound.bound import lower_bound
    from kanopy.search.solution import Solution

    assert isinstance(job, Job) and isinstance(found, Solution), "maskings are refused a bound before they start"
    for name, nodes in zip(prepared.domain.names, found.recoding.nodes, strict=False):
        if (nodes < 0).any():
            return None, (f"No bound: it is about nodes of hierarchies, and {name} was published without its own.",)
    seconds = None if budget is True else as_seconds(budget, "time for the bound")
    problem, threads = make_problem(prepared.domain, job.replaced(metric="loss")), job.parameters.get("threads")
    return lower_bound(problem, budget_seconds=seconds, threads=threads, progress=progress), ()


def apply_found(prepared: Prepared, job: Job | MaskJob, found: Solution | Masked) -> tuple[pl.DataFrame, Mask | None]:
    """The published frame, and which rows are in it (`None`: all)."""
    from kanopy.engine.local import LocalEngine
    from kanopy.masking.result import Masked

    table, dropped = prepared.table, prepared.at_home
    if isinstance(found, Masked):
        assert isinstance(table, Substitutable)
        codes = found.codes_of_rows(table.guide)
        substituted = [column.publish(np.ascontiguousarray(codes[:, j])) for j, column in enumerate(table.columns)]
        return prepared.visible.with_columns(substituted), None
    assert isinstance(table, Generalizable) and isinstance(job, Job)
    drop_rows = job.suppressed_rows == "drop"
    if drop_rows and not (found.recoding.group_of_row >= 0).any():
        keep = Hint("keep suppressed rows, with * in them", suppressed_rows="keep")
        raise NoSolution(
            "Every row would be suppressed and left out: nothing is left to publish.",
            advice=["choose a smaller k", keep, "allow fewer rows to be suppressed"],
        )
    return LocalEngine().apply(prepared.values, table.counted, found.recoding, dropped=dropped, drop_rows=drop_rows)


def without_values(
    prepared: Prepared, job: Job | MaskJob, found: Solution | Masked
) -> tuple[list[str], tuple[str, ...]]:
    """The sensitive columns whose values suppressed rows must lose, as those rows are no safe class; what to say of it.

    Suppressed rows look alike, so they are a class like any other: fewer than k of them, or a model that does not
    hold for them, would tell what the people behind them have.
    """
    from kanopy._core.classes import Classes
    from kanopy._core.histograms import histogram
    from kanopy._errors import some
    from kanopy.masking.result import Masked
    from kanopy.privacy.models import failing

    sensitive = [name for name, role in prepared.roles.items() if role == "sensitive"]
    if isinstance(found, Masked) or not isinstance(job, Job) or job.suppressed_rows == "drop" or not sensitive:
        return [], ()
    gone, rows = found.recoding.group_of_row < 0, found.recoding.suppressed_rows
    if not rows:
        return [], ()
    columns, units = prepared.domain.sensitive, prepared.units
    one = np.where(gone, 0, -1)
    if units is None:
        many = rows
        counts = {each.name: histogram(one, each.code_of_row, 1, len(each.values), each.rows_of) for each in columns}
    else:
        many = int(units.people(one, 1)[0])
        counts = {each.name: units.histogram(one, each.code_of_row, 1, len(each.values)) for each in columns}
    alone = Classes(np.array([many]), histograms=counts, facts=prepared.domain.facts)
    unsafe = [
        name
        for name in sensitive
        if many < job.least_rows
        or any(name in model.sensitive and (model.hidden or failing(model, alone).any()) for model in job.models)
    ]
    kept = [name for name in sensitive if name not in unsafe]
    told = []
    who = "The suppressed row is" if rows == 1 else f"The {rows:,} suppressed rows are"
    if unsafe:
        who_are = "" if units is None else f" {units.called} behind them"
        few = f"there are fewer than {'k = ' if job.k > 1 else ''}{job.least_rows:,}{who_are}"
        why = few if many < job.least_rows else "a model does not hold for them"
        told.append(f"{who} published without the values of {some(unsafe)}: {why}.")
    if kept:
        told.append(f"{who} published with the values of {some(kept)}: together they are as safe as any other class.")
    return unsafe, tuple(told)


def second_opinion(
    prepared: Prepared,
    job: Job | MaskJob,
    found: Solution | Masked,
    published: pl.DataFrame,
    background: Background | None,
    kept: Mask | None,
    true_labels: set[tuple[str, int]] | None = None,
) -> tuple[Verification, tuple[str, ...]]:
    """What is about to leave, looked at again: models, truth of labels, all that the job says; raises if it disagrees.

    Returns what was counted, and remarks that name values. `true_labels` is as in `run`.
    """
    verification = _verify(prepared, job, found, published, background, kept)
    remarks: tuple[str, ...] = ()
    if isinstance(prepared.table, Generalizable):
        levels = getattr(found, "levels", None)
        at_level = {} if levels is None else dict(zip(prepared.names, levels, strict=True))
        known = set() if true_labels is None else true_labels
        names = [name for name in prepared.names if (name, at_level.get(name)) not in known]
        remarks = verified_labels(prepared, prepared.table, job, published, kept, names)
        least = getattr(job, "least_rows", job.k)
        shown = ends.exposed_ends(prepared.values, published, names, least, prepared.multiplicity, prepared.units)
        remarks += ends.told(shown)
        known.update(at_level.items())  # in place: the caller hands the same set to its next release
    _verify_job(prepared, job, found, published, kept)
    return verification, remarks


def _verify(
    prepared: Prepared,
    job: Job | MaskJob,
    found: Solution | Masked,
    published: pl.DataFrame,
    background: Background | None,
    kept: Mask | None,
) -> Verification:
    """The second opinion on the labels that are about to be published; raises if it disagrees."""
    from kanopy.masking.result import Masked
    from kanopy.verify.verify import verify, verify_swapped

    identifiers = [name for name in prepared.at_home if name not in job.pseudonymize]
    names, rows_of = prepared.names, prepared.multiplicity
    claims: dict[str, Any]
    if isinstance(found, Masked):
        tokens = job.missing_tokens
        only_frequent = _verify_answers(prepared, job, published)
        if not found.guarantees_k:
            return verify_swapped(
                prepared.values, published, names, job.k, identifiers, missing_tokens=tokens, replaced=only_frequent
            )
        # Nothing is suppressed: an answer that reads * is an answer like any other.
        groups = len(np.unique(found.published, axis=0))
        claims = {"rows": prepared.values.height, "suppressed_rows": 0, "classes": groups}
    else:
        assert isinstance(job, Job)
        recoding = found.recoding
        gone, dropped = recoding.suppressed_rows, job.suppressed_rows == "drop"
        claims = {
            "rows": prepared.rows - (gone if dropped else 0),
            "suppressed_rows": 0 if dropped else gone,
            "classes": recoding.classes.count,
            "gone": None if dropped else recoding.group_of_row < 0,
            "sensitive": [name for name, role in prepared.roles.items() if role == "sensitive"],
        }
        claims["whose"] = _whose(prepared, job, kept)
        if (everybody := _whose(prepared, job, None)) is not None:
            from kanopy.verify.people import require_fixed

            require_fixed(prepared.values, published, names, everybody, claims["gone"], kept)
        claims["rows_of"] = rows_of if rows_of is None or kept is None else rows_of[kept]
    return verify(published, names, job.all_models, identifiers=identifiers, background=background, **claims)


def _verify_answers(prepared: Prepared, job: Any, published: pl.DataFrame) -> bool:
    """The second opinion on what replaced rare answers; whether only frequent ones may."""
    from kanopy.verify.answers import verify_answers

    if job.targets == "any" or not isinstance(table := prepared.table, Substitutable):
        return False
    texts = [column.name for column in table.columns if column.is_text and column.name in job.text]
    verify_answers(prepared.values, published, prepared.names, job.k, texts=texts, terms=table.terms, allowed=job.allow)
    return True


def _verify_job(
    prepared: Prepared, job: Job | MaskJob, found: Solution | Masked, published: pl.DataFrame, kept: Mask | None
) -> None:
    """The second opinion on everything else that the job says; raises if the release does not keep it."""
    from kanopy.masking.result import Masked
    from kanopy.verify.job import RECOUNTED, Claims, verify_job

    if isinstance(found, Masked):
        claims = Claims()
    else:
        domain, levels = prepared.domain, found.levels
        claims = Claims(
            rows=None if kept is None else np.flatnonzero(kept),
            suppressed=found.recoding.group_of_row < 0,
            hierarchies=dict(zip(domain.names, domain.hierarchies, strict=True)),
            levels=None if levels is None else dict(zip(domain.names, levels, strict=True)),
            metric=getattr(job, "metric", ""),
            score=found.score if levels is not None and getattr(job, "metric", "") in RECOUNTED else None,
            rows_of=prepared.multiplicity,
        )
    verify_job(job, prepared.values, published, claims)


def shuffled(frame: pl.DataFrame, seed: int) -> Longs:
    """Rows in an order that says nothing about the one they came in: sorted by what is published, then drawn by seed.

    >>> import polars as pl
    >>> letters = pl.DataFrame({"a": ["x", "y", "z"]})
    >>> letters[shuffled(letters, 0)].equals(letters.reverse()[shuffled(letters.reverse(), 0)])
    True
    """
    import polars as pl

    plain = [pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Duration]
    keys = []
    for place, column in enumerate(frame.get_columns()):
        # The order of categories may be the one in which rows came; what cannot be sorted is as text.
        own = column if column.dtype.is_numeric() or column.dtype in plain else _texts(column)
        keys.append(own.alias(str(place)))
    named = pl.DataFrame(keys)
    ordered = named.select(pl.arg_sort_by(named.columns, nulls_last=True)).to_series().to_numpy()
    drawn = np.random.default_rng(seed).permutation(frame.height)
    return np.asarray(ordered[drawn], np.int64)


def _texts(column: pl.Series) -> pl.Series:
    import polars as pl

    if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
        return column.cast(pl.String)
    return pl.Series(column.name, [None if value is None else str(value) for value in column], pl.String)


def _seed(job: Job | MaskJob) -> int:
    """The number that decides what is left to chance."""
    return int(job.parameters.get("seed") or 0) if isinstance(job, Job) else job.seed


def _whose(prepared: Prepared, job: Job, kept: Mask | None = None) -> Whose | None:
    """Whose rows are published, read from the original table; `None` where every row stands alone."""
    import polars as pl

    from kanopy._core.units import ALL
    from kanopy.verify.people import Whose

    units = prepared.units
    if units is None:
        return None
    lists = prepared.lists
    columns = prepared.values[list(job.unit)] if job.unit else pl.DataFrame({"row": lists.row_of if lists else []})
    columns = columns if kept is None else columns.filter(pl.Series(kept))
    known, once = None if units.known == ALL else units.known, lists is not None and lists.once
    return Whose(columns, known, units.called, job.missing_tokens, once)


def verified_labels(
    prepared: Prepared,
    table: Generalizable,
    job: Job | MaskJob,
    published: pl.DataFrame,
    kept: Mask | None,
    names: Sequence[str],
) -> tuple[str, ...]:
    """The second opinion on whether every label of some columns is true of its row; raises if one is not."""
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.verify.labels import verify_labels

    original = prepared.values if kept is None else prepared.values.filter(pl.Series(kept))
    groups = {name: functools.partial(labels_above, hierarchy) for name, hierarchy in table.hierarchies.items()}
    given = [name for name, source in job.hierarchies.items() if isinstance(source, (Hierarchy, str, Path))]
    return verify_labels(original, published, names, groups, given=given, missing_tokens=job.missing_tokens)


def labels_above(hierarchy: Hierarchy, value: str) -> list[str]:
    """The labels that the hierarchy of a column gives to a value."""
    leaf = hierarchy.index.get(value)
    nodes = [] if leaf is None else dict.fromkeys(hierarchy.table[:, leaf].tolist())
    return [hierarchy.label(int(node)) for node in nodes]


def background_of(prepared: Prepared, job: Job | MaskJob, found: Solution | Masked) -> Background | None:
    """What the second opinion compares with; nothing where class sizes decide."""
    from kanopy.masking.result import Masked
    from kanopy.verify.regroup import Background, SurveyColumns

    if not job.models:
        return None
    frame, table = prepared.values, prepared.table
    needed = list(dict.fromkeys(name for model in job.models for name in model.sensitive))
    if isinstance(found, Masked) or not isinstance(table, Generalizable):
        return Background(frame[needed])
    hidden = [name for model in job.models for name in model.hidden]
    unpublished = frame[hidden] if hidden else None
    gone = found.recoding.group_of_row < 0
    if unpublished is not None and gone.any():
        import polars as pl

        unpublished = unpublished.filter(pl.Series(~gone))
    population = None
    if any(model.needs_population for model in job.models):
        assert found.levels is not None, "clusterings refuse models that compare with a population"
        population = table.counted.published_population(found.levels)
    own = zip(table.domain.names, table.domain.hierarchies, strict=True)
    survey = None
    if any(model.needs_weights for model in job.models):
        assert isinstance(job, Job)
        names = [name for name in (job.sampling_weight, job.household) if name is not None]
        survey = SurveyColumns(*(frame[name] for name in names)).without(gone)
    whose = _whose(prepared, job) if isinstance(job, Job) else None
    return Background(
        frame[needed], {**dict(own), **table.confidential}, unpublished, population, survey,
        original_units=None if whose is None else whose.units, original_rows_of=prepared.multiplicity,
    )  # fmt: skip
