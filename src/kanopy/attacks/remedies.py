"""What helps against what attacks have found: changes of the job, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kanopy._job.job import Job

DISCLOSURE = ("inference", "intersection")
MARGIN = 0.05
LEAST_VALUES = 2


def remedies(results: Mapping[str, Any], job: Job) -> list[dict[str, Any]]:
    """What would help against the attacks of a report (`AttackReport.to_dict`), each as a change of the job's settings.

    The loss that a change costs is not known before the release is made again, and no change is promised to suffice:
    attack the new release.

    >>> from kanopy import Job
    >>> risk = {"value": 0.2, "low": 0.1, "high": 0.3}
    >>> found = {"attacks": [{"attack": "inference", "detail": "ill from all others", "risk": risk}], "minimal": None}
    >>> [each["settings"] for each in remedies(found, Job(quasi="age", sensitive="ill", k=5))][0]
    {'k': 10}
    """
    given = [_remedy(change, **settings) for change, settings in _changes(results, job)]
    return list({remedy["change"]: remedy for remedy in given}.values())


def _changes(results: Mapping[str, Any], job: Job) -> Iterator[tuple[str, dict[str, Any]]]:
    beyond = [attack for attack in results["attacks"] if attack["risk"] is not None and attack["risk"]["low"] > 0]
    minimal = results["minimal"] or {"minimality": [], "downcoding": []}
    believed = [column["column"] for column in minimal["minimality"] if column["told"] and column["people"]]
    certain = [column for column in minimal["downcoding"] if column["certain_rows"] or column["certain_for_members"]]
    narrowed = [column for column in minimal["downcoding"] if column["narrowed_rows"]]
    if beyond or certain:
        yield f"raise k from {job.k} to {2 * job.k}", {"k": 2 * job.k}
    guessed = [
        name
        for name in job.sensitive
        if any(attack["attack"] in DISCLOSURE and name in attack["detail"] for attack in beyond) or name in believed
    ]
    guarded = {name for model in job.models for name in model.sensitive}
    for name in guessed:
        if name not in guarded:
            model = f"l-distinct:{name}:{LEAST_VALUES}"
            yield (
                f"promise at least {LEAST_VALUES} different values of {name!r} in every class",
                {"models": [*job.models, model]},
            )
        yield f"do not publish {name!r}", {"at_home": name}
    if believed or narrowed:
        if not job.margin:
            yield (
                f"let a secret choose among releases with at most {MARGIN:g} more loss (a margin)",
                {"margin": MARGIN},
            )
        if not (job.min_levels and job.min_levels == job.max_levels):
            yield "fix the levels before the data are seen (lowest and highest level of each column)", {}


def _remedy(change: str, **settings: Any) -> dict[str, Any]:
    return {"change": change, "settings": settings, "loss": None}
