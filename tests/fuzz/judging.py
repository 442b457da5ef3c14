"""Runs a job and judges what it publishes by the textbook."""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import kanopy
from kanopy.hierarchy import Hierarchy
from tests.fuzz.jobs import ABOVE, MODELS, WORDS, Case, make_case
from tests.fuzz.more import with_everything
from tests.fuzz.options import Drawn
from tests.fuzz.textbook import broken_models, classes_of, is_true, text_of
from tests.fuzz.treated import broken_treatment

LOOKED_AT = ("ill", "pay", "guard", "stands", "home")
"""The columns that models look at."""
KEY = b"a key of sixteen bytes or more"
COLUMNS = {name: tuple(text.split(":")[1:2]) for name, (_, text) in MODELS.items()} | {"delta-present": ("ill",)}
"""Per model of the textbook the sensitive column that it looks at."""


def judge(case: Case) -> str:
    """Run a job and judge its release by the textbook: `released`, `refused`, or an assertion that fails."""
    from kanopy._errors import KanopyError, NoSolution, VerificationFailed

    key = key_of(case)
    try:
        result = kanopy.anonymize(case.table, case.job, population=case.people, key=key)
    except NoSolution as nothing:
        assert nothing.reason
        return "no solution"
    except VerificationFailed:
        raise  # the second look is right, or it is wrong: something is in either case
    except KanopyError as refused:
        assert len(str(refused)) > 20
        return "refused"
    frame, job = result.data, case.job
    judge_release(case, frame, case.table)
    assert job.shuffle or frame["row"].is_sorted()
    if case.seed % 10 == 0:
        _same_in_a_file(result.frame, "csv" if case.seed % 20 else "parquet")
    if job.metric in result.losses:
        assert math.isclose(result.losses[job.metric], result.score, rel_tol=1e-9, abs_tol=1e-12), "two scores"
    if result.levels is not None:
        assert math.isclose(result.solution.score, result.score, rel_tol=1e-9, abs_tol=1e-12), "two scores"
        if case.seed % 5 == 0:
            again = result.apply(case.table, key=key, unknown=job.unknown).data
            assert again.equals(frame), "applied again, the same rows are published differently"
    if case.seed % 97 == 0:
        assert result.to_html() and result.manifest() and result.mapping().height
    return "released"


def key_of(case: Case) -> bytes | None:
    """The secret key, where a job needs one, or gives the same twice with one."""
    secret = case.job.pseudonymize or any(each.secret != "none" for each in case.job.protect.values())
    return KEY if secret else None


def judge_options(seed: int) -> str:
    """The job of a number with options of all kinds, in memory."""
    return judge(with_everything(make_case(seed)))


