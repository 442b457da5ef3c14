"""An ordinary job as one for masking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kanopy._errors import JobError, near_miss, refuse, short, some
from kanopy._parameter_types import ColumnNames, taken
from kanopy._parameters import parameters_of
from kanopy._usage import is_given
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.masking.job import MaskJob
from kanopy.privacy.diversity import DifferentValues

PARAMETERS = ("text", "targets", "allow", "guide", "measure", "heuristics", "search", "seed", "ontology", "senses",
              "decisions", "unknown", "embedding", "diversity")  # fmt: skip
"""What the `parameters` of an ordinary job may say to a masking algorithm."""

ALIKE = ("k", "algorithm", "weights", "sensitive", "identifiers", "insensitive", "missing", "missing_tokens",
         "pseudonymize", "rest", "undecided", "withheld", "shuffle")  # fmt: skip
"""The settings of an ordinary job that mean the same for one that masks."""
READ_OTHERWISE = ("quasi", "hierarchies", "models", "parameters")
"""Those that are taken over in another form."""
AROUND = ("skip_rows", "column_tokens", "decimals", "neutralize_formulas", "encoding", "delimiter", "sheet",
          "header_row")  # fmt: skip
"""Those that are about reading and writing the table, whatever happens in between."""
NO_USE = "does not use it"
WHY_NOT = {
    "suppress": "suppresses nothing",
    "suppressed_rows": "suppresses nothing",
    "min_levels": "has no levels",
    "max_levels": "has no levels",
    "unit": "counts rows, not people",
    "known": "counts rows, not people",
    "unknown": "cannot suppress or add values that are not in a hierarchy",
    "metric": "does not minimize a loss of hierarchies",
    "population": "does not compare with a population",
    "separators": "does not split lists",
    "repeats": "does not split lists",
    "sampling_weight": "does not use sampling weights",
    "household": "does not use households",
    "local": "generalizes nothing",
    "sample": "draws no sample",
}


def _not_taken_over(job: Any) -> list[str]:
    """The settings that an ordinary job gives and a masking would not look at: all that are not named above."""
    used = (*ALIKE, *READ_OTHERWISE, *AROUND)
    return [
        name
        for name, declaration in parameters_of(type(job)).items()
        if name not in used and is_given(getattr(job, name), declaration.default)
    ]


def job_for_masking(job: Any, text: Sequence[str] | None = None) -> MaskJob:
    """An ordinary job (`kanopy.Job`) as one for masking.

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
    refuse(
        [
            f"The algorithm {job.algorithm!r} substitutes values and {WHY_NOT.get(name, NO_USE)}: "
            f"leave {name} out, or use an algorithm that generalizes, such as 'optimal'."
            for name in _not_taken_over(job)
        ]
    )
    diversity = given.pop("diversity", {})
    if isinstance(diversity, Mapping):
        diversity = {**diversity, **_diversity(job)}
    texts = (
        taken(ColumnNames(), given.pop("text"), "text")
        if "text" in given
        else tuple(job.quasi if text is None else text)
    )
    strangers = [name for name in texts if name not in job.quasi]
    if strangers:
        raise JobError(f"text names columns that are not quasi-identifiers: {some(strangers)}.")
    wrong = [name for name, hierarchy in job.hierarchies.items() if not isinstance(hierarchy, (Hierarchy, str, Path))]
    if wrong:
        raise JobError(f"Masking takes hierarchies as files or Hierarchy objects; build those of {some(wrong)} first.")
    return MaskJob(
        text=texts,
        quasi=tuple(name for name in job.quasi if name not in texts),
        hierarchies={name: hierarchy for name, hierarchy in job.hierarchies.items() if name not in texts},
        diversity=diversity,
        **{name: getattr(job, name) for name in ALIKE},
        **given,
    )


def _diversity(job: Any) -> dict[str, int]:
    """The models of an ordinary job as the diversity that fusion keeps; any other model is refused."""
    needed_of_column: dict[str, int] = {}
    for model in job.models:
        if not isinstance(model, DifferentValues) or not MASKINGS[job.algorithm].keeps_diversity:
            raise JobError(
                f"The algorithm {job.algorithm!r} cannot keep the model {model.name!r}: of the maskings only fusion "
                "protects confidential columns, by l-distinct and p-sensitive. Use an algorithm that generalizes, "
                "such as 'optimal' or 'best'."
            )
        needed_of_column[model.column] = max(model.least_size, needed_of_column.get(model.column, 0))
    return needed_of_column
