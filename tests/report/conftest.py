"""A small table with a known release, in three kinds of recoding, and with hostile names and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from kanopy._core.classes import Classes, Domain, Recoding, recoding_from_nodes
from kanopy._progress import SILENT
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import metric_named
from kanopy.metrics.release_losses import column_losses, release_losses
from kanopy.privacy.models import KAnonymity
from kanopy.report.report import Facts, Preview, Report, build_report
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution
from tests.report.report_inputs import EVIL, SECRET, WORSE


@dataclass(frozen=True)
class Made:
    """A report and the rows behind it, as plain Python."""

    report: Report
    original: list[tuple[str, ...]]
    published: list[tuple[str, ...] | None]


def _city_rows(hostile: bool) -> list[list[str]]:
    lyon = EVIL if hostile else "Lyon"
    return [
        [lyon, EVIL + "!" if hostile else "France", "*"],
        ["Paris", EVIL + "!" if hostile else "France", "*"],
        ["Rome", WORSE if hostile else "Italy", "*"],
        ["Milan", WORSE if hostile else "Italy", "*"],
        [SECRET, "Tanzania", "*"],
    ]


def _solution(kind: str, domain: Domain, k: int, limit: float) -> Solution:
    if kind == "full":
        problem = Problem(domain, [KAnonymity(k)], metric_named("loss"), suppression_limit=limit)
        return Optimal().solve(problem, SILENT)
    # Local: the first half of the rows keep their city, the others are lifted to the top of everything.
    half = np.arange(domain.rows) >= domain.rows // 2
    cities = domain.tuples[domain.tuple_of_row, 0]
    keys = np.where(half, domain.hierarchies[0].size, cities)
    distinct, group_of_row = np.unique(keys, return_inverse=True)
    top = [h.node_count - 1 for h in domain.hierarchies]
    nodes = np.array([[top[0] if key == domain.hierarchies[0].size else key, top[1]] for key in distinct], np.int32)
    recoding = recoding_from_nodes(domain, group_of_row.astype(np.int32), nodes)
    if kind == "free":  # ranges made without any hierarchy
        recoding = Recoding(
            recoding.group_of_row,
            recoding.codes,
            recoding.labels,
            recoding.shares,
            tuple(np.full(len(labels), -1, np.int32) for labels in recoding.labels),
        )
    return Solution("by-hand", recoding, 0.5, notes=("A note of the search.",))


@pytest.fixture
def make() -> Callable[..., Made]:
    """Make a report: `kind` is "full", "local" or "free"."""

    def factory(kind: str = "full", *, hostile: bool = False, **changes: object) -> Made:
        city = Hierarchy.from_rows(_city_rows(hostile), name="city")
        age = Hierarchy.from_rows(
            [[str(n), f"{n // 10 * 10}-{n // 10 * 10 + 9}", "*"] for n in range(20, 50)], name="age"
        )
        cities = [0] * 9 + [1] * 9 + [2] * 7 + [3] * 7 + ([4] if kind == "full" else [])
        ages = [(7 * i) % 20 for i in range(32)] + ([29] if kind == "full" else [])
        rows = list(zip(cities, ages, strict=True))
        distinct = list(dict.fromkeys(rows))
        number = {row: i for i, row in enumerate(distinct)}
        names = (EVIL, WORSE) if hostile else ("city", "age")
        domain = Domain(
            names,
            (city, age),
            np.array(distinct, np.int32),
            np.array([rows.count(row) for row in distinct], np.int64),
            np.array([number[row] for row in rows], np.int32),
        )
        solution = _solution(kind, domain, 3, 0.1)
        recoding = solution.recoding
        original = [(city.label(c), age.label(a)) for c, a in rows]
        published = [
            None if group < 0 else tuple(recoding.labels[j][recoding.codes[group, j]] for j in range(2))
            for group in recoding.group_of_row.tolist()
        ]
        sick = [EVIL if hostile else "flu"] * len(rows)
        before = tuple((f"Name {i}", *original[i], sick[i]) for i in [*range(6), -1])
        kept = [*range(6), len(rows) - 1]
        after = tuple((*(published[i] or ("*", "*")), sick[i]) for i in kept)
        facts = Facts(
            domain=domain,
            solution=solution,
            models=(KAnonymity(3),),
            metric="loss",
            weights=(1.0, 1.0),
            suppression_limit=0.1,
            losses=release_losses(domain, recoding, (1.0, 1.0)),
            column_losses=column_losses(domain, recoding),
            roles={
                "name": "identifier",
                names[0]: "quasi-identifier",
                names[1]: "quasi-identifier",
                "ill": "sensitive",
            },
            missing_policy="as-value",
            missing_rows={names[0]: 2},
            unknown_policy="suppress",
            unknown_rows={},
            before=Preview(("name", *names, "ill"), before, tuple(kept)),
            after=Preview((*names, "ill"), after, tuple(kept)),
            classes_before=Classes(domain.counts),
            verification={"verified": True, "classes": recoding.classes.count, "why": EVIL if hostile else "regrouped"},
            seconds={"search": 0.01, "total": 0.2},
            source=EVIL if hostile else "people.csv",
            job_toml=f"# {EVIL}\nk = 3\n" if hostile else 'k = 3\n[columns.city]\nrole = "quasi-identifier"\n',
            version="0.1.0",
            notes=("A note of the run.", "A note of the search."),
        )
        if changes:
            facts = Facts(**{**facts.__dict__, **changes})
        return Made(build_report(facts), original, published)

    return factory
