"""Many releases at once: the map of risk and utility, all candidates of a full-domain search, and risky rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kanopy._errors import JobError
from kanopy._files import write_whole
from kanopy._progress import Callback, Progress
from kanopy.app.tasks.worker_state import WorkerState, job_of

MOST_POINTS = 2_500
"""Points that a picture shows; of more, those that no other beats and an even part of the rest."""
MOST_REASONS = 4
MOST_RISKY = 100
LARGEST_SET = 3


def explore_combinations(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, file: str, ks: list[int],
    limits: list[float], algorithms: list[str],
) -> dict[str, Any]:  # fmt: skip
    """Search every combination of k, limit and algorithm; finished points are stored to continue later."""
    from kanopy.release.sweeps.explore import explore

    wanted = job_of(job, project_folder)
    points = explore(
        state.frame(source, wanted), wanted, ks=ks, limits=limits, algorithms=algorithms, progress=notify,
        state=Path(file).with_suffix(".state"),
    ).to_dict()  # fmt: skip
    write_whole(file, json.dumps(points), private=True)
    return points


def candidates(state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str) -> dict[str, Any]:
    """Every choice of levels with its loss and the rows that it suppresses; all of them are judged."""
    from kanopy.release.sweeps.candidates import all_candidates, free_job

    job_to_judge = job_of(job, project_folder)
    judged = all_candidates(state.prepared(source, free_job(job_to_judge), notify), job_to_judge, Progress(notify))
    return {
        "all": len(judged.losses),
        "limit": job_to_judge.suppress,
        "points": [
            {
                "x": float(judged.suppressed[i]) / judged.rows, "y": float(judged.losses[i]),
                "best": bool(judged.best[i]),
                "levels": dict(zip(judged.names, judged.levels[i].tolist(), strict=True)),
                "classes": int(judged.classes[i]), "suppressed": int(judged.suppressed[i]),
            }
            for i in judged.some(MOST_POINTS).tolist()
        ],
    }  # fmt: skip


def risky_rows(state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str) -> dict[str, Any]:
    """The rows of the original with the highest scores, and the smallest combinations that make each of them rare."""
    from kanopy._job.reading_rules import apply_reading_rules
    from kanopy._table.frames import to_polars
    from kanopy.study.risk_study import assess_risk

    wanted = job_of(job, project_folder)
    Progress(notify)("looking for special uniques")
    frame = apply_reading_rules(*to_polars(state.frame(source, wanted)), wanted)[0]
    sets = min(LARGEST_SET, max(len(wanted.quasi) - 1, 1))
    if len(wanted.quasi) < 2:
        raise JobError("Combinations need at least two quasi-identifiers.")
    assessment = assess_risk(
        frame, quasi=wanted.quasi, sensitive=wanted.sensitive, largest_subset=0, suda=sets, unit=wanted.unit
    )
    special = assessment.answers.special
    assert special is not None
    risky = []
    for row in special.most_special(MOST_RISKY):
        sets_of_row = special.sets_of(row)
        why = [
            ", ".join(f"{name} = {_shown(frame[name][row])}" for name in names) for names in sets_of_row[:MOST_REASONS]
        ]
        risky.append({"row": row + 1, "score": int(special.scores[row]), "sets": len(sets_of_row), "why": why})
    return {
        "rows": frame.height,
        "standing_out": int((special.scores > 0).sum()),
        "alone": assessment.sizes.unique_rows,
        "highest": assessment.sizes.highest_prosecutor,
        "average": assessment.sizes.average_prosecutor,
        "columns": [[name, share] for name, share in zip(special.names, special.shares, strict=True)],
        "risky": risky,
        "largest": sets,
    }


def _shown(value: object) -> str:
    return "missing" if value is None else str(value)[:60]
