"""From any partition to a `Solution`: unsafe classes suppressed, limits checked, scored; once, for every search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kanopy._arrays import Ints
from kanopy._core.classes import Recoding, recoding_from_nodes
from kanopy._core.numbering import number_rows
from kanopy._errors import Hint, JobError, NoSolution
from kanopy._lazy import public
from kanopy._usage import checked
from kanopy.metrics.release_losses import release_losses
from kanopy.search.judge import ClassJudge, LevelJudgement
from kanopy.search.no_solution import more_suppression
from kanopy.search.people import suppress_by_people, together_by_people
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution


def check_k(k: int, rows: int) -> None:
    """Refuse a `k` that no grouping of `rows` rows can reach."""
    if k < 1:
        raise JobError(f"k must be at least 1, not {k}.")
    if rows < k:
        raise NoSolution(
            f"The table has {rows:,} usable rows, fewer than k = {k:,}: even one class of all rows is too small.",
            advice=[
                *([Hint(f"Choose k of at most {rows:,}.", k=rows)] if rows else []),
                "Give more rows, or keep rows with missing values.",
            ],
        )


def release_score(problem: Problem, recoding: Recoding) -> float:
    """The problem's metric of a release, `loss` where it is not defined for the release."""
    losses = release_losses(problem.domain, recoding, problem.weights)
    return losses.get(problem.metric.name, losses["loss"])


def suppress_unsafe(problem: Problem, recoding: Recoding) -> Recoding:
    """The recoding without the classes that a model finds unsafe.

    What is published alike is one class, whatever groups it was made of: nodes of different levels can have one label.
    """
    class_of = recoding.class_of_group
    class_of_row = np.append(class_of, -1)[recoding.group_of_row].astype(np.int32)
    count = int(class_of.max(initial=-1)) + 1
    if problem.domain.units is not None:
        return suppress_by_people(problem, recoding, class_of_row, count)
    unsafe = ClassJudge(problem).unsafe_groups(class_of_row, count)
    if not unsafe.any():
        return recoding
    return replace(recoding, group_of_row=np.where(np.append(unsafe, False)[class_of_row], -1, recoding.group_of_row))


def safe_together(problem: Problem, recoding: Recoding) -> bool:
    """Whether the models of the whole release accept what is published: its classes of rows, or of people."""
    models = [model for model in problem.models if model.of_release]
    if models and problem.domain.units is not None:
        class_of = recoding.class_of_group
        return together_by_people(problem, np.append(class_of, -1)[recoding.group_of_row].astype(np.int32))
    return all(model.satisfied(recoding.classes, recoding.classes) for model in models)


def never_together(problem: Problem) -> NoSolution:
    """The error where no classes of any size were found that are safe together."""
    wanted = " ".join(model.explain() for model in problem.models if model.of_release)
    return NoSolution(
        f"No classes were found that are safe together: {wanted}",
        advice=["loosen the privacy models", "use algorithm 'optimal'"],
    )


def release(
    name: str, problem: Problem, recoding: Recoding, *, score: float | None = None, safe: bool = False, **facts: Any
) -> Solution:
    """The answer of the algorithm `name` that publishes a recoding; classes that break a model are suppressed.

    Raises `NoSolution` if that takes more rows than the problem allows. `safe` classes are not asked about again (for
    full-domain candidates, whose judge also knows models of the whole release, of a population and of labels). The
    score is the problem's metric unless the algorithm has its own. `facts` are those of `Solution`.

    >>> from kanopy.search.example import letters
    >>> one = letters("abbc", suppress=0.5)
    >>> as_it_is = recoding_from_nodes(one.domain, one.domain.tuple_of_row, one.domain.tuples)
    >>> release("as it is", one, as_it_is).recoding.group_of_row.tolist()
    [-1, 1, 1, -1]
    """
    safe_recoding = recoding if safe else suppress_unsafe(problem, recoding)
    suppressed_rows = safe_recoding.suppressed_rows - problem.domain.excluded_rows
    if suppressed_rows > problem.max_suppressed_rows:
        wanted = " ".join(model.explain() for model in problem.models)
        raise NoSolution(
            f"The release of {name!r} would suppress {suppressed_rows:,} rows, and {problem.max_suppressed_rows:,} "
            f"may be: "
            f"{wanted}",
            advice=[
                "loosen the privacy models", more_suppression(suppressed_rows, problem.domain.rows), "allow higher "
                "levels",
            ],
        )  # fmt: skip
    if score is None:
        score = release_score(problem, safe_recoding)
    if score <= 0.0:  # nothing is lost, and no release loses less
        facts |= {"optimal": True, "floor": 0.0}
    return Solution(name, safe_recoding, score, **(facts | {"notes": tuple(facts.get("notes", ()))}))


@public("kanopy.extend")
@checked
def release_levels(
    name: str, problem: Problem, best: LevelJudgement, *, judged: int | None = None, **facts: Any
) -> Solution:
    """The answer that publishes a full-domain candidate."""
    facts = {"judged": problem.judged if judged is None else judged, "candidates": problem.lattice.size} | facts
    return release(
        name, problem, problem.recoding(best.levels), score=best.score, safe=True, levels=best.levels, **facts
    )


def release_nodes(name: str, problem: Problem, nodes_of_tuple: Ints, **facts: Any) -> Solution:
    """The answer that publishes the hierarchy node `nodes_of_tuple[t, j]` for column `j` of tuple `t`."""
    number, first, _ = number_rows(nodes_of_tuple, ascending=True)
    group_of_row = np.append(number, np.int32(-1))[problem.domain.tuple_of_row]
    recoding = recoding_from_nodes(problem.domain, group_of_row, nodes_of_tuple[first].astype(np.int32))
    return release(name, problem, recoding, **facts)


def most_general(name: str, recoding: str, problem: Problem, reason: NoSolution) -> Solution:
    """What is left when a search finds nothing: every column at its highest level, unsafe classes suppressed.

    Raises `reason` if that is not allowed either.
    """
    if not all(hierarchy.nested for hierarchy in problem.domain.hierarchies):
        raise reason
    top = problem.evaluate(problem.lattice.highest)
    if not top.feasible:
        raise reason
    note = "The search found nothing within the limits: every column is published at its highest level."
    solution = release_levels(name, problem, top, notes=[note])
    if recoding == "full-domain":
        return solution
    return replace(solution, levels=None, score=release_score(problem, solution.recoding))
