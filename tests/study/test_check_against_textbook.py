"""`check` and the textbook say the same of releases, and of releases that were damaged at random.

Jobs are those of the fuzzer: every model but k-map, whose population has labels of its own, columns of every type, and
jobs that count people. Where models compare with the whole table, the release is what the textbook compares with too.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import KanopyError
from kanopy._table.sinks import write_table
from tests.fuzz.jobs import MODELS, Case, make_case
from tests.fuzz.people import small_case
from tests.fuzz.textbook import STAR, Row, broken_models, text_of

ABOUT_PAY = {name for name, (_, text) in MODELS.items() if ":pay:" in text}
ABOUT_ILL = {name for name, (_, text) in MODELS.items() if ":ill:" in text}
LEFT_OUT = {"k-map": "a population has labels of its own to be compared with"}


def judged(case: Case, release: pl.DataFrame) -> list[str]:
    """What the textbook finds wrong with a table that is all there is."""
    labels = [
        tuple("(missing)" if each is None else str(each) for each in row) for row in release[case.job.quasi].rows()
    ]
    stars = tuple(STAR for _ in case.job.quasi)
    hidden = [at for at, row in enumerate(labels) if row == stars]
    wrong: list[str] = []
    for name, about in (("ill", ABOUT_ILL), ("pay", ABOUT_PAY)):
        values = release[name].to_list()
        bare = [at for at in hidden if values[at] not in (None, "")]
        counted = [at for at in range(len(labels)) if bare or at not in set(hidden)]
        place = {at: new for new, at in enumerate(counted)}
        columns: dict[str, list[Any]] = {each: [_known(release[each][at]) for at in counted] for each in ("ill", "pay")}
        if "guard" in release.columns:
            columns["guard"] = [release["guard"][at] for at in counted]
        classes: dict[Row, list[int]] = {}
        for at, row in enumerate(labels):
            if row != stars:
                classes.setdefault(row, []).append(place[at])
        other = ABOUT_ILL | ABOUT_PAY
        asked = {model: value for model, value in case.models.items() if model in about or model not in other}
        wrong += broken_models(classes, asked, columns, case.job.k)
        if bare:
            own = {model: value for model, value in case.models.items() if model in about}
            alone = [
                broken_models({(): [place[at] for at in rows]}, own, columns, case.job.k) for rows in (hidden, bare)
            ]
            if all(alone):
                wrong.append(f"suppressed rows show {name}: {alone}")
    if hidden and "guarding" in case.models:
        wrong.append("suppressed rows show what must not be inferred of them")
    return wrong


def _known(value: Any) -> Any:
    return "(missing)" if value in (None, "") else value


def released(case: Case) -> pl.DataFrame | None:
    """The release of a case with labels as texts, or nothing."""
    if not case.models.keys().isdisjoint(LEFT_OUT):
        return None
    try:
        frame: pl.DataFrame = kanopy.anonymize(case.table, case.job).data
    except KanopyError:
        return None
    texts = {name: [None if each is None else text_of(each) for each in frame[name]] for name in case.job.quasi}
    frame = frame.with_columns(pl.Series(name, own, dtype=pl.String) for name, own in texts.items())
    if "guarding" in case.models:
        frame = frame.with_columns(guard=case.table["guard"][frame["row"].to_list()])
    return frame


def suppressed(frame: pl.DataFrame, quasi: list[str], at: int, draw: np.random.Generator) -> pl.DataFrame:
    """One row of stars that keeps what is sensitive."""
    return _with(frame, {name: {at: STAR} for name in quasi})


def moved(frame: pl.DataFrame, quasi: list[str], at: int, draw: np.random.Generator) -> pl.DataFrame:
    """One row with the labels of another."""
    other = int(draw.integers(frame.height))
    return _with(frame, {name: {at: frame[name][other]} for name in quasi})


def mislabelled(frame: pl.DataFrame, quasi: list[str], at: int, draw: np.random.Generator) -> pl.DataFrame:
    """One label that nothing else has, or that other rows have."""
    name = str(draw.choice(quasi))
    label = "?" if draw.random() < 0.5 else frame[name][int(draw.integers(frame.height))]
    return _with(frame, {name: {at: label}})


def removed(frame: pl.DataFrame, quasi: list[str], at: int, draw: np.random.Generator) -> pl.DataFrame:
    """One row less."""
    return frame.filter(pl.int_range(frame.height, eager=True) != at)


def changed(frame: pl.DataFrame, quasi: list[str], at: int, draw: np.random.Generator) -> pl.DataFrame:
    """A sensitive value that another row has."""
    name = str(draw.choice(["ill", "pay"]))
    return _with(frame, {name: {at: frame[name][int(draw.integers(frame.height))]}})


def untouched(frame: pl.DataFrame, quasi: list[str], at: int, draw: np.random.Generator) -> pl.DataFrame:
    return frame


DAMAGES: tuple[Callable[..., pl.DataFrame], ...] = (untouched, suppressed, moved, mislabelled, removed, changed)
"""The last one is about columns that tables of people do not have."""


def _with(frame: pl.DataFrame, cells: dict[str, dict[int, Any]]) -> pl.DataFrame:
    columns = []
    for name, own in cells.items():
        values = frame[name].to_list()
        for at, value in own.items():
            values[at] = value
        columns.append(pl.Series(name, values, dtype=frame[name].dtype))
    return frame.with_columns(columns)


def compared(seed: int) -> str:
    """Whether a release that may be damaged holds, by `check` as by the textbook."""
    case = make_case(seed)
    frame = released(case)
    if frame is None or not frame.height:
        return "no release"
    draw = np.random.default_rng([seed, 9])
    for _ in range(int(draw.integers(1, 3))):
        damage = DAMAGES[int(draw.integers(len(DAMAGES)))]
        if frame.height > 1:
            frame = damage(frame, case.job.quasi, int(draw.integers(frame.height)), draw)
    placed = {
        "pay": ABOUT_PAY,
        "ill": {"t-hierarchical", "guarding"},
    }  # what is missing has no place in an order or tree
    if any(models & case.models.keys() and _shows(frame, case.job.quasi, name) for name, models in placed.items()):
        return "no place"
    wrong = judged(case, frame)
    found: Any = kanopy.check(frame, case.job, as_release=True)
    if seed % 4 == 0:  # as it was written
        with tempfile.TemporaryDirectory() as folder:
            write_table(frame, path := Path(folder) / ("release.csv" if seed % 8 else "release.parquet"))
            assert kanopy.check(path, case.job, as_release=True).holds == found.holds, seed
    assert found.holds == (not wrong), (seed, case.models, wrong[:3], [each for each in found.models if not each.holds])
    return "wrong" if wrong else "holds"


def _shows(frame: pl.DataFrame, quasi: list[str], name: str) -> bool:
    """Whether missing values are part of what a column says: some beside others of suppressed rows, or in a class."""
    hidden = frame.filter(pl.all_horizontal(pl.col(each) == STAR for each in quasi))
    return bool(frame[name].null_count()) and (
        bool(hidden[name].is_not_null().any()) or frame[name].null_count() > hidden.height
    )


def judged_people(case: Case, release: pl.DataFrame) -> list[str]:
    """What the textbook finds wrong with rows of which `name` says whose they are."""
    job, wrong = case.job, []
    whose = [name if name is not None else f"row {at}" for at, name in enumerate(release["name"])]
    ill = [_known(value) for value in release["ill"]]
    classes: dict[Row, list[int]] = {}
    for at, row in enumerate(release[job.quasi].rows()):
        classes.setdefault(tuple("(missing)" if each is None else str(each) for each in row), []).append(at)
    hidden = classes.pop(tuple(STAR for _ in job.quasi), [])
    traces: dict[str, list[int]] = {}
    for number, members in enumerate(classes.values()):
        for name in {whose[at] for at in members}:
            traces.setdefault(name, []).extend([number] * sum(whose[at] == name for at in members))
    fits: Counter[tuple[int, ...]] = Counter()
    for trace in traces.values():
        ordered = sorted(trace)
        sizes = [len(ordered)] if job.known == "all" else range(1, int(job.known) + 1)
        fits.update({part for size in sizes for part in combinations(ordered, size)})
    if (
        min([*fits.values(), *(len({whose[at] for at in members}) for members in classes.values())], default=job.k)
        < job.k
    ):
        wrong.append("too few people")
    models = {model.name for model in job.models}
    if "l-distinct" in models and any(len({ill[at] for at in members}) < 2 for members in classes.values()):
        wrong.append("one value in a class")
    if "subset-k" in models:
        people: dict[tuple[int, str], set[str]] = {}
        for label, members in classes.items():
            for cell in enumerate(label):
                people.setdefault(cell, set()).update(whose[at] for at in members)
        if any(len(own) < 3 for (_, label), own in people.items() if label != STAR):
            wrong.append("a label of too few people")
    shown = [at for at in hidden if ill[at] not in ("(missing)", "")]
    for rows in (hidden, shown) if shown else ():
        safe = len({whose[at] for at in rows}) >= job.k
        if safe and not ("l-distinct" in models and len({ill[at] for at in rows}) < 2):
            break
    else:
        wrong += ["suppressed people show values"] if shown else []
    return wrong


def compared_people(seed: int) -> str:
    """The same of people: a row of somebody is missing, or shows what others do."""
    case = small_case(seed)
    try:
        frame: pl.DataFrame = kanopy.anonymize(case.table, case.job).data
    except KanopyError:
        return "no release"
    draw = np.random.default_rng([seed, 9])
    frame = frame.with_columns(pl.col(case.job.quasi).cast(pl.String), name=case.table["name"][frame["row"].to_list()])
    for _ in range(int(draw.integers(0, 3))):
        damage = DAMAGES[int(draw.integers(len(DAMAGES) - 1))]
        if frame.height > 1:
            frame = damage(frame, case.job.quasi, int(draw.integers(frame.height)), draw)
    wrong = judged_people(case, frame)
    found: Any = kanopy.check(frame, case.job, as_release=True)
    assert found.holds == (not wrong), (seed, wrong, [each for each in found.models if not each.holds])
    return "wrong" if wrong else "holds"


def test_check_says_what_the_textbook_says() -> None:
    found = [compared(seed) for seed in range(60)]
    assert found.count("holds") >= 10 and found.count("wrong") >= 10


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10_000, 11_000, 250))
def test_check_says_what_the_textbook_says_of_many(start: int) -> None:
    found = [compared(seed) for seed in range(start, start + 250)]
    assert found.count("holds") >= 50 and found.count("wrong") >= 50


@pytest.mark.parametrize("seeds", [range(80), pytest.param(range(10_000, 11_000), marks=pytest.mark.slow)])
def test_check_says_what_the_textbook_says_of_people(seeds: range) -> None:
    found = [compared_people(seed) for seed in seeds]
    assert min(found.count("holds"), found.count("wrong")) >= 0.1 * len(seeds)