def judge_release(case: Case, frame: pl.DataFrame, source: pl.DataFrame) -> None:
    """Whether a release of a case keeps what its job promises. `source` is the table as it was given to the job: that
    of the case, or the same with other types, as files and databases keep them."""
    job, extras = case.job, ()
    typed, table = case.table, source
    if isinstance(case, Drawn):
        typed, table, extras = case.read(typed), case.read(source), case.extras
    held = [name for name in frame.columns if name != "name"] if "name" in job.pseudonymize else frame.columns
    expected, maybe = [*job.quasi, "ill", "pay", "row", *extras], case.maybe if isinstance(case, Drawn) else ()
    held = [name for name in held if name not in maybe]
    _judge_treated(case, frame, table)
    expected += case.treated if isinstance(case, Drawn) else ()
    assert sorted(held) == sorted(expected), f"{held} are published, not {expected}"
    if "copy" in frame.columns and "copy" not in job.allow_dependent:
        _judge_copy(case, frame, table)
    rows = frame["row"].cast(pl.Int64).to_list()
    assert len(set(rows)) == frame.height, "a row is published twice"
    dropped = table.height - frame.height
    assert dropped == 0 or job.suppressed_rows == "drop"
    everybody, table = table, table[rows]
    labels = frame.select(job.quasi).rows()
    allowed = math_floor(job.suppress * everybody.height) + suppressed_at_first(job, everybody) - dropped
    assert allowed >= 0, "too many rows left out"
    shown = [tuple("(missing)" if label is None else str(label) for label in row) for row in labels]
    lost = {name: (frame[name].is_null() & table[name].is_not_null()).to_list() for name in ("ill", "pay")}
    withheld_values = [any(each) for each in zip(*lost.values(), strict=True)]
    classes, hidden = classes_of(shown, allowed, withheld_values)
    assert len(hidden) <= allowed, f"{len(hidden)} rows suppressed, {allowed} may be"
    columns = {name: typed[name].to_list() for name in LOOKED_AT if name in typed.columns}
    wrong = broken_models({label: [rows[i] for i in at] for label, at in classes.items()}, case.models, columns, job.k)
    assert not wrong, wrong[:3]
    if "delta-presence" in case.models:
        _judge_presence(case, frame, typed, rows, classes)
    kept = [i for at in classes.values() for i in at]
    for name in ("ill", "pay", *extras):
        every = kept if name not in extras else range(frame.height)
        before, after = ([_plain(column[i]) for i in every] for column in (table[name], frame[name]))
        assert before == after, (
            f"{name} was changed: {[p for p in zip(before, after, strict=True) if p[0] != p[1]][:3]}"
        )
    for name in ("ill", "pay"):
        bare = [i for i in hidden if not lost[name][i]]
        if any(frame[name][i] is not None for i in bare):
            about = {model: value for model, value in case.models.items() if name in COLUMNS.get(model, ())}
            alone = broken_models({(): [rows[i] for i in bare]}, about, columns, job.k)
            assert not alone, f"suppressed rows kept their values of {name}: {alone[:3]}"
    for name in job.quasi:
        for value, label in zip(table[name].to_list(), frame[name].to_list(), strict=True):
            assert is_true(value, label, case.above.get(name)), f"{name}: {value!r} is published as {label!r}"
        _judge_levels(job, name, [(table[name][i], frame[name][i]) for at in classes.values() for i in at])


def _judge_treated(case: Case, frame: pl.DataFrame, table: pl.DataFrame) -> None:
    """Treated columns are published as their treatments promise."""
    rows = frame["row"].cast(pl.Int64).to_list()
    for name, given in case.treated.items() if isinstance(case, Drawn) else ():
        before, after = table[name][rows].to_list(), frame[name].to_list()
        promised = {"people": case.job.k, **given}  # a coded value stands for k people
        wrong = broken_treatment(promised, before, after, table["name"][rows].to_list())
        assert wrong is None, f"{name} is treated wrongly: {wrong}"
        if given["method"] == "follow":
            assert _plain(frame[name]) == _plain(frame[given["column"]]), f"{name} does not follow"


def suppressed_at_first(job: Any, table: pl.DataFrame) -> int:
    """How many rows a job suppresses before anything is searched, which its limit does not count: those with a missing
    value, and those with one that the hierarchy that was given lacks."""
    rows = set()
    for name in job.quasi:
        given = job.hierarchies.get(name)
        known = set(given.labels_at(0)) if isinstance(given, Hierarchy) else None
        for row, value in enumerate(table[name].to_list()):
            if value is None or value == "":
                rows.update({row} if job.missing == "suppress" else ())
            elif known is not None and job.unknown == "suppress" and text_of(value) not in known:
                rows.add(row)
    return len(rows)


def _judge_copy(case: Case, frame: pl.DataFrame, table: pl.DataFrame) -> None:
    """What copies a column that is generalized is not published with it."""
    rows = frame["row"].cast(pl.Int64).to_list()
    for name in case.job.quasi:
        pairs = {(_plain(value), _plain(copy)) for value, copy in zip(table[name], frame["copy"], strict=False)}
        distinct = {value for value, _ in pairs if value is not None}
        known = table.height - sum(_plain(value) is None for value in table[name])
        # In fewer rows than that, columns may agree by chance.
        if all(value == copy for value, copy in pairs) and known * math.log2(max(1, len(distinct))) >= 10:
            labels = zip(table[name][rows].to_list(), frame[name].to_list(), strict=True)
            hidden = [pair for pair in labels if _plain(pair[0]) != _plain(pair[1]) and pair[1] not in (None, "*")]
            # All is told of a column that is published as it is, whatever stands beside it.
            assert len(hidden) < 2, f"a copy of {name} was published beside {hidden[:2]}"


