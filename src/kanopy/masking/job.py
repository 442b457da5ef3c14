"""`MaskJob`: what to mask, and how, without any data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from kanopy._errors import JobError, near_miss, some
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.algorithms.fusion import SIZE_GUIDES
from kanopy.masking.algorithms.registry import MASKINGS, make_masking
from kanopy.masking.meanings import UNKNOWN_TEXT_POLICIES, Vectors
from kanopy.masking.result import Masking
from kanopy.ontology.senses.senses import SenseChoices
from kanopy.ontology.similarity.measures import MEASURES
from kanopy.ontology.taxonomy import Taxonomy

GUIDES = (*MEASURES, *SIZE_GUIDES)


@dataclass(frozen=True)
class MaskJob:
    """What to mask and how.

    `text` columns are compared by meaning; further `quasi` columns are substituted with them: numbers by distance,
    categories by a hierarchy (`hierarchies`) or by being equal. `guide` is a similarity measure, "discernibility" or
    "random"; `measure` states quality (the guide, or Wu–Palmer). `ontology` is "wordnet", a file, a `Taxonomy`, or an
    ordinary `Hierarchy`. `diversity` asks for so many different values of a confidential column in every group
    (p-sensitive k-anonymity, distinct l-diversity).

    >>> MaskJob(text=["reason"], k=5).algorithm
    'fusion'
    """

    text: tuple[str, ...] = ()
    k: int = 5
    quasi: tuple[str, ...] = ()
    algorithm: str = "fusion"
    guide: str = "wu-palmer"
    measure: str | None = None
    heuristics: str = "123"
    search: str = "greedy"
    seed: int = 0
    ontology: str | Path | Taxonomy | Hierarchy = "wordnet"
    senses: SenseChoices | str | Path | None = None
    unknown: str = "own-class"
    embedding: Vectors | str | Path | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy | str | Path] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    diversity: Mapping[str, int] = field(default_factory=dict)
    identifiers: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    missing: str = "as-value"
    missing_tokens: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        from kanopy.privacy.models import KAnonymity

        for name in ("text", "quasi", "sensitive", "identifiers", "insensitive", "missing_tokens"):
            object.__setattr__(self, name, _names(getattr(self, name), name))
        KAnonymity(self.k)
        if not self.text and not self.quasi:
            raise JobError("Name the columns to mask (text=…).")
        if self.guide not in GUIDES:
            raise JobError(f"No guide is called {self.guide!r}. {near_miss(self.guide, GUIDES)}")
        if self.measure is not None and self.measure not in MEASURES:
            raise JobError(f"No measure is called {self.measure!r}. {near_miss(self.measure, MEASURES)}")
        if self.unknown not in UNKNOWN_TEXT_POLICIES:
            raise JobError(
                f"There is no policy unknown={self.unknown!r}. {near_miss(self.unknown, UNKNOWN_TEXT_POLICIES)}"
            )
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise JobError(f"The seed must be a whole number of at least 0, not {self.seed!r}.")
        roles: dict[str, str] = {}
        for role in ("text", "quasi", "sensitive", "identifiers", "insensitive"):
            for column in getattr(self, role):
                if column in roles:
                    raise JobError(f"The column {column!r} has two roles: {roles[column]} and {role}. Give it one.")
                roles[column] = role
        for name, allowed in (("weights", self.columns), ("hierarchies", self.quasi), ("diversity", self.sensitive)):
            strangers = [column for column in getattr(self, name) if column not in allowed]
            if strangers:
                what = {"weights": "columns to mask", "hierarchies": "quasi columns", "diversity": "sensitive columns"}
                raise JobError(f"{name} names columns that are not {what[name]}: {some(strangers)}.")
        for column, weight in self.weights.items():
            if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < float("inf"):
                raise JobError(f"The weight of {column!r} must be a number of zero or more, not {weight!r}.")
        for column, need in self.diversity.items():
            if isinstance(need, bool) or not isinstance(need, int) or need < 1:
                raise JobError(f"The diversity of {column!r} must be a whole number of at least 1, not {need!r}.")
        self.make()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are substituted: texts first."""
        return (*self.text, *self.quasi)

    @property
    def quality_measure(self) -> str:
        """The measure that similarities are stated in."""
        return self.measure or (self.guide if self.guide in MEASURES else "wu-palmer")

    def make(self) -> Masking:
        """The algorithm with its parameters."""
        if self.algorithm == "fusion":
            guide = self.guide if self.guide in SIZE_GUIDES else "similarity"
            return make_masking("fusion", guide=guide, heuristics=self.heuristics, search=self.search, seed=self.seed)
        if self.algorithm in MASKINGS and (self.search != "greedy" or self.guide in SIZE_GUIDES):
            raise JobError(f"{self.algorithm} needs a similarity measure as its guide and has no refined search.")
        return make_masking(self.algorithm, seed=self.seed)

    def replaced(self, **changes: Any) -> MaskJob:
        """A copy with some settings changed."""
        return replace(self, **changes)

    def script(self, source: str) -> str:
        """A Python script that repeats the masking of a file.

        >>> print(MaskJob(text=["why"], k=3).script("answers.csv").splitlines()[-2])
        result = mask("answers.csv", MaskJob(text=('why',), k=3))
        """
        changed = [
            f"{f.name}={_plain(getattr(self, f.name))!r}"
            for f in fields(self)
            if f.name in ("text", "k") or getattr(self, f.name) != _default(f)
        ]
        return (
            '"""Repeats a masking made with Kanopy."""\n\n'
            "from kanopy.masking.job import MaskJob\nfrom kanopy.release.masking_flow import mask\n\n"
            f"result = mask({json.dumps(source, ensure_ascii=False)}, MaskJob({', '.join(changed)}))\n"
            'result.frame.write_csv("masked.csv")\n'
        )


