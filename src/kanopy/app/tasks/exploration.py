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


def population(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, folder: str, file: str,
    size: int | None, fraction: float | None,
) -> dict[str, Any]:  # fmt: skip
    """Risks in the population that the rows were drawn from, before and after: estimated from its size, or the share of
    it that is in the table. `file` is the release in `folder`, if there is one."""
    from kanopy._table.sources import read_source
    from kanopy.study.risk_settings import RiskSettings
    from kanopy.study.risk_study import assess_risk

    wanted = job_of(job, project_folder)
    settings = RiskSettings(population_size=size, sampling_fraction=fraction, largest_subset=0)
    found: dict[str, Any] = {"after": None}
    tables = {"before": state.frame(source, wanted)}
    if file:
        tables["after"] = read_source(str(Path(folder) / file)).frame
    for name, frame in tables.items():
        Progress(notify)(f"estimating risks {name}")
        own = assess_risk(
            frame, quasi=wanted.quasi, unit=wanted.unit if name == "before" else (), settings=settings
        ).to_dict()
        people = own["population"] or {}
        found[name] = {
            "uniques": people.get(people.get("chosen", ""), None), "model": people.get("chosen", ""),
            "highest": own["journalist"]["highest"], "average": own["journalist"]["average"],
            "rows_at_risk": own["rows_at_risk"],
        }  # fmt: skip
    return found


def small_classes(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str
) -> dict[str, Any]:
    """The combinations of the original that fewer than k rows share, the rarest first; and how many rows they are."""
    import polars as pl

    from kanopy._job.reading_rules import read_records

    wanted = job_of(job, project_folder)
    frame = read_records(state.frame(source, wanted), wanted)
    names = list(wanted.quasi)
    groups = frame.group_by(names).agg(pl.len().alias("\0rows"), pl.int_range(pl.len()).first().alias("\0first"))
    small = groups.filter(pl.col("\0rows") < wanted.k).sort(["\0rows", *names], nulls_last=True)
    shown = small.head(MOST_RISKY).select(*names, "\0rows")
    return {
        "columns": names, "k": wanted.k, "classes": small.height, "rows": int(small["\0rows"].sum() or 0),
        "shown": [[_shown(cell) if at < len(names) else f"{cell:,}" for at, cell in enumerate(row)]
                  for row in shown.iter_rows()],
    }  # fmt: skip


def prediction(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, folder: str, target: str
) -> list[dict[str, Any]]:
    """How well classifiers learn a column from the original and from the release."""
    import polars as pl

    from kanopy.study.utility_study import assess

    wanted = job_of(job, project_folder)
    original = state.frame(source, wanted)
    released = pl.read_ipc(Path(folder) / "row_pairs.arrow")
    rows = released["\0row"].to_list()
    Progress(notify)("training classifiers on both tables")
    found = assess(original[rows], released.drop("\0row"), quasi=wanted.quasi, target=target, queries=0).to_dict()
    if not found["learners"]:
        raise JobError(" ".join(found["notes"]) or f"Nothing can be learnt about {target!r}.")
    return list(found["learners"])
