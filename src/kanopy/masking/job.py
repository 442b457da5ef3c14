"""`MaskJob`: what to mask, and how, without any data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from kanopy._errors import JobError, collected, near_miss, short, some
from kanopy._lazy import public
from kanopy._mixins import shown_by
from kanopy._parameter_types import (
    Anything,
    ColumnNames,
    Either,
    Instance,
    Integer,
    MapOf,
    Number,
    OneOf,
    Optional,
    Text,
)
from kanopy._parameters import Declared, parameters_of
from kanopy._table import policies
from kanopy._table.guessing.personal_data import KINDS
from kanopy._table.roles import LEAVE_OUT, ROLES, settle_roles
from kanopy._usage import Needs
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.algorithms.fusion import SIZE_GUIDES, Heuristics, Search
from kanopy.masking.algorithms.registry import MASKINGS, SUBSTITUTION, make_masking
from kanopy.masking.masking_result import Masking, Seed
from kanopy.masking.meanings import UNKNOWN_TEXT_POLICIES, Vectors
from kanopy.masking.targets import TARGETS
from kanopy.ontology.senses.senses import SenseChoices
from kanopy.ontology.similarity.measures import MEASURES
from kanopy.ontology.taxonomy import Taxonomy

if TYPE_CHECKING:
    from kanopy.privacy.models import Model


def guides() -> tuple[str, ...]:
    """What may guide a substitution: similarity measures, and what goes by sizes alone."""
    return (*MEASURES.usable(), *SIZE_GUIDES)


def _takes(setting: str) -> Needs:
    """What a setting of algorithms needs: one that has it."""
    return Needs(
        f"an algorithm that has {setting}, such as 'fusion'",
        lambda job: setting in parameters_of(MASKINGS[job.algorithm]),
    )


TEXT = Needs("columns with free text (text=…)", lambda job: job.text)
VECTORS = Needs("unknown='embedding', which looks at it, and columns with free text", lambda job: (
    job.text and job.unknown == "embedding"
))  # fmt: skip
DECIDED = Needs("columns with free text (text=…) and targets='frequent'", lambda job: (
    job.text and job.targets == "frequent"
))  # fmt: skip
GUIDE = Needs(
    "columns with free text (text=…): others are compared by numbers and hierarchies",
    lambda job: job.text or job.guide in SIZE_GUIDES,
)


@public("kanopy")
@dataclass(frozen=True)
class MaskJob(Declared):
    """What to mask and how.

    `text` columns are compared by meaning; further `quasi` columns are substituted with them: numbers by distance,
    categories by a hierarchy (`hierarchies`) or by being equal. `guide` is a similarity measure, "discernibility" or
    "random"; `measure` states quality (the guide, or Wu–Palmer). `ontology` is "wordnet", a file, a `Taxonomy`, or an
    ordinary `Hierarchy`. `diversity` asks for so many different values of a confidential column in every group
    (p-sensitive k-anonymity, distinct l-diversity).

    >>> MaskJob(text=["reason"], k=5).algorithm
    'fusion'
    """

    masks: ClassVar[bool] = True
    recoding: ClassVar[str] = SUBSTITUTION
    text: Annotated[tuple[str, ...], ColumnNames(), "columns with free text, compared by meaning"] = ()
    k: Annotated[
        int, Integer(2, why="With k = 1 every row may be unique."), "rows that share each published combination"
    ] = 5
    targets: Annotated[str, OneOf(*TARGETS), "the values that may replace an answer", TEXT] = "frequent"
    allow: Annotated[
        tuple[str, ...], ColumnNames("kinds of texts"), "kinds of texts to treat as ordinary answers", TEXT
    ] = ()
    quasi: Annotated[tuple[str, ...], ColumnNames(), "further columns to mask: numbers, categories"] = ()
    algorithm: Annotated[str, OneOf(known=MASKINGS.usable), "the masking algorithm"] = "fusion"
    guide: Annotated[str, OneOf(known=guides), "the measure that guides the substitutions", GUIDE] = "wu-palmer"
    measure: Annotated[
        str | None, Optional(OneOf(known=MEASURES.usable)), "the measure of quality [default: the guide]", TEXT
    ] = None
    heuristics: Annotated[Heuristics, _takes("heuristics")] = "123"
    search: Annotated[Search, _takes("search")] = "greedy"
    seed: Annotated[Seed, _takes("seed")] = 0
    ontology: Annotated[
        str | Path | Taxonomy | Hierarchy,
        Either(Text("wordnet or an ontology file"), Instance(("Path", "Taxonomy", "Hierarchy"), "one itself")),
        "the ontology",
        TEXT,
    ] = "wordnet"
    senses: Annotated[
        SenseChoices | str | Path | None,
        Optional(Either(Text("a file of senses"), Instance(("Path", "SenseChoices"), "the choices"))),
        "chosen senses and synonyms",
        TEXT,
    ] = None
    decisions: Annotated[
        str | Path | None,
        Optional(Either(Text("a mapping with decisions"), Instance(("Path",), "its path"))),
        "a mapping with decisions: accept, name or suppress single changes",
        DECIDED,
    ] = None
    unknown: Annotated[
        str, OneOf(*UNKNOWN_TEXT_POLICIES), "what to do with values that are not in the ontology", TEXT
    ] = "own-class"
    embedding: Annotated[
        Vectors | str | Path | None, Anything(), "vectors, or the folder of a local model", VECTORS
    ] = None
    weights: Annotated[
        Mapping[str, float], MapOf(Number(0), "{'why': 2}"), "the weight of each column", policies.WEIGHTS
    ] = field(default_factory=dict)
    hierarchies: Annotated[
        Mapping[str, Hierarchy | str | Path],
        MapOf(Either(Text("a file"), Instance(("Path", "Hierarchy"), "a Hierarchy"))),
        "per further column, the hierarchy that defines the similarity of its values",
    ] = field(default_factory=dict)
    sensitive: Annotated[tuple[str, ...], ColumnNames(), "confidential columns"] = ()
    diversity: Annotated[
        Mapping[str, int],
        MapOf(Integer(1), "{'ill': 2}"),
        "per confidential column, the different values in every group",
    ] = field(default_factory=dict)
    identifiers: policies.Identifiers = ()
    insensitive: policies.Insensitive = ()
    missing: Annotated[str, OneOf(*policies.MISSING_POLICIES), "what to do with missing answers"] = "as-value"
    missing_tokens: policies.MissingTokens = ()
    pseudonymize: policies.Pseudonymized = ()
    rest: policies.Rest = LEAVE_OUT
    undecided: policies.Undecided = ()
    withheld: policies.Withheld = ()
    shuffle: policies.Shuffled = None

    if TYPE_CHECKING:
        # What may be given is wider than what is kept.
        def __init__(
            self,
            text: str | Iterable[str] = (),
            k: int = 5,
            targets: str = "frequent",
            allow: str | Iterable[str] = (),
            quasi: str | Iterable[str] = (),
            algorithm: str = "fusion",
            guide: str = "wu-palmer",
            measure: str | None = None,
            heuristics: str = "123",
            search: str = "greedy",
            seed: int = 0,
            ontology: str | Path | Taxonomy | Hierarchy = "wordnet",
            senses: SenseChoices | str | Path | None = None,
            decisions: str | Path | None = None,
            unknown: str = "own-class",
            embedding: Vectors | str | Path | None = None,
            weights: Mapping[str, float] = ...,
            hierarchies: Mapping[str, Hierarchy | str | Path] = ...,
            sensitive: str | Iterable[str] = (),
            diversity: Mapping[str, int] = ...,
            identifiers: str | Iterable[str] = (),
            insensitive: str | Iterable[str] = (),
            missing: str = "as-value",
            missing_tokens: str | Iterable[str] = (),
            pseudonymize: str | Iterable[str] = (),
            rest: str = LEAVE_OUT,
            undecided: str | Iterable[str] = (),
            withheld: str | Iterable[str] = (),
            shuffle: bool | None = None,
        ) -> None: ...

    def _repr_html_(self) -> str:
        columns = {name: {"role": role} for name, role in self.roles.items()}
        return shown_by("job", {"k": self.k, "algorithm": self.algorithm, "columns": columns})

    def contradictions(self) -> Iterable[str]:
        mistakes: list[str] = []
        if not self.columns:
            mistakes.append("Name the columns to mask (text=…).")
        mistakes += settle_roles(self, ("text", *ROLES), self.identifiers)
        for name, allowed, what in (
            ("weights", self.columns, "columns to mask"),
            ("hierarchies", self.quasi, "quasi columns"),
            ("diversity", self.sensitive, "sensitive columns"),
        ):
            if strangers := [column for column in getattr(self, name) if column not in allowed]:
                mistakes.append(f"{name} names columns that are not {what}: {some(strangers)}.")
        mistakes += [
            f"allow knows no {short(name)}. {near_miss(name, KINDS)}" for name in self.allow if name not in KINDS
        ]
        with collected(mistakes):
            self.make()
        if self.diversity and not MASKINGS[self.algorithm].keeps_diversity:
            mistakes.append(
                f"The algorithm {self.algorithm!r} does not protect confidential columns, so it cannot guarantee "
                "diversity. Use algorithm='fusion' for that."
            )
        return mistakes

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are substituted: texts first."""
        return (*self.text, *self.quasi)

    @property
    def quality_measure(self) -> str:
        """The measure that similarities are stated in."""
        return self.measure or (self.guide if self.guide in MEASURES else "wu-palmer")

    @property
    def guarantees_k(self) -> bool:
        """Whether the algorithm promises that k rows share every published combination."""
        return bool(MASKINGS[self.algorithm].guarantees_k)

    @property
    def models(self) -> tuple[Model, ...]:
        """What is promised besides k: the diversity as privacy models."""
        from kanopy.privacy.diversity import DistinctDiversity

        return tuple(DistinctDiversity(column, need) for column, need in self.diversity.items() if need > 1)

    @property
    def all_models(self) -> tuple[Model, ...]:
        """Everything that is promised of every published group."""
        from kanopy.privacy.models import KAnonymity

        return (KAnonymity(self.k), *self.models) if self.guarantees_k else ()

    @property
    def roles(self) -> dict[str, str]:
        """The role of every column that was given one."""
        return {
            **dict.fromkeys(self.text, "text"),
            **{column: role for name, role in ROLES.items() for column in getattr(self, name, ())},
        }

    def make(self) -> Masking:
        """The algorithm with its parameters."""
        takes = parameters_of(MASKINGS[self.algorithm])
        if ("search" not in takes and self.search != "greedy") or ("guide" not in takes and self.guide in SIZE_GUIDES):
            raise JobError(f"{self.algorithm} needs a similarity measure as its guide and has no refined search.")
        settings = {
            "guide": self.guide if self.guide in SIZE_GUIDES else "similarity",
            "heuristics": self.heuristics,
            "search": self.search,
            "seed": self.seed,
        }
        return make_masking(self.algorithm, **{name: value for name, value in settings.items() if name in takes})

    def replaced(self, **changes: Any) -> MaskJob:
        """A copy with some settings changed."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, shaped like an ordinary job; what was given as an object is named, not embedded."""
        columns: dict[str, dict[str, Any]] = {name: {"role": role} for name, role in self.roles.items()}
        for name, hierarchy in self.hierarchies.items():
            columns[name]["hierarchy"] = _named(hierarchy)
        for key, per_column in (("weight", self.weights), ("diversity", self.diversity)):
            for name, value in per_column.items():
                columns[name][key] = value
        field_names = (
            "targets",
            "guide",
            "measure",
            "heuristics",
            "search",
            "seed",
            "ontology",
            "senses",
            "decisions",
            "unknown",
            "embedding",
        )
        settings = {name: _named(getattr(self, name)) for name in field_names}
        plain: dict[str, Any] = {"k": self.k, "algorithm": {"name": self.algorithm, **settings}}
        if self.allow:
            plain["algorithm"]["allow"] = list(self.allow)
        plain["missing"] = self.missing
        for key in ("missing_tokens", "pseudonymize"):
            if getattr(self, key):
                plain[key.replace("_", "-")] = list(getattr(self, key))
        if self.rest != LEAVE_OUT:
            plain["rest"] = self.rest
        if self.shuffle is not None:
            plain["shuffle"] = self.shuffle
        return {**plain, "columns": columns}

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
            "from kanopy import MaskJob, mask\n\n"
            f"result = mask({json.dumps(source, ensure_ascii=False)}, MaskJob({', '.join(changed)}))\n"
            'result.write("masked.csv")\n'
        )


def _default(of: Any) -> Any:
    return of.default_factory() if of.default_factory is not MISSING else of.default


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _named(value: Any) -> Any:
    """A setting as plain data: files by their names, objects by their kind."""
    if isinstance(value, (str, Path)):
        return "+".join(Path(ontology_name).name for ontology_name in str(value).split("+"))  # several ontologies
    return value if value is None or isinstance(value, int) else {"given": type(value).__name__}
