"""What every release must satisfy, checked from the published labels and nodes alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from kanopy._core.classes import Classes, Domain, Sensitive
from kanopy.metrics.full_domain import METRICS, metric_named
from kanopy.metrics.release_losses import release_losses
from kanopy.privacy.models import KAnonymity, make_models
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution
from tests.search.problems import domains, draw_level_limits


def published(domain: Domain, solution: Solution) -> list[tuple[str, ...] | None]:
    """Per row its labels, `None` where it is suppressed."""
    recoding = solution.recoding
    return [
        None if group < 0 else tuple(recoding.labels[j][code] for j, code in enumerate(recoding.codes[group]))
        for group in recoding.group_of_row
    ]


def check_release(problem: Problem, solution: Solution, *, subtree: bool) -> None:
    """Models, suppression limit, level limits, ancestors, score; and one label per value for subtree recodings."""
    domain = problem.domain
    rows = published(domain, solution)
    assert all(rows[i] is None for i in np.flatnonzero(domain.tuple_of_row < 0))
    gone = sum(row is None for row in rows) - domain.excluded_rows
    assert gone <= problem.max_suppressed_rows
    _check_models(problem, rows)
    _check_nodes(problem, solution, subtree=subtree)
    losses = release_losses(domain, solution.recoding, problem.weights)
    assert solution.score == losses.get(problem.metric.name, losses["loss"])
    assert solution.levels is None and solution.optimal == (solution.score <= 0.0)  # nothing can lose less than nothing


def _check_models(problem: Problem, rows: Sequence[tuple[str, ...] | None]) -> None:
    kinds = {row: i for i, row in enumerate(dict.fromkeys(row for row in rows if row is not None))}
    if not kinds:
        return
    members = [[i for i, row in enumerate(rows) if row == kind] for kind in kinds]
    histograms = {
        column.name: np.array([np.bincount(column.code_of_row[part], minlength=len(column.values)) for part in members])
        for column in problem.domain.sensitive
    }
    sizes = np.array([len(part) for part in members], np.int64)
    classes = Classes(sizes, histograms=histograms, facts=problem.domain.facts)
    for model in problem.models:
        assert not model.violated(classes).any(), model


def _check_nodes(problem: Problem, solution: Solution, *, subtree: bool) -> None:
    domain, recoding = problem.domain, solution.recoding
    for j, h in enumerate(domain.hierarchies):
        node_of: dict[int, int] = {}
        low, high = problem.lattice.lowest[j], problem.lattice.highest[j]
        for row in np.flatnonzero(recoding.group_of_row >= 0):
            leaf = int(domain.tuples[domain.tuple_of_row[row], j])
            code = int(recoding.codes[recoding.group_of_row[row], j])
            node = int(recoding.nodes[j][code])
            assert node in h.table[low : high + 1, leaf].tolist()
            assert recoding.labels[j][code] == h.label(node)
            if subtree:
                assert node_of.setdefault(leaf, node) == node
        if subtree:
            used = set(node_of.values())
            # A cut: no published node lies above another.
            assert not any(set(h.ancestors(node)) & used for node in used)


MODELS = [
    "",
    "",
    "",
    "l-distinct:ill:2",
    "t-equal:ill:0.4",
    "l-entropy:ill:1.5",
    "alpha-k:ill:0.8,2",
    "beta-basic:ill:1",
]


@st.composite
def cut_problems(draw: st.DrawFn) -> Problem:
    """A random problem: any metric, limits and weights, and sometimes a model of a sensitive column."""
    domain = draw(domains())
    extra = draw(st.sampled_from(MODELS))
    codes = np.array(draw(st.lists(st.integers(0, 2), min_size=domain.rows, max_size=domain.rows)), np.int32)
    codes[0], codes[-1] = 0, 1
    ill = Sensitive("ill", ("r", "s", "t"), codes)
    domain = Domain(domain.names, domain.hierarchies, domain.tuples, domain.counts, domain.tuple_of_row, (ill,))
    lowest, highest = draw_level_limits(draw, domain)
    return Problem(
        domain,
        [KAnonymity(draw(st.integers(2, 6))), *(make_models([extra]) if extra else ())],
        metric_named(draw(st.sampled_from(sorted(METRICS)))),
        weights=[draw(st.sampled_from([1.0, 1.0, 0.5, 3.0])) for _ in domain.hierarchies],
        suppression_limit=draw(st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0])),
        lowest_levels=lowest,
        highest_levels=highest,
    )


def shuffled(problem: Problem, order: Sequence[int]) -> Problem:
    """The same problem with its rows, and so its tuples, in another order."""
    domain = problem.domain
    of_row = domain.tuple_of_row[np.array(order)]
    appear = list(dict.fromkeys(int(t) for t in of_row if t >= 0))
    place = np.full(len(domain.counts) + 1, -1, np.int32)
    place[appear] = np.arange(len(appear))
    sensitive = tuple(Sensitive(s.name, s.values, s.code_of_row[np.array(order)]) for s in domain.sensitive)
    other = Domain(
        domain.names, domain.hierarchies, domain.tuples[appear], domain.counts[appear], place[of_row], sensitive
    )
    return Problem(
        other, problem.models, problem.metric, weights=problem.weights, suppression_limit=problem.suppression_limit,
        lowest_levels=problem.lattice.lowest, highest_levels=problem.lattice.highest,
    )  # fmt: skip
