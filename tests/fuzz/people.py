"""Random jobs with a unit: what is published of people, judged by sets and multisets alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

import kanopy
from kanopy._job.usage import used_alone
from kanopy.masking.algorithms.registry import MASKINGS
from tests.fuzz.jobs import Case, make_case
from tests.fuzz.judging import judge, judge_options, judge_release, key_of, math_floor, suppressed_at_first
from tests.fuzz.more import with_everything
from tests.fuzz.options import Drawn
from tests.fuzz.others import judge_lists_release, judge_masks_release, lists_case, masks_case
from tests.fuzz.textbook import classes_of
from tests.quick import QUICK

ALGORITHMS = (
    "optimal",
    "optimal",
    "samarati",
    "datafly",
    "incognito",
    "best",
    "mondrian",
    "k-member",
    "iterative-local",
)
EVERY = 5
"""Of so many random jobs one has a unit; of so many with a unit one has columns of all kinds, the others are small."""
TREES = {
    "letters": kanopy.Hierarchy.from_rows([[letter, "ABC"[i // 2], "any"] for i, letter in enumerate("abcdef")]),
    "digits": kanopy.Hierarchy.from_rows([[str(i), "*"] for i in range(4)]),
    "ages": kanopy.Hierarchy.from_rows([[str(i), f"{i // 2}x", "lh"[i // 4], "*"] for i in range(8)]),
}


def judge_one(seed: int) -> str:
    """Run and judge the job of a number: one in five counts people."""
    return (
        judge_people(seed) if seed % EVERY == EVERY - 1 else judge_options(seed) if seed % 2 else judge(make_case(seed))
    )


def any_case(seed: int) -> Case:
    """The job of a number, of whatever kind: about rows, people or lists, or a masking."""
    kind = seed % 12
    if kind == 10:
        return lists_case(seed)
    if kind == 11:
        return masks_case(seed)
    return with_everything(people_case(seed) if kind % 3 == 2 else make_case(seed))


def judge_any_release(case: Case, frame: pl.DataFrame, source: pl.DataFrame) -> None:
    """Whether a release of a case of any kind keeps what its job promises."""
    judge_of(case)(case, frame, source)


def judge_of(case: Case) -> Callable[[Case, pl.DataFrame, pl.DataFrame], None]:
    """What judges the releases of a case."""
    if case.job.algorithm in MASKINGS:
        return judge_masks_release
    if case.job.separators or case.table[case.job.quasi[0]].dtype.is_nested():
        return judge_lists_release
    return judge_people_release if case.job.unit else judge_release


def judge_other(seed: int) -> str:
    """Run a job with lists or a masking in memory and judge its release."""
    from kanopy._errors import KanopyError, NoSolution, VerificationFailed

    case = any_case(seed // 2 * 12 + 10 + seed % 2)
    try:
        frame = kanopy.anonymize(case.table, case.job).data
    except NoSolution:
        return "no solution"
    except VerificationFailed:
        raise
    except KanopyError as refused:
        assert len(str(refused)) > 20
        return "refused"
    judge_any_release(case, frame, case.table)
    return "released"


def small_case(seed: int) -> Case:
    """A few rows of a few people and columns that are quickly encoded, some of them the same in all rows of each: there
    is less to it, so that many more can be tried."""
    draw = np.random.default_rng([seed, 2])
    rows = int(draw.integers(6, 41))
    people = max(4, int(rows * draw.choice([0.3, 0.5, 0.8])))
    whose = draw.integers(0, people, rows)
    columns: dict[str, list[Any]] = {}
    for name in draw.permutation(list(TREES))[: draw.integers(1, 4)].tolist():
        values = TREES[name].values[: int(draw.integers(2, TREES[name].size + 1))]
        fixed = draw.random() < 0.4
        picked = draw.choice(values, people)[whose] if fixed else draw.choice(values, rows)
        gap = 0.1 if not fixed and draw.random() < 0.15 else 0.0
        columns[name] = [None if draw.random() < gap else str(value) for value in picked]
    most = int(np.bincount(whose).max())
    known: int | str = [1, 1, min(2, most), min(3, most), "all"][int(draw.integers(0, 5))]
    kind = str(draw.choice(["", "", "", "l-distinct", "subset-k"]))
    algorithm = str(draw.choice(ALGORITHMS[:5] if known != 1 or kind == "subset-k" else ALGORITHMS))
    names = [None if draw.random() < 0.02 else f"person {number}" for number in whose]
    table = pl.DataFrame({"name": names, **columns, "ill": draw.choice(list("xyz"), rows), "row": range(rows)})
    job = kanopy.Job(
        quasi=list(columns),
        k=int(draw.integers(2, 1 + min(4, people // 2))),
        sensitive=["ill"],
        insensitive=["row"],
        hierarchies={name: TREES[name] for name in columns},
        algorithm=algorithm,
        parameters=QUICK.get(algorithm, {}),
        suppress=float(draw.choice([0.0, 0.2, 0.5, 1.0])),
        missing=str(draw.choice(["as-value", "suppress"])),
        suppressed_rows=str(draw.choice(["keep", "drop"])),
        models=["l-distinct:ill:2"] if kind == "l-distinct" else ["subset-k:1:3"] if kind == "subset-k" else [],
        unit="name",
        known=known,
    )
    return Case(seed, table, used_alone(job), {}, {})


def people_case(seed: int) -> Case:
    """The table of a number with a few people behind its rows, and a job that counts them."""
    if seed % EVERY != EVERY - 1:
        return small_case(seed)
    case, draw = make_case(seed), np.random.default_rng([seed, 1])
    rows = case.table.height
    whose = draw.integers(0, max(2, int(rows * draw.choice([0.2, 0.5, 0.9]))), rows)
    texts: list[Any] = [f"person {number}" for number in whose]
    if draw.random() < 0.15:
        texts = [None if draw.random() < 0.1 else text for text in texts]
    models = ["l-distinct:ill:2"] if draw.random() < 0.2 else []
    algorithm = str(draw.choice(ALGORITHMS))
    job = kanopy.Job(
        quasi=case.job.quasi,
        k=int(draw.integers(2, 5)),
        sensitive=["ill"],
        insensitive=["row"],
        hierarchies={name: tree for name, tree in case.job.hierarchies.items() if name in case.job.quasi},
        algorithm=algorithm,
        parameters=QUICK.get(algorithm, {}),
        suppress=float(draw.choice([0.0, 0.1, 0.3, 1.0])),
        missing=case.job.missing,
        suppressed_rows=case.job.suppressed_rows,
        models=models,
        unit="name",
        known=[1, 1, 2, 3, "all"][int(draw.integers(0, 5))],
    )
    table = case.table.with_columns(pl.Series("name", texts, dtype=pl.String))
    return Case(seed, table, used_alone(job), {}, case.above)


def judge_people(seed: int) -> str:
    """Run a job with a unit and judge its release: `released`, `refused`, or an assertion that fails."""
    from kanopy._errors import KanopyError, NoSolution, VerificationFailed

    case = people_case(seed)
    if seed % 2:
        case = with_everything(case)
    try:
        frame = kanopy.anonymize(case.table, case.job, population=case.people, key=key_of(case)).data
    except NoSolution:
        return "no solution"
    except VerificationFailed:
        raise
    except KanopyError as refused:
        assert len(str(refused)) > 20
        return "refused"
    judge_people_release(case, frame, case.table)
    return "released"


def judge_people_release(case: Case, frame: pl.DataFrame, source: pl.DataFrame) -> None:
    """Whether a release keeps what its job promises of people; `source` is as in `judge_release`."""
    job, table = case.job, case.read(source) if isinstance(case, Drawn) else source
    assert "name" not in frame.columns, "the unit left"
    rows = frame["row"].cast(pl.Int64).to_list()
    allowed = math_floor(job.suppress * table.height) + suppressed_at_first(job, table)
    allowed -= table.height - frame.height
    assert allowed >= 0, "too many rows left out"
    shown = [
        tuple("(missing)" if label is None else str(label) for label in row) for row in frame.select(job.quasi).rows()
    ]
    withheld_values = (frame["ill"].is_null() & table["ill"][rows].is_not_null()).to_list()
    classes, hidden = classes_of(shown, allowed, withheld_values)
    assert len(hidden) <= allowed, f"{len(hidden)} rows suppressed, {allowed} may be"
    names = table["name"].to_list()
    whose = [names[row] if names[row] is not None else f"row {row}" for row in rows]
    traces: dict[str, list[int]] = {}
    for number, (label, members) in enumerate(classes.items()):
        # Rows of stars beside suppressed ones cannot be told from them: they are left out of all traces.
        for at in members if set(label) != {"*"} else ():
            traces.setdefault(whose[at], []).append(number)
        assert len({whose[at] for at in members}) >= job.k, "a class of too few people"
        if any(model.name == "l-distinct" for model in job.models):
            assert len({table["ill"][rows[at]] for at in members}) >= 2, "one value in a class"
    if any(model.name == "subset-k" for model in job.models):
        for place in range(len(job.quasi)):
            people: dict[str, set[str]] = {}
            for label, members in classes.items():
                people.setdefault(label[place], set()).update(whose[at] for at in members)
            people.pop("*", None)  # what suppressed rows show as well
            assert min(map(len, people.values()), default=3) >= 3, "a label of too few people"
    fits: Counter[tuple[int, ...]] = Counter()
    for trace in traces.values():
        ordered = sorted(trace)
        sizes = [len(ordered)] if job.known == "all" else range(1, int(job.known) + 1)
        fits.update({part for size in sizes for part in combinations(ordered, size)})
    assert min(fits.values(), default=job.k) >= job.k, f"known = {job.known} fits too few people"
    shown_ill = {whose[at] for at in hidden if not withheld_values[at]}
    bare = any(frame["ill"][at] is not None for at in hidden)
    assert not bare or len(shown_ill) >= job.k, "suppressed people kept their values"
    for name in job.quasi:
        if table.drop_nulls("name").group_by("name").agg(pl.col(name).n_unique())[name].max() == 1:
            labels: dict[str, set[str]] = {}
            for label, members in classes.items():
                for at in members if not allowed or set(label) != {"*"} else ():
                    labels.setdefault(whose[at], set()).add(str(frame[name][at]))
            assert all(len(own) == 1 for own in labels.values()), f"{name} is fixed, and published in two ways"
