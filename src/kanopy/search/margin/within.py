"""A release chosen by a secret among those whose loss lies within a margin of the least one that was found.

A release that is known to be minimal tells that every finer one violates the job: from this sensitive values (Wong, Fu,
Wang, Pei 2007, "Minimality attack in privacy preserving data publishing") and finer labels (Cohen 2022, "Attacks on
deidentification's defenses") may follow. Where it is one of several, drawn by a seed that nobody knows, they do not
follow for certain.

- One level per column: all candidates that satisfy the job, and whose loss is at most the least one plus the margin,
  are equally likely.
- Local and cell recodings: labels are replaced by their parents, in an order that the secret shuffles, as long as the
  loss stays within a share of the margin that the secret draws.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import replace

import numpy as np

from kanopy._arrays import Ints
from kanopy._core.classes import Recoding, recoding_from_nodes
from kanopy._errors import JobError, NoSolution
from kanopy._progress import SILENT, Progress
from kanopy.search.judge import SCORE_TOLERANCE
from kanopy.search.partition_solution import release, release_levels, release_score, safe_together, suppress_unsafe
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution

MOST_LISTED = 1_000_000
"""Choices of levels that are drawn from; more are refused."""
MOST_JUDGED = 20_000
"""Candidates that are drawn before the release that was found is published after all."""
DRAWN = "The release was drawn by a secret among those whose loss lies within the margin of the least one."


def secret_generator(key: bytes | None, purpose: str = "margin") -> np.random.Generator:
    """Random numbers of a secret: those of the key, or 256 bits of the operating system.

    >>> key = b"a key of sixteen bytes"
    >>> bool(secret_generator(key).integers(1000) == secret_generator(key).integers(1000))
    True
    """
    seed = secrets.token_bytes(32) if key is None else hmac.new(key, purpose.encode(), hashlib.sha256).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(seed[:16], np.uint64)))


def within_margin(
    problem: Problem,
    solution: Solution,
    margin: float,
    random: np.random.Generator,
    *,
    kind: str = "full-domain",
    progress: Progress = SILENT,
) -> Solution:
    """A release whose score is at most that of `solution` plus `margin`, drawn by `random`; `kind` is that of
    `solution`.

    >>> from kanopy.search.algorithms import make_algorithm
    >>> from kanopy.search.example import letters
    >>> one = letters("aabb")
    >>> best = make_algorithm("optimal").solve(one)
    >>> drawn = {within_margin(one, best, 1.0, np.random.default_rng(seed)).levels for seed in range(20)}
    >>> best.levels, sorted(drawn), within_margin(one, best, 0.5, np.random.default_rng(1)).levels
    ((0,), [(0,), (1,), (2,)], (0,))
    """
    if margin <= 0:
        return solution
    if solution.levels is not None:
        return _among_levels(problem, solution, solution.score + margin, random, progress)
    if kind not in ("local", "cell") or any((nodes < 0).any() for nodes in solution.recoding.nodes):
        raise JobError(
            f"A margin replaces labels by their parents, and the release of {solution.algorithm!r} has labels that "
            f"are no "
            "nodes of a hierarchy, or one label for all rows of a value. Use algorithm 'optimal' or 'best', or leave "
            "the margin out."
        )
    return _raised(problem, solution, margin, random)


def candidates_within(problem: Problem, limit: float) -> list[tuple[int, ...]]:
    """All candidates that satisfy a problem and score at most `limit`: what a release within a margin is drawn from.

    >>> from kanopy.search.example import letters
    >>> candidates_within(letters("aabb"), 1.0), candidates_within(letters("abbb"), 1.0)
    ([(0,), (1,), (2,)], [(1,), (2,)])
    """
    candidates = []
    for levels in map(problem.lattice.levels, _numbers(problem, limit).tolist()):
        judged = problem.evaluate(levels)
        if judged.feasible and judged.score <= _limit(limit):
            candidates.append(levels)
    return candidates


def _limit(limit: float) -> float:
    return limit + SCORE_TOLERANCE * (1.0 + abs(limit))


def _numbers(problem: Problem, limit: float) -> Ints:
    """The candidates that may score so little, by their bounds alone."""
    if problem.lattice.size > MOST_LISTED:
        raise JobError(
            f"A release within a margin is drawn from all choices of levels, and there are {problem.lattice.size:,}, "
            f"more than {MOST_LISTED:,}. Limit the levels, or name fewer columns."
        )
    return np.flatnonzero(problem.lower_bounds().ravel() <= _limit(limit)).astype(np.int32)


def _among_levels(
    problem: Problem, solution: Solution, limit: float, random: np.random.Generator, progress: Progress
) -> Solution:
    """Candidates in a secret order, the first that satisfies the job: all that do are equally likely."""
    numbers = random.permutation(_numbers(problem, limit))
    for index, number in enumerate(numbers[:MOST_JUDGED].tolist()):
        progress("searching", index / max(len(numbers), 1), "within the margin")
        levels = problem.lattice.levels(number)
        judged = problem.evaluate(levels, _limit(limit))
        if judged.feasible and judged.score <= _limit(limit):
            return _untold(release_levels(solution.algorithm, problem, judged))
    return _untold(solution)


def _untold(drawn: Solution) -> Solution:
    """The answer without what the search found: whoever knows the least loss knows which worlds have it."""
    return replace(drawn, optimal=False, floor=None, judged=0, candidates=0, notes=(DRAWN,))


def _raised(problem: Problem, solution: Solution, margin: float, random: np.random.Generator) -> Solution:
    """Labels replaced by their parents, one after the other in a secret order, within a secret share of the margin."""
    recoding = solution.recoding
    allowed = solution.score + margin * random.uniform()
    nodes = np.column_stack([nodes_of_column[recoding.codes[:, j]] for j, nodes_of_column in enumerate(recoding.nodes)])
    parents = [h.tree() for h in problem.domain.hierarchies]
    class_of = recoding.class_of_group
    used = np.flatnonzero(class_of >= 0)
    # Groups of one class are raised together: what was published alike stays so.
    cells = [(int(c), j) for c in np.unique(class_of[used]) for j in range(nodes.shape[1])]
    order = [cells[position] for position in random.permutation(len(cells)).tolist()]
    members = [np.flatnonzero(class_of == c) for c in range(int(class_of.max(initial=-1)) + 1)]

    def after(count: int) -> Recoding:
        moved = nodes.copy()
        for c, j in order[:count]:
            above = int(parents[j][moved[members[c][0], j]])
            if above >= 0 and not _limited(problem, j):
                moved[members[c], j] = above
        return recoding_from_nodes(problem.domain, recoding.group_of_row, moved.astype(np.int32))

    low, high = 0, len(order)  # the loss grows with every label, so the most that may be raised is found by halving
    while low < high:
        middle = (low + high + 1) // 2
        if release_score(problem, after(middle)) <= allowed:
            low = middle
        else:
            high = middle - 1
    try:
        raised = after(low)
        safe_recoding = suppress_unsafe(problem, raised)
        if safe_recoding.suppressed_rows > recoding.suppressed_rows or not safe_together(problem, safe_recoding):
            raise NoSolution("A coarser release would be less safe.")
        return _untold(release(solution.algorithm, problem, raised))
    except NoSolution:
        return _untold(solution)


def _limited(problem: Problem, column: int) -> bool:
    """Whether labels of a column have a highest level below the top: they are left as they are."""
    return problem.lattice.highest[column] < problem.domain.hierarchies[column].height