def _judge_presence(
    case: Case, frame: pl.DataFrame, table: pl.DataFrame, rows: list[int], classes: dict[Any, list[int]]
) -> None:
    """Of the people of the population who fit a published combination, the share who are published stands in its
    limits; where there is a least share, everybody fits one."""
    assert case.people is not None
    least, most = case.models["delta-presence"]
    label_of: dict[str, dict[Any, str]] = {name: {} for name in case.job.quasi}
    for at in (i for members in classes.values() for i in members):
        for name, labels in label_of.items():
            value, label = table[name][rows[at]], frame[name][at]
            known = labels.setdefault(value, "(missing)" if label is None else str(label))
            assert known == ("(missing)" if label is None else str(label)), "one value has two labels"
    for name, labels in label_of.items():  # the values of suppressed rows fit what stands above them
        shown = sorted(set(labels.values()))
        for value in {*case.people[name].to_list()} - {*labels}:
            fits = [label for label in shown if is_true(value, label, case.above.get(name))]
            labels.update({value: fits[0]} if len(fits) == 1 else {})
    fitting: Counter[Any] = Counter()
    for person in case.people.rows(named=True):
        found = tuple(labels.get(person[name], name) for name, labels in label_of.items())
        fitting[found] += 1
    for label, members in classes.items():
        share = len(members) / max(1, fitting[label])
        assert fitting[label], f"nobody of the population fits {label}"
        assert least - 1e-9 <= share <= most + 1e-9, f"a share of {share:.3f} of those who fit {label} are published"
    outside = [label for label in fitting if label not in classes]
    missing = case.job.missing == "suppress"
    if least and classes and not missing:
        assert not outside, f"nobody is published of those who fit {outside[:3]}, so they are known to be absent"


def _plain(value: Any) -> Any:
    """A value as it is compared: what is missing is missing, and a number is that however it is written."""
    if isinstance(value, pl.Series):
        return [_plain(each) for each in value]
    return None if value is None or value == "" else text_of(value)


def _judge_levels(job: kanopy.Job, name: str, published: list[tuple[Any, Any]]) -> None:
    """Labels of words stand between the levels that the job allows: the word, its group, or nothing."""
    tree = job.hierarchies.get(name)
    if not isinstance(tree, kanopy.Hierarchy) or set(tree.values) != set(WORDS):
        return
    low, high = job.min_levels.get(name, 0), job.max_levels.get(name, 2)
    for value, label in published:
        if value is not None:
            level = 0 if label == value else 1 if label == ABOVE[value] else 2
            assert low <= level <= high, f"{name}: {value!r} as {label!r}, levels {low} to {high}"


def _same_in_a_file(frame: pl.DataFrame, kind: str) -> None:
    """A file of the release says what the release says, and holds nothing that is not published."""
    from kanopy._table.sinks import write_table

    if kind == "csv" and any(dtype.is_nested() for dtype in frame.dtypes):
        return
    with tempfile.TemporaryDirectory() as folder:
        write_table(frame, path := Path(folder) / f"release.{kind}")
        raw = path.read_bytes()
        read = pl.read_csv(path, infer_schema=False) if kind == "csv" else pl.read_parquet(path)
    assert not re.search(rb"(?:person|secret) \d", raw), "the file holds what is not published"
    texts = frame.select(pl.selectors.by_dtype(pl.String, pl.Enum, pl.Categorical).cast(pl.String))
    same = read.select(texts.columns).cast(pl.String)
    assert same.fill_null("").equals(texts.fill_null("")), "the file says something else"


def math_floor(number: float) -> int:
    """Whole rows of a share, forgiving the rounding of floats."""
    return int(np.floor(number + 1e-9))
