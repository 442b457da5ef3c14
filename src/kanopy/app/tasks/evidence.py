"""Evidence about a release: attacks beside a control group, and the requirements of authorities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, JobError
from kanopy._files import write_whole
from kanopy._progress import Callback
from kanopy.app.tasks.worker_state import WorkerState, job_of

if TYPE_CHECKING:
    import polars as pl

    from kanopy._job.job import Job

ATTACKS = "attacks.json"
"""What attacks on a release found: beside its files, and part of its report."""
REPORTED = ("report.html", "report.json", "reproduce.py")
"""Written anew with the attacks in it."""


def attack(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, folder: str, file: str,
    table: str, control: str, share: bool, earlier: str, secrets: list[str], first: list[str], guesses: int,
    learn: bool, seed: int,
) -> dict[str, Any]:  # fmt: skip
    """Attack a release and keep what was found beside it.

    With `share`, so much of the people (`control`) is held back and the job makes a release of the others; else the
    release itself is attacked, beside the table `control` where one is named.
    """
    from kanopy.attacks.remedies import remedies
    from kanopy.release.evidence.attacking import attack as run_attacks
    from kanopy.report.charts.attacks import attack_rates
    from kanopy.report.render import svg

    wanted = job_of(job, project_folder)
    original = _original(state, source, wanted, table)
    released = None if share else _read(str(Path(folder) / file))
    people: Any = control if share else _read(control) if control else None
    report = run_attacks(
        original, released, wanted, control=people, beside=_read(earlier) if earlier else None, secrets=secrets,
        first=first, guesses=guesses, learn=learn, seed=seed, progress=notify,
    ).to_dict()  # fmt: skip
    drawn = svg(attack_rates(report["attacks"]), "rates", "Rates of success on people of the release and others")
    stored = {**report, "held_back": control if share else "", "learned": learn}
    _forget_report(Path(folder))
    write_whole(Path(folder) / ATTACKS, json.dumps(stored, ensure_ascii=False), private=True)
    return {**stored, "chart": drawn, "remedies": remedies(report, wanted)}


def last_attack(state: WorkerState, notify: Callback, *, folder: str, job: str, project_folder: str) -> Any:
    """What the last attack on a release found, with its picture and what helps; `None` if there was none."""
    from kanopy.attacks.remedies import remedies
    from kanopy.report.charts.attacks import attack_rates
    from kanopy.report.render import svg

    stored = attacks_of(Path(folder))
    if stored is None:
        return None
    drawn = svg(attack_rates(stored["attacks"]), "rates", "Rates of success on people of the release and others")
    return {**stored, "chart": drawn, "remedies": remedies(stored, job_of(job, project_folder))}


def attacks_of(folder: Path) -> dict[str, Any] | None:
    """What was found by the last attack on the release of a folder."""
    try:
        report: dict[str, Any] = json.loads((folder / ATTACKS).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return report


def document(state: WorkerState, notify: Callback, *, folder: str, ending: str, source: str) -> bytes:
    """The document of the attacks, or of a profile, in the format of its ending."""
    from kanopy.report.documents.attacks import attack_document

    stored = attacks_of(Path(folder))
    if stored is None:
        raise DataError("This release was not attacked yet. Run the attacks, then download the document.")
    digest = json.loads((Path(folder) / "summary.json").read_text("utf-8"))["digests"]["manifest.json"]
    return attack_document(stored, source, checksum=digest).to_bytes(ending)


def profile(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, folder: str, file: str,
    table: str, policy: str, threshold: float | None, control: str, guesses: int, seed: int,
) -> dict[str, Any]:  # fmt: skip
    """Check every requirement of an authority's profile, and keep the document beside the release."""
    from kanopy.attacks.policies import Evidence, read_policy, report_policy

    wanted, asked = job_of(job, project_folder), read_policy(policy)
    # Where no requirement asks for the original, nothing is attacked.
    original = _original(state, source, wanted, table) if "original" in asked["needs"] else None
    summary = json.loads((Path(folder) / "summary.json").read_text("utf-8"))
    manifest = json.loads((Path(folder) / "manifest.json").read_text("utf-8"))
    report = report_policy(
        Evidence(
            asked, _read(str(Path(folder) / file)), original, _read(control) if control else None, wanted, manifest,
            wanted.quasi, wanted.sensitive, wanted.unit, threshold, guesses, seed, notify,
        ),
        checksum=summary["digests"]["manifest.json"],
    )  # fmt: skip
    made = report.to_document(file)
    for ending in (".html", ".json", ".pdf", ".docx"):
        write_whole(Path(folder) / f"{policy}{ending}", made.to_bytes(ending), private=True)
    return report.to_dict()


def profiles(state: WorkerState, notify: Callback) -> list[dict[str, Any]]:
    """The profiles of authorities: names, titles, what they ask for.

    >>> [each["name"] for each in profiles(WorkerState(), lambda step: True)][:2]
    ['hipaa-safe-harbor', 'hipaa-expert']
    """
    from kanopy.attacks.policies import POLICIES, read_policy

    policies = [read_policy(name) for name in POLICIES]
    return [
        {
            "name": policy["name"], "title": policy["title"], "intro": policy["intro"], "needs": list(policy["needs"]),
            "names_threshold": bool(policy.get("threshold_is_named")), "largest_risk": policy.get("largest_risk"),
        }
        for policy in policies
    ]  # fmt: skip


def _original(state: WorkerState, source: str, job: Job, table: str) -> pl.DataFrame:
    """The table, if it is still the one that the release was made of."""
    if state.digest(source, job) != table:
        raise DataError("The table has changed since this release was made: it can no longer be compared with it.")
    return state.frame(source, job)


def _read(location: str) -> pl.DataFrame:
    from kanopy._table.sources import read_source

    if not location:
        raise JobError("Name a table.")
    return read_source(location).frame


def _forget_report(folder: Path) -> None:
    for name in REPORTED:
        (folder / name).unlink(missing_ok=True)
