"""An ordinary job as one for masking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kanopy._errors import JobError, near_miss, short, some
from kanopy._kinds import Names, refuse, taken
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.job import MaskJob

PARAMETERS = ("text", "targets", "allow", "guide", "measure", "heuristics", "search", "seed", "ontology", "senses",
              "unknown", "embedding", "diversity")  # fmt: skip
"""What the `parameters` of an ordinary job may say to a masking algorithm."""


def job_for_masking(job: Any, text: Sequence[str] | None = None) -> MaskJob:
    """An ordinary job (`kanopy._job.job.Job`) as one for masking.

    `text` are the quasi-identifiers that are compared by meaning: all of them if not given.
    """
    given = dict(job.parameters)
    refuse(
        [
            f"The algorithm {job.algorithm!r} has no parameter {short(name)}. {near_miss(str(name), PARAMETERS)}"
            for name in given
            if name not in PARAMETERS
        ]
    )
    wanted = {
        "suppresses nothing: leave suppress out": job.suppress,
        "has no levels: leave the lowest and highest ones out": job.min_levels or job.max_levels,
        "counts rows, not people: leave unit out, or use algorithm 'optimal'": job.unit,
        "neither suppresses nor adds values that a hierarchy lacks: leave unknown out": job.unknown != "error",
    }
    refuse([f"The algorithm {job.algorithm!r} substitutes values and {why}." for why, asked in wanted.items() if asked])
    diversity = given.pop("diversity", {})
    if isinstance(diversity, Mapping):
        diversity = {**diversity, **_diversity(job)}
    texts = taken(Names(), given.pop("text"), "text") if "text" in given else tuple(job.quasi if text is None else text)
    strangers = [name for name in texts if name not in job.quasi]
    if strangers:
        raise JobError(f"text names columns that are not quasi-identifiers: {some(strangers)}.")
    wrong = [name for name, own in job.hierarchies.items() if not isinstance(own, (Hierarchy, str, Path))]
    if wrong:
        raise JobError(f"Masking takes hierarchies as files or Hierarchy objects; build those of {some(wrong)} first.")
    alike = ("k", "algorithm", "weights", "sensitive", "identifiers", "insensitive", "missing", "missing_tokens",
             "pseudonymize", "rest", "undecided", "shuffle")  # fmt: skip
    return MaskJob(
        text=texts,
        quasi=tuple(name for name in job.quasi if name not in texts),
        hierarchies={name: own for name, own in job.hierarchies.items() if name not in texts},
        diversity=diversity,
        **{name: getattr(job, name) for name in alike},
        **given,
    )


def _diversity(job: Any) -> dict[str, int]:
    """The models of an ordinary job as the diversity that fusion keeps; any other model is refused."""
    found: dict[str, int] = {}
    for model in job.models:
        need = {"l-distinct": "l", "p-sensitive": "p"}.get(model.name)
        if need is None or job.algorithm != "fusion":
            raise JobError(
                f"The algorithm {job.algorithm!r} cannot keep the model {model.name!r}: among the maskings only fusion "
                "looks at confidential columns, and it keeps l-distinct and p-sensitive. Use an algorithm that "
                "generalizes, such as 'optimal' or 'best'."
            )
        found[model.column] = max(getattr(model, need), found.get(model.column, 0))
    return found
