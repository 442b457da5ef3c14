"""`Job`: what the user wants, without any data and without any engine.

A job can be written in Python, as a dictionary, or as a commented TOML file; all three say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kanopy._core.units import known_rows
from kanopy._errors import JobError, collected, near_miss, refuse, some
from kanopy._job import parameter_types as kinds
from kanopy._job import usage
from kanopy._job.parameter_types import (
    ALONE,
    DEFAULT_K,
    AtLeastTwo,
    HierarchyGiven,
    Models,
    Place,
    known_algorithm,
    known_metrics,
)
from kanopy._job.protection import Protect, settle_models, settle_protection
from kanopy._lazy import public
from kanopy._mixins import shown_by
from kanopy._parameter_types import (
    Anything,
    ColumnNames,
    Flag,
    Integer,
    MapOf,
    Number,
    OneOf,
    Optional,
    Seconds,
    Share,
    Text,
    taken,
)
from kanopy._parameters import Declared, parameters_of
from kanopy._table import policies
from kanopy._table.policies import ONCE
from kanopy._table.roles import LEAVE_OUT, ROLES, UNPUBLISHED_ROLES, settle_roles
from kanopy._usage import checked
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.base import Model

if TYPE_CHECKING:
    from kanopy.masking.masking_result import Masking
    from kanopy.privacy.models import ModelSource
    from kanopy.search.solution import Algorithm

HierarchySource = Hierarchy | Builder | str | Path | Mapping[str, Any]
"""A hierarchy itself, a builder, a file, or `{"method": "iotf", …}`."""

KEEP_OR_DROP = ("keep", "drop")
UNSAID: Any = None
"""The value of a setting that nobody asked for; the job then finds it out."""


Columns = str | Iterable[str]


@public("kanopy")
@dataclass(frozen=True)
class Job(Declared):
    """What to publish, and how safe it must be. What nobody named is not published.

    >>> job = Job(quasi=["age", "sex"], k=5, suppress="2%")
    >>> job.suppress, Job.from_toml(job.to_toml()) == job
    (0.02, True)

    `quasi` columns are generalized; `identifiers`, `withheld` and (for now) `undecided` ones stay out; `sensitive` and
    `insensitive` ones are published as they are. Columns without a role are left out, unless `rest` is "publish".

    `min_levels`, `max_levels` and `weights` are per quasi-identifier. `missing` says what to do with missing values
    (`as-value`, `suppress`, `error`), `unknown` what a value is that its hierarchy does not know (`error`, `suppress`,
    `add`). `suppressed_rows` are kept with `*` in every quasi-identifier, or dropped.

    `encoding`, `delimiter`, `sheet` and `header_row` say how the file of the table is read, where that is not found
    right; a frame was read before. `skip_rows` rows below the header are no records; `missing_tokens` mean missing in
    every column, `column_tokens` in one; `decimals` are columns of texts such as "1.234,50" that are numbers, with
    their decimal sign.

    `local` allows rows with equal values to be published differently, which loses far less; unless an `algorithm` is
    named, "best" then takes the place of "optimal". `parameters` are parameters of the algorithm.

    What is published as it is and tells what a generalized column hides is left out, unless `allow_dependent` names it.
    What is written is shuffled, as the order of rows may tell who they are about: `shuffle=False` keeps it, `True`
    shuffles `Result.data` too.

    `models` are privacy models besides k-anonymity, such as `"t-equal:income:0.2"`; all must hold. The columns they
    name become sensitive. `population` is the table that models such as k-map compare with. `pseudonymize` names
    identifiers that are published as keyed hashes instead of being left out. `sampling_weight` and `household` are
    columns of a sample survey that models such as individual-risk look at. `neutralize_formulas` is about delimited
    text that Kanopy writes, not about `Result.data`.

    `unit` names the column (or columns) that say whose row it is, where several rows are about one person or household:
    then `k` counts these, not rows. `known` is how many rows of one person an attacker may know: 1, more, or "all".
    Without it that is 1, and "all" where something published ties the rows of a person together (a pseudonym, say).

    `margin` is how much more than the least loss a release may have: among such releases a secret chooses.

    `sample` is the share of the rows, or of the people, that the release is about; a secret draws them.

    `protect` says per column that is no quasi-identifier how its values are treated, such as rounding or date shift.

    A quasi-identifier may hold lists (what somebody bought), as such or as texts with what `separators` say between
    their elements: then `known` is how many elements of a list others may know.

    All mistakes are told at once:

    >>> Job(quasi="age", k=1, metric="los")
    Traceback (most recent call last):
    kanopy.extend.JobError: 2 settings are wrong:
      - k must be a whole number of at least 2, not 1. With k = 1 every row may be unique.
      - metric must be ... not 'los'. Did you mean 'loss'?
    """

    quasi: Annotated[tuple[str, ...], ColumnNames(), "columns that an attacker may know; they are generalized"] = ()
    k: Annotated[
        int,
        Optional(AtLeastTwo()),
        "rows (people, with a unit) that share each published combination; 1 only with a model such as individual-risk",
    ] = UNSAID
    suppress: Annotated[float, Share(), "rows that may be suppressed"] = 0.0
    hierarchies: Annotated[
        Mapping[str, HierarchySource],
        MapOf(HierarchyGiven()),
        "per column a file, a method with its parameters, or a Hierarchy",
        usage.HIERARCHIES,
    ] = field(default_factory=dict)
    sensitive: Annotated[
        tuple[str, ...], ColumnNames(), "columns that are published unchanged; models can guard them"
    ] = ()
    identifiers: policies.Identifiers = ()
    insensitive: policies.Insensitive = ()
    metric: Annotated[str, OneOf(known=known_metrics), "the loss to minimise"] = "loss"
    algorithm: Annotated[
        str,
        Optional(Text("the name of an algorithm", usable=known_algorithm)),
        "parameters of the search; optimal, or best if local",
    ] = UNSAID
    parameters: Annotated[Mapping[str, Any], MapOf(Anything(), "{'seed': 1}"), "parameters of the algorithm"] = field(
        default_factory=dict
    )
    min_levels: Annotated[Mapping[str, int], MapOf(Integer(0), "{'age': 1}"), "per column the lowest level"] = field(
        default_factory=dict
    )
    max_levels: Annotated[Mapping[str, int], MapOf(Integer(0), "{'age': 3}"), "per column the highest level"] = field(
        default_factory=dict
    )
    weights: Annotated[
        Mapping[str, float], MapOf(Number(0), "{'age': 2}"), "per column how much its loss counts", policies.WEIGHTS
    ] = field(default_factory=dict)
    missing: Annotated[str, OneOf(*policies.MISSING_POLICIES), "what to do with missing values"] = "as-value"
    missing_tokens: policies.MissingTokens = ()
    unknown: Annotated[
        str, OneOf(*policies.UNKNOWN_POLICIES), "what to do with values that are not in their hierarchy"
    ] = "error"
    suppressed_rows: Annotated[
        str, OneOf(*KEEP_OR_DROP), "keep suppressed rows as *, or drop them", usage.SUPPRESSED_ROWS
    ] = "keep"
    models: Annotated[tuple[Model, ...], Models(), "further privacy models; all must hold"] = ()
    population: Annotated[
        str | None, Optional(Place()), "a table of the population, for models such as k-map", usage.POPULATION
    ] = None
    pseudonymize: policies.Pseudonymized = ()
    local: Annotated[bool, Flag(), "rows with equal values may be published differently", usage.LOCAL] = False
    rest: policies.Rest = LEAVE_OUT
    undecided: policies.Undecided = ()
    withheld: policies.Withheld = ()
    shuffle: policies.Shuffled = None
    allow_dependent: Annotated[policies.AllowDependent, usage.ALLOW_DEPENDENT] = ()
    sampling_weight: usage.SamplingWeight = None
    household: usage.Household = None
    neutralize_formulas: Annotated[bool, Flag(), "put an apostrophe before texts that a spreadsheet would execute"] = (
        False
    )
    unit: Annotated[
        tuple[str, ...], ColumnNames(), "columns that identify the person of a row: the promise counts people, not rows"
    ] = ()
    known: usage.Known = None
    skip_rows: Annotated[int, Integer(0), "rows below the header that are not records: units, questions"] = 0
    column_tokens: Annotated[
        Mapping[str, tuple[str, ...]],
        MapOf(ColumnNames("texts"), "{'age': ['99']}"),
        "per column, texts that mean missing",
    ] = field(default_factory=dict)
    decimals: Annotated[
        Mapping[str, str], MapOf(OneOf(",", "."), "{'pay': ','}"), "per column, the decimal sign of numbers in texts"
    ] = field(default_factory=dict)
    separators: Annotated[
        Mapping[str, str], MapOf(Text("a text"), "{'bought': ';'}"), "per column of lists in texts, their separator"
    ] = field(default_factory=dict)
    repeats: usage.Repeats = ONCE
    protect: Protect = field(default_factory=dict)
    encoding: policies.Encoding = None
    delimiter: policies.Delimited = None
    sheet: policies.Sheet = None
    header_row: policies.HeaderRow = None
    places: usage.Places = field(default_factory=dict)
    margin: usage.Margin = 0.0
    sample: usage.Sample = 1.0
    _said: frozenset[str] = field(init=False, repr=False, default=frozenset())
    _said_protect: Mapping[str, Any] = field(init=False, repr=False, compare=False, default_factory=dict)
    """`protect` as it was given: `protect` itself has what the treatments take from the job, such as its k."""

    if TYPE_CHECKING:
        # What may be given is wider than what is kept.
        def __init__(
            self,
            quasi: Columns = (),
            k: int | None = None,
            suppress: float | str = 0.0,
            hierarchies: Mapping[str, HierarchySource] = ...,
            sensitive: Columns = (),
            identifiers: Columns = (),
            insensitive: Columns = (),
            metric: str = "loss",
            algorithm: str | Algorithm | Masking | None = None,
            parameters: Mapping[str, Any] = ...,
            min_levels: Mapping[str, int] = ...,
            max_levels: Mapping[str, int] = ...,
            weights: Mapping[str, float] = ...,
            missing: str = "as-value",
            missing_tokens: Columns = (),
            unknown: str = "error",
            suppressed_rows: str = "keep",
            models: ModelSource | Sequence[ModelSource] = (),
            population: str | Path | None = None,
            pseudonymize: Columns = (),
            local: bool = False,
            rest: str = LEAVE_OUT,
            undecided: Columns = (),
            withheld: Columns = (),
            shuffle: bool | None = None,
            allow_dependent: Columns = (),
            sampling_weight: str | None = None,
            household: str | None = None,
            neutralize_formulas: bool = False,
            unit: Columns = (),
            known: int | str | None = None,
            skip_rows: int = 0,
            column_tokens: Mapping[str, Columns] = ...,
            decimals: Mapping[str, str] = ...,
            separators: Mapping[str, str] = ...,
            repeats: str = ONCE,
            protect: Mapping[str, Any] = ...,
            encoding: str | None = None,
            delimiter: str | None = None,
            sheet: str | None = None,
            header_row: int | None = None,
            places: Mapping[str, Columns] = ...,
            margin: float = 0.0,
            sample: float | str = 1.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        kinds.take_apart(self)
        object.__setattr__(
            self, "_said", frozenset(name for name in ("k", "algorithm") if getattr(self, name) is not None)
        )
        wrong = self._settled()
        if (
            "k" not in wrong
            and self.k == 1
            and not ("models" not in wrong and any(model.instead_of_k for model in self.models))
        ):
            wrong = {"k": [f"k must be {AtLeastTwo.words}, not 1. {ALONE}"], **wrong}
        mistakes = [mistake for own_mistakes in wrong.values() for mistake in own_mistakes]
        if "algorithm" not in self._said:
            object.__setattr__(self, "algorithm", kinds.default_algorithm(self.local))
        for check, needs in (
            (lambda: settle_roles(self, ROLES, (*self.identifiers, *self.unit)), (*ROLES, "pseudonymize")),
            (lambda: settle_models(self), (*ROLES, "models", "k", "sampling_weight", "household", "sample")),
            (lambda: settle_protection(self), (*ROLES, "protect", "models", "pseudonymize", "separators")),
            (lambda: kinds.wrong_lists(self), ("quasi", "separators")),
            (self._wrong_columns, ("quasi", "min_levels", "max_levels", "weights")),
            (self._settle_parameters, ("algorithm", "parameters", "quasi")),
        ):
            if not wrong.keys() & set(needs):
                mistakes += check()  # type: ignore[no-untyped-call]
        refuse(mistakes)

    def _repr_html_(self) -> str:
        return shown_by("job", {"k": self.k, "algorithm": self.algorithm, **self.to_dict()})

    def _wrong_columns(self) -> Iterator[str]:
        for name in ("min_levels", "max_levels", "weights"):
            if strangers := [column for column in getattr(self, name) if column not in self.quasi]:
                yield f"{name} names columns that are not quasi-identifiers: {some(strangers)}."

    def _settle_parameters(self) -> Iterable[str]:
        """Set the parameters as the algorithm takes them, and say what is wrong with them, like `settle_roles`."""
        from kanopy.search.algorithms import make_algorithm

        mistakes: list[str] = []
        with collected(mistakes):
            if self.masks:
                from kanopy.masking.from_job import job_for_masking

                if self.quasi:
                    job_for_masking(self)
                return ()
            made = make_algorithm(self.algorithm, **self.parameters)
            mistakes += self._wrong_for(made)
            object.__setattr__(self, "parameters", {name: getattr(made, name) for name in self.parameters})
        return mistakes if self.masks else [*mistakes, *self._wrong_target()]

    def _wrong_for(self, algorithm: Algorithm) -> Iterator[str]:
        if self.k == 1 and algorithm.recoding != "full-domain":
            what = f"The algorithm {self.algorithm!r} makes classes of k rows"
            yield f"{what}, and k is 1. Use k = 2 or more, or the algorithm optimal."
        for name, why in kinds.NOT_AVERAGED.items() if algorithm.averages else ():
            if getattr(self, name):
                yield (
                    f"The algorithm {self.algorithm!r} {why}. Leave {name} out, or use an algorithm that generalizes, "
                    "such as 'optimal'."
                )

    def _wrong_target(self) -> Iterator[str]:
        role = None if self.target is None else self.roles.get(self.target)
        if role in ("quasi-identifier", *UNPUBLISHED_ROLES):
            yield (
                f"The target {self.target!r} of {self.algorithm!r} has the role {role}. Name a column that is "
                "published unchanged."
            )

    @property
    def masks(self) -> bool:
        """Whether its algorithm substitutes values instead of generalizing them."""
        return kinds.masks(self.algorithm)

    @property
    def recoding(self) -> str:
        """What its algorithm does to values: one of `RECODINGS`, or "substitution".

        >>> Job(quasi="age").recoding, Job(quasi="age", algorithm="fusion").recoding
        ('full-domain', 'substitution')
        """
        return kinds.recoding_of(self.algorithm)

    @property
    def all_models(self) -> tuple[Model, ...]:
        """k-anonymity, unless k is 1 or no column is generalized, and the other models."""
        from kanopy.privacy.models import KAnonymity

        return (*((KAnonymity(self.k),) if self.k > 1 and (self.quasi or not self.protect) else ()), *self.models)

    @property
    def least_rows(self) -> int:
        """Rows behind whatever is told of several rows at once: k, or the usual one where another model stands in."""
        return self.k if self.k > 1 else DEFAULT_K

    @property
    def known_rows(self) -> int:
        """`known` as a number: 0 where all rows of a unit may be known; 1 where the job says nothing."""
        return known_rows(1 if self.known is None else self.known)

    @property
    def target(self) -> str | None:
        """The column that the algorithm keeps predictable, where it was given one."""
        target = self.parameters.get("target")
        return target if isinstance(target, str) else None

    @property
    def roles(self) -> dict[str, str]:
        """The role of every column that was given one."""
        return {column: role for name, role in ROLES.items() for column in getattr(self, name)}

    def says(self, setting: str) -> bool:
        """Whether k or the algorithm was said, by itself or by a model, and not only found out.

        >>> Job(quasi="age").says("k"), Job(quasi="age", models="k:7").says("k")
        (False, True)
        """
        return setting in self._said

    def replaced(self, **changes: Any) -> Job:
        """A copy with some settings changed; what nobody said is found out anew."""
        settings = {name: getattr(self, name) for name in parameters_of(Job)}
        settings["protect"] = self._said_protect
        unsaid = {"k", "algorithm"} - self._said
        return Job(**{name: value for name, value in settings.items() if name not in unsaid} | changes)

    def with_role(self, column: str, role: str) -> Job:
        """A copy in which a column has another role; what was said of it as a quasi-identifier goes with that role.

        >>> Job(quasi=["age", "sex"], weights={"sex": 2}).with_role("sex", "insensitive").roles
        {'age': 'quasi-identifier', 'sex': 'insensitive'}
        """
        field = next((name for name, called in ROLES.items() if called == role), None)
        if field is None:
            raise JobError(f"There is no role {role!r}. {near_miss(role, ROLES.values())}")
        changes: dict[str, Any] = {
            name: [
                *(column_name for column_name in getattr(self, name) if column_name != column),
                *([column] if name == field else []),
            ]
            for name in ROLES
        }
        if field != "quasi":
            for name in ("hierarchies", "min_levels", "max_levels", "weights", "separators"):
                changes[name] = {
                    column_name: value for column_name, value in getattr(self, name).items() if column_name != column
                }
            changes["parameters"] = {  # such as the columns that are published as plain ranges
                name: tuple(column_name for column_name in value if column_name != column)
                if isinstance(value, tuple)
                else value
                for name, value in self.parameters.items()
            }
        changes["pseudonymize"] = [
            column_name for column_name in self.pseudonymize if column_name != column or field == "identifiers"
        ]
        return self.replaced(**changes)

    def explicit(self) -> Job:
        """The same job with k and algorithm said, as it is written down.

        >>> print(Job(quasi="age").explicit().to_toml().splitlines()[0])
        k = 5
        """
        return self if self.protect and not self.quasi else self.replaced(k=self.k, algorithm=self.algorithm)

    def with_budget(self, budget: float | int | str) -> Job:
        """A copy whose algorithm may take so long (`5s`, `2m`); an error if it cannot be given a time.

        >>> Job(quasi=["age"], local=True).with_budget("1s").parameters
        {'budget_seconds': 1.0}
        """
        from kanopy.search.algorithms import takes_budget, timed_algorithms

        if self.masks or not takes_budget(self.algorithm):
            raise JobError(
                f"The algorithm {self.algorithm!r} takes no budget: it makes one pass, and half a pass gives no "
                f"release. Leave the budget out. Algorithms with a budget: {', '.join(timed_algorithms())}."
            )
        return self.replaced(parameters={**self.parameters, "budget_seconds": taken(Seconds(), budget, "budget")})

    def with_threads(self, threads: int) -> Job:
        """A copy whose search uses so many threads; one that knows nothing of threads is left as it is.

        >>> Job(quasi=["age"], local=True).with_threads(2).parameters
        {'threads': 2}
        """
        from kanopy.search.algorithms import takes

        number = taken(Integer(1), threads, "threads")
        if self.masks or not takes(self.algorithm, "threads"):
            return self
        return self.replaced(parameters={**self.parameters, "threads": number})

    # ---- files --------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what the TOML and JSON forms hold. Hierarchies given as objects are named, not embedded."""
        from kanopy._job.job_file import job_to_dict

        return job_to_dict(self)

    @classmethod
    @checked
    def from_dict(cls, plain: Mapping[str, Any], *, folder: Path | None = None) -> Job:
        """From plain data; paths of hierarchies are taken relative to `folder`."""
        from kanopy._job.job_file import job_from_dict

        return job_from_dict(plain, folder)

    def to_toml(self) -> str:
        """The job as a TOML file."""
        from kanopy._job.job_file import job_to_toml

        return job_to_toml(self)

    @classmethod
    @checked
    def from_toml(cls, text: str, *, folder: Path | None = None) -> Job:
        """From the text of a TOML job file."""
        from kanopy._job.job_file import job_from_text

        return job_from_text(text, folder)

    @classmethod
    @checked
    def read(cls, path: str | Path) -> Job:
        """From a `.toml` or `.json` job file; hierarchy paths are relative to it."""
        from kanopy._job.job_file import read_job

        return read_job(Path(path))