def _default(of: Any) -> Any:
    return of.default_factory() if of.default_factory is not MISSING else of.default


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


PARAMETERS = ("text", "guide", "measure", "heuristics", "search", "seed", "ontology", "senses", "unknown", "embedding",
              "diversity")  # fmt: skip
"""What the `parameters` of an ordinary job may say to a masking algorithm."""


def job_for_masking(job: Any, text: Sequence[str] | None = None) -> MaskJob:
    """An ordinary job (`kanopy._job.job.Job`) as one for masking.

    `text` are the quasi-identifiers that are compared by meaning: all of them if not given.
    """
    given = dict(job.parameters)
    for name in given:
        if name not in PARAMETERS:
            raise JobError(f"The algorithm {job.algorithm!r} has no parameter {name!r}. {near_miss(name, PARAMETERS)}")
    if job.suppress:
        raise JobError(
            f"The algorithm {job.algorithm!r} substitutes values and suppresses nothing: leave suppress out."
        )
    texts = _names(given.pop("text"), "text") if "text" in given else tuple(job.quasi if text is None else text)
    strangers = [name for name in texts if name not in job.quasi]
    if strangers:
        raise JobError(f"text names columns that are not quasi-identifiers: {some(strangers)}.")
    wrong = [name for name, own in job.hierarchies.items() if not isinstance(own, (Hierarchy, str, Path))]
    if wrong:
        raise JobError(f"Masking takes hierarchies as files or Hierarchy objects; build those of {some(wrong)} first.")
    return MaskJob(
        text=texts,
        k=job.k,
        quasi=tuple(name for name in job.quasi if name not in texts),
        algorithm=job.algorithm,
        weights=job.weights,
        hierarchies={name: own for name, own in job.hierarchies.items() if name not in texts},
        sensitive=job.sensitive,
        identifiers=job.identifiers,
        insensitive=job.insensitive,
        missing=job.missing,
        missing_tokens=job.missing_tokens,
        **given,
    )


def _names(given: Any, what: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in given.split(",") if part.strip()) if isinstance(given, str) else tuple(given)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise JobError(f"{what} must be names of columns, not {some(wrong)}.")
    return tuple(dict.fromkeys(names))
