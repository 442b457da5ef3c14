"""Random problems for local algorithms, and a check of releases that shares no code with the searches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

from kanopy._core.classes import Domain, Recoding, Sensitive
from kanopy._errors import NoSolution
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.release_losses import release_losses
from kanopy.privacy.closeness import EqualCloseness
from kanopy.privacy.diversity import DistinctDiversity
from kanopy.privacy.models import KAnonymity, Model
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution
from tests.search.problems import domains

LETTERS = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]], name="letter")
CROSSING = Hierarchy.from_rows([["a", "x", "p"], ["b", "x", "q"], ["c", "y", "q"]], require_nesting=False)


def letters(text: str, ill: str = "") -> Domain:
    """One column of letters, perhaps with a sensitive one beside it."""
    codes = np.array(["abcd".index(letter) for letter in text], np.int32)
    used, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    values = tuple(sorted(set(ill)))
    column = Sensitive("ill", values, np.array([values.index(x) for x in ill], np.int32))
    return Domain(
        ("letter",), (LETTERS,), used[:, None].astype(np.int32), counts.astype(np.int64), inverse.astype(np.int32),
        sensitive=(column,) if ill else (),
    )  # fmt: skip


@st.composite
def local_problems(draw: st.DrawFn, *, limits: bool = True) -> Problem:
    """A random small problem: k, perhaps diversity or closeness, weights, level limits, suppression."""
    domain = draw(domains(most_attributes=3))
    ill = draw(st.lists(st.integers(0, 2), min_size=domain.rows, max_size=domain.rows))
    domain = replace(domain, sensitive=(Sensitive("ill", ("r", "s", "t"), np.array(ill, np.int32)),))
    models: list[Model] = [KAnonymity(draw(st.integers(2, 5)))]
    if len(set(ill)) > 1:
        models += draw(st.sampled_from([[], [], [DistinctDiversity("ill", 2)], [EqualCloseness("ill", 0.3)]]))
    lowest, highest = [], []
    for h in domain.hierarchies:
        low = draw(st.sampled_from([0, 0, 0, min(1, h.height)])) if limits else 0
        lowest.append(low)
        highest.append(draw(st.sampled_from([h.height, h.height, max(low, h.height - 1)])) if limits else h.height)
    return Problem(
        domain,
        models,
        weights=[1.0] + [draw(st.sampled_from([1.0, 0.0, 3.0])) for _ in domain.hierarchies[1:]],
        suppression_limit=draw(st.sampled_from([0.0, 0.0, 0.1, 0.5])),
        lowest_levels=lowest,
        highest_levels=highest,
    )


def labels_of_rows(recoding: Recoding) -> list[tuple[str, ...] | None]:
    """What each row publishes; `None` for suppressed rows."""
    return [
        None if group < 0 else tuple(recoding.labels[j][code] for j, code in enumerate(recoding.codes[group]))
        for group in recoding.group_of_row.tolist()
    ]


def check_release(problem: Problem, found: Solution) -> None:
    """Models hold on rows regrouped by their labels; labels are ancestors within the limits; few rows are gone."""
    domain, recoding = problem.domain, found.recoding
    published = labels_of_rows(recoding)
    excluded = domain.tuple_of_row < 0
    assert all(published[row] is None for row in np.flatnonzero(excluded))
    gone = sum(labels is None for labels in published) - int(excluded.sum())
    assert gone <= problem.max_suppressed_rows
    classes: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, labels in enumerate(published):
        if labels is not None:
            classes[labels].append(row)
    everyone = Counter(domain.sensitive[0].code_of_row.tolist()) if domain.sensitive else Counter()
    for rows in classes.values():
        for model in problem.models:
            if isinstance(model, KAnonymity):
                assert len(rows) >= model.k
                continue
            own = Counter(domain.sensitive[0].code_of_row[rows].tolist())
            if isinstance(model, DistinctDiversity):
                assert len(own) >= model.l
            else:
                assert isinstance(model, EqualCloseness)
                apart = sum(abs(own[v] / len(rows) - everyone[v] / domain.rows) for v in everyone) / 2
                assert apart <= model.t + 1e-9
    for row in np.flatnonzero(recoding.group_of_row >= 0):
        for j, h in enumerate(domain.hierarchies):
            leaf = int(domain.tuples[domain.tuple_of_row[row], j])
            node = int(recoding.nodes[j][recoding.codes[recoding.group_of_row[row], j]])
            assert node in h.table[problem.lattice.lowest[j] : problem.lattice.highest[j] + 1, leaf].tolist()
    assert found.score == pytest.approx(release_losses(domain, recoding, problem.weights)["loss"])
    assert 0.0 <= found.score <= 1.0 + 1e-12


def check_or_no_solution(problem: Problem, solve: Callable[[Problem], Solution]) -> Solution | None:
    """The release, checked; or `None` where one class for all rows would not do either, or limits keep rows apart."""
    try:
        found = solve(problem)
    except NoSolution as none:
        assert none.advice
        if not problem.level_limits:
            usable = np.flatnonzero(problem.domain.tuple_of_row >= 0)
            top = Problem(problem.domain.part(usable), problem.models)
            assert len(usable) < problem.k or not top.evaluate(top.lattice.highest).feasible
        return None
    check_release(problem, found)
    return found


def permuted(domain: Domain, order: np.ndarray) -> Domain:
    """The same table with its rows in another order, tuples numbered by first appearance again."""
    of_row = domain.tuple_of_row[order]
    seen = list(dict.fromkeys(of_row[of_row >= 0].tolist()))
    number = np.full(len(domain.counts) + 1, -1, np.int32)
    number[seen] = np.arange(len(seen))
    columns = tuple(replace(column, code_of_row=column.code_of_row[order]) for column in domain.sensitive)
    return replace(
        domain, tuples=domain.tuples[seen], counts=domain.counts[seen], tuple_of_row=number[of_row], sensitive=columns
    )
