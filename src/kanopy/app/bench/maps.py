"""Many releases at once: the map of risk and utility, all candidates of a full-domain search, and risky rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from kanopy._errors import JobError
from kanopy._files import write_whole
from kanopy._progress import Callback, Progress
from kanopy.app.bench.bench import Bench, job_of

MOST_POINTS = 2_500
"""Points that a picture shows; of more, those that no other beats and an even part of the rest."""
MOST_CANDIDATES = 2_000_000
MOST_RISKY = 100
LARGEST_SET = 3


def explored(
    bench: Bench, tell: Callback, *, source: str, job: str, home: str, file: str, ks: list[int], limits: list[float],
    algorithms: list[str],
) -> dict[str, Any]:  # fmt: skip
    """Search every combination of k, limit and algorithm; finished points are kept, so that one can go on later."""
    from kanopy.release.many.explore import explore

    wanted = job_of(job, home)
    state = Path(file).with_suffix(".state")
    found = explore(
        bench.frame(source), wanted, ks=ks, limits=limits, algorithms=algorithms, progress=tell, state=state
    ).to_dict()
    write_whole(file, json.dumps(found))
    return found


def candidates(bench: Bench, tell: Callback, *, source: str, job: str, home: str) -> dict[str, Any]:
    """Every choice of levels with its loss and the rows it suppresses, none left out of the judgement.

    Suppression is not limited here: how much a candidate would need is what the picture shows.
    """
    from kanopy.release.prepare import make_problem
    from kanopy.search.full_domain.exhaustive import judge_all, only_counts_rows

    own = job_of(job, home)
    free = own.replaced(suppress=1.0, models=(), algorithm="optimal", parameters={}, local=False)
    prepared = bench.prepared(source, free, tell)
    problem = make_problem(prepared.domain, free)
    if problem.lattice.size > MOST_CANDIDATES:
        raise JobError(
            f"There are {problem.lattice.size:,} choices of levels: too many to judge every one. Drop levels of some "
            "hierarchies, or keep columns at home."
        )
    if not only_counts_rows(problem):
        raise JobError("The table has too many values for a picture of all candidates. Use coarser hierarchies.")
    judged = judge_all(problem, Progress(tell))
    losses, suppressed = judged.scores(), judged.counts[:, 1]
    shown = _chosen(losses, suppressed)
    names = prepared.domain.names
    rows = prepared.domain.rows
    best = _front(losses, suppressed)
    return {
        "all": int(problem.lattice.size),
        "limit": own.suppress,
        "points": [
            {
                "x": float(suppressed[i]) / rows, "y": float(losses[i]), "best": bool(best[i]),
                "levels": dict(zip(names, (int(level) for level in problem.lattice.levels(int(i))), strict=True)),
                "classes": int(judged.counts[i, 0]), "suppressed": int(suppressed[i]),
            }
            for i in shown.tolist()
        ],
    }  # fmt: skip


def _front(losses: Any, suppressed: Any) -> Any:
    """Which candidates no other beats in both loss and suppressed rows."""
    order = np.lexsort((losses, suppressed))
    least = np.minimum.accumulate(losses[order])
    best = np.zeros(len(losses), bool)
    first = np.concatenate([[True], least[1:] < least[:-1] - 1e-12])
    best[order[first]] = True
    return best


def _chosen(losses: Any, suppressed: Any) -> Any:
    """The candidates to draw: all that no other beats, and of the rest as many as can be looked at, evenly."""
    known = np.flatnonzero(np.isfinite(losses))
    if len(known) <= MOST_POINTS:
        return known
    best = np.flatnonzero(_front(losses, suppressed))
    rest = known[:: max(1, len(known) // MOST_POINTS)]
    return np.unique(np.concatenate([best[np.isfinite(losses[best])], rest]))


def risky_rows(bench: Bench, tell: Callback, *, source: str, job: str, home: str) -> dict[str, Any]:
    """The rows of the original that stand out most, and the smallest combinations that make each of them rare."""
    from kanopy._job.reading import as_said
    from kanopy._table.frames import to_polars
    from kanopy.study.risk import assess_risk

    wanted = job_of(job, home)
    Progress(tell)("looking for special uniques")
    frame = as_said(*to_polars(bench.frame(source)), wanted)[0]
    sets = min(LARGEST_SET, max(len(wanted.quasi) - 1, 1))
    if len(wanted.quasi) < 2:
        raise JobError("Combinations need at least two quasi-identifiers.")
    found = assess_risk(frame, wanted.quasi, sensitive=wanted.sensitive, largest_subset=0, suda=sets, unit=wanted.unit)
    special = found.answers.special
    assert special is not None
    order = np.argsort(-special.scores, kind="stable")[:MOST_RISKY]
    risky = []
    for row in order[special.scores[order] > 0].tolist():
        own = np.flatnonzero(special.row_of_set == row)
        own = own[np.argsort(special.size_of_set[own], kind="stable")]
        why = []
        for bits in special.columns_of_set[own[:4]].tolist():
            names = [name for j, name in enumerate(special.names) if bits >> j & 1]
            why.append(", ".join(f"{name} = {_shown(frame[name][row])}" for name in names))
        risky.append({"row": row + 1, "score": int(special.scores[row]), "sets": len(own), "why": why})
    return {
        "rows": frame.height,
        "standing_out": int((special.scores > 0).sum()),
        "alone": found.sizes.unique_rows,
        "highest": found.sizes.highest_prosecutor,
        "average": found.sizes.average_prosecutor,
        "columns": [[name, share] for name, share in zip(special.names, special.shares, strict=True)],
        "risky": risky,
        "largest": sets,
    }


def _shown(value: object) -> str:
    return "missing" if value is None else str(value)[:60]
