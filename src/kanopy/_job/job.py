"""`Job`: what the user wants, without any data and without any engine.

A job can be written in Python, as a dictionary, or as a commented TOML file; all three say the same.
"""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError, near_miss, some
from kanopy._job.toml_text import toml_key, toml_value
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.hierarchy import Hierarchy

if TYPE_CHECKING:
    from kanopy.privacy.models import Model

HierarchySource = Hierarchy | Builder | str | Path | Mapping[str, Any]
"""A hierarchy itself, a builder, a file, or `{"method": "iotf", …}`."""

KEEP_OR_DROP = ("keep", "drop")


class _Unsaid(int):
    """A k that nobody asked for: a model may say another without contradiction."""


class _UnsaidName(str):
    """An algorithm that nobody named: allowing local recoding changes it."""


DEFAULT_K = _Unsaid(5)
DEFAULT_ALGORITHM = _UnsaidName("optimal")
LOCAL_ALGORITHM = _UnsaidName("best")


def as_share(value: float | int | str, what: str = "suppression limit") -> float:
    """A share from a number between 0 and 1 or a text such as `2%`.

    >>> as_share("2%"), as_share(0.05)
    (0.02, 0.05)
    """
    try:
        if isinstance(value, str):
            text = value.strip()
            share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        else:
            share = float(value)
    except (TypeError, ValueError):
        raise JobError(f"The {what} {value!r} is not a share. Write 2% or 0.02.") from None
    if not 0.0 <= share <= 1.0:
        raise JobError(f"The {what} must lie between 0 and 100 %, not {value}. Write 2% or 0.02.")
    return share


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def as_seconds(value: float | int | str, what: str = "budget") -> float:
    """Seconds from a number or a text such as `500ms`, `30s`, `5m`.

    >>> as_seconds("1.5s"), as_seconds("2m"), as_seconds(5)
    (1.5, 120.0, 5.0)
    """
    text = str(value).strip().lower()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = text[len(number) :].strip() or "s"
    try:
        seconds = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise JobError(f"The {what} {value!r} is no time. Write 500ms, 5s or 2m.") from None
    if not 0 < seconds < math.inf:
        raise JobError(f"The {what} must be more than 0 seconds, not {value}. Write 500ms, 5s or 2m.")
    return seconds


@dataclass(frozen=True)
class Job:
    """What to publish, and how safe it must be.

    >>> job = Job(quasi=["age", "sex"], k=5, suppress="2%")
    >>> job.suppress, Job.from_toml(job.to_toml()) == job
    (0.02, True)

    `quasi` columns are generalized; `identifiers` never leave; `sensitive` and `insensitive` columns are published
    as they are. `min_levels`, `max_levels` and `weights` are per quasi-identifier. `missing` says what a missing
    value is (`as-value`, `suppress`, `error`), `unknown` what a value is that its hierarchy does not know (`error`,
    `suppress`, `add`). `suppressed_rows` are kept with `*` in every quasi-identifier, or dropped.

    `local` allows rows with equal values to be published differently, which loses far less; unless an `algorithm` is
    named, "best" then takes the place of "optimal". `parameters` are the algorithm's own.

    `models` are privacy models besides k-anonymity, such as `"t-equal:income:0.2"`; all must hold. The columns they
    name become sensitive. `population` is the table that models such as k-map compare with. `pseudonymize` names
    identifiers that are published as keyed hashes instead of being left out.
    """

    quasi: tuple[str, ...] = ()
    k: int = DEFAULT_K
    suppress: float = 0.0
    hierarchies: Mapping[str, HierarchySource] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    metric: str = "loss"
    algorithm: str = DEFAULT_ALGORITHM
    parameters: Mapping[str, Any] = field(default_factory=dict)
    min_levels: Mapping[str, int] = field(default_factory=dict)
    max_levels: Mapping[str, int] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    missing: str = "as-value"
    missing_tokens: tuple[str, ...] = ()
    unknown: str = "error"
    suppressed_rows: str = "keep"
    models: tuple[Model, ...] = ()
    population: str | None = None
    pseudonymize: tuple[str, ...] = ()
    local: bool = False

    def __post_init__(self) -> None:
        for name in ("quasi", "sensitive", "identifiers", "insensitive", "missing_tokens", "pseudonymize"):
            object.__setattr__(self, name, column_names(getattr(self, name), name))
        object.__setattr__(self, "suppress", as_share(self.suppress))
        for name in ("hierarchies", "parameters", "min_levels", "max_levels", "weights"):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise JobError(f"{name} must say something per name, such as {{'age': …}}, not {given!r}.")
            object.__setattr__(self, name, dict(given))
        if not isinstance(self.local, bool):
            raise JobError(f"local is either true or false, not {self.local!r}.")
        if isinstance(self.algorithm, _UnsaidName):
            object.__setattr__(self, "algorithm", LOCAL_ALGORITHM if self.local else DEFAULT_ALGORITHM)
        self._read_models()
        self._check()

    def _read_models(self) -> None:
        """Models from their short forms; the k they ask for is the job's, the columns they name are sensitive."""
        from kanopy.privacy.models import KAnonymity, make_models

        given = make_models(self.models)
        sizes = sorted({model.k for model in given if isinstance(model, KAnonymity)})
        if len(sizes) > 1 or (sizes and sizes[0] != self.k and not isinstance(self.k, _Unsaid)):
            asked = sizes if isinstance(self.k, _Unsaid) else sorted({self.k, *sizes})
            raise JobError(f"The models contradict each other: k is {' and '.join(map(str, asked))}. Give one k.")
        if sizes:
            object.__setattr__(self, "k", _Unsaid(sizes[0]))
        object.__setattr__(self, "models", tuple(model for model in given if not isinstance(model, KAnonymity)))
        hidden = [name for model in self.models for name in model.hidden]
        for model in self.models:
            for name in model.sensitive:
                self._claim(name, model.name, "identifiers" if name in hidden else "sensitive")
            for name in model.quasi:
                if name not in self.quasi:
                    raise JobError(
                        f"The model {model.name!r} names {name!r}, which is not a quasi-identifier. "
                        f"{near_miss(name, self.quasi)}"
                    )
        if self.population is not None:
            object.__setattr__(self, "population", str(self.population))
        strangers = [name for name in self.pseudonymize if name not in self.identifiers]
        for name in strangers:
            if name in self.roles:
                raise JobError(f"Only identifiers can be pseudonymized; {name!r} is a {self.roles[name]}.")
        object.__setattr__(self, "identifiers", (*self.identifiers, *strangers))

    def _claim(self, column: str, model: str, role: str) -> None:
        """Give a column the role that a model needs, unless it has another."""
        has = self.roles.get(column)
        needed = "identifier" if role == "identifiers" else "sensitive"
        if has == needed:
            return
        if has == "identifier":
            raise JobError(
                f"The model {model!r} names {column!r}, which identifies people and is not published. Name a sensitive "
                "column."
            )
        if has == "quasi-identifier":
            raise JobError(
                f"The model {model!r} names {column!r}, which is a quasi-identifier: it is generalized, so it cannot "
                "be protected as sensitive too. Give it one role."
            )
        if has is not None and role == "identifiers":
            raise JobError(f"The column {column!r} of the model {model!r} must not be published, but is {has}.")
        if has == "insensitive":
            raise JobError(f"The model {model!r} names {column!r}, which the job calls insensitive. Call it sensitive.")
        object.__setattr__(self, role, (*getattr(self, role), column))

    @property
    def all_models(self) -> tuple[Model, ...]:
        """k-anonymity and the other models."""
        from kanopy.privacy.models import KAnonymity

        return (KAnonymity(int(self.k) if isinstance(self.k, _Unsaid) else self.k), *self.models)

    def _check(self) -> None:
        from kanopy._table.encode import MISSING_POLICIES, UNKNOWN_POLICIES
        from kanopy.metrics.full_domain import metric_named
        from kanopy.privacy.models import KAnonymity

        KAnonymity(self.k)
        metric_named(self.metric)
        self._check_algorithm()
        roles: dict[str, str] = {}
        for role in ("quasi", "sensitive", "identifiers", "insensitive"):
            for column in getattr(self, role):
                if column in roles:
                    raise JobError(f"The column {column!r} has two roles: {roles[column]} and {role}. Give it one.")
                roles[column] = role
        for given, known, what in (
            (self.missing, MISSING_POLICIES, "missing"),
            (self.unknown, UNKNOWN_POLICIES, "unknown"),
            (self.suppressed_rows, KEEP_OR_DROP, "suppressed_rows"),
        ):
            if given not in known:
                raise JobError(f"There is no policy {what}={given!r}. {near_miss(str(given), known)}")
        for name in ("min_levels", "max_levels", "weights"):
            strangers = [column for column in getattr(self, name) if column not in self.quasi]
            if strangers:
                raise JobError(f"{name} names columns that are not quasi-identifiers: {some(strangers)}.")
        self._check_columns()

    def _check_columns(self) -> None:
        for what, levels in (("lowest", self.min_levels), ("highest", self.max_levels)):
            for column, level in levels.items():
                if isinstance(level, bool) or not isinstance(level, int) or level < 0:
                    raise JobError(f"The {what} level of {column!r} must be a whole number from 0 on, not {level!r}.")
        for column, weight in self.weights.items():
            number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
            if not number or not 0 <= weight < math.inf:
                raise JobError(f"The weight of {column!r} must be a number of zero or more, not {weight!r}.")
        for column, source in self.hierarchies.items():
            if not isinstance(source, (Hierarchy, str, Path, Mapping)) and not hasattr(source, "build"):
                raise JobError(
                    f"The hierarchy of {column!r} must be a Hierarchy, a file or a method like {{'method': 'iotf'}}, "
                    f"not {type(source).__name__}. Hierarchy.from_rows(…) makes one from rows of labels."
                )

    def _check_algorithm(self) -> None:
        from kanopy.masking.names import MASKING_NAMES
        from kanopy.search.algorithms import make_algorithm

        if self.algorithm in MASKING_NAMES:
            if self.quasi:
                from kanopy.masking.job import job_for_masking

                job_for_masking(self)
        else:
            make_algorithm(self.algorithm, **self.parameters)
            role = None if self.target is None else self.roles.get(self.target)
            if role in ("quasi-identifier", "identifier"):
                raise JobError(
                    f"The target {self.target!r} of {self.algorithm!r} has the role {role}. Name a column that is "
                    "published as it is."
                )

    @property
    def target(self) -> str | None:
        """The column that the algorithm keeps predictable, where it was given one."""
        found = self.parameters.get("target")
        return found if isinstance(found, str) else None

    @property
    def roles(self) -> dict[str, str]:
        """The role of every column that was given one."""
        return {
            **dict.fromkeys(self.quasi, "quasi-identifier"),
            **dict.fromkeys(self.sensitive, "sensitive"),
            **dict.fromkeys(self.identifiers, "identifier"),
            **dict.fromkeys(self.insensitive, "insensitive"),
        }

    def replaced(self, **changes: Any) -> Job:
        """A copy with some settings changed."""
        return dataclasses.replace(self, **changes)

    def with_budget(self, budget: float | int | str) -> Job:
        """A copy whose algorithm may take so long (`5s`, `2m`); an error if it cannot be given a time.

        >>> Job(quasi=["age"], local=True).with_budget("1s").parameters
        {'budget_seconds': 1.0}
        """
        from kanopy.masking.names import MASKING_NAMES
        from kanopy.search.algorithms import takes_budget, timed_algorithms

        if self.algorithm in MASKING_NAMES or not takes_budget(self.algorithm):
            raise JobError(
                f"The algorithm {self.algorithm!r} has no time budget: it runs to its end. With a budget: "
                f"{', '.join(timed_algorithms())}."
            )
        return self.replaced(parameters={**self.parameters, "budget_seconds": as_seconds(budget)})

    # ---- files --------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what the TOML and JSON forms hold. Hierarchies given as objects are named, not embedded."""
        columns: dict[str, dict[str, Any]] = {}
        for role, names in (
            ("quasi-identifier", self.quasi),
            ("sensitive", self.sensitive),
            ("identifier", self.identifiers),
            ("insensitive", self.insensitive),
        ):
            for name in names:
                columns[name] = {"role": role}
        for name, source in self.hierarchies.items():
            columns.setdefault(name, {})["hierarchy"] = _source_to_plain(source)
        for key, values in (
            ("min-level", self.min_levels),
            ("max-level", self.max_levels),
            ("weight", self.weights),
        ):
            for name, value in values.items():
                columns[name][key] = value
        plain: dict[str, Any] = {
            "k": int(self.k),
            "suppress": self.suppress,
            "metric": self.metric,
            "algorithm": {"name": self.algorithm, **self.parameters} if self.parameters else self.algorithm,
            "missing": self.missing,
            "unknown": self.unknown,
            "suppressed-rows": self.suppressed_rows,
        }
        if self.local:
            plain["local"] = True
        if self.missing_tokens:
            plain["missing-tokens"] = list(self.missing_tokens)
        if self.population is not None:
            plain["population"] = self.population
        if self.pseudonymize:
            plain["pseudonymize"] = list(self.pseudonymize)
        if self.models:
            plain["models"] = [model.to_dict() for model in self.models]
        plain["columns"] = columns
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], *, folder: Path | None = None) -> Job:
        """From plain data; paths of hierarchies are taken relative to `folder`."""
        if not isinstance(plain, Mapping) or not isinstance(plain.get("columns", {}), Mapping):
            raise JobError("A job holds settings by name, and its columns by theirs. `kanopy init DATA` writes one.")
        known = {
            "k", "suppress", "metric", "algorithm", "missing", "unknown", "suppressed-rows", "missing-tokens", "models",
            "population", "pseudonymize", "local",
        }  # fmt: skip
        for key in plain:
            if key not in known | {"columns"}:
                raise JobError(f"The job has an unknown setting {key!r}. {near_miss(key, [*known, 'columns'])}")
        options: dict[str, Any] = {
            key.replace("-", "_"): value for key, value in plain.items() if key in known and key != "algorithm"
        }
        if folder is not None and isinstance(options.get("population"), str):
            options["population"] = str(folder / options["population"])
        algorithm = plain.get("algorithm", DEFAULT_ALGORITHM)
        if isinstance(algorithm, Mapping):
            options["parameters"] = {key: value for key, value in algorithm.items() if key != "name"}
            algorithm = algorithm.get("name", DEFAULT_ALGORITHM)
        options["algorithm"] = algorithm
        lists: dict[str, list[str]] = {"quasi": [], "sensitive": [], "identifiers": [], "insensitive": []}
        per_column: dict[str, dict[str, Any]] = {"hierarchies": {}, "min_levels": {}, "max_levels": {}, "weights": {}}
        for name, column in dict(plain.get("columns", {})).items():
            _read_column(name, column, lists, per_column, folder)
        return cls(**options, **lists, **per_column)  # type: ignore[arg-type]

    def to_toml(self) -> str:
        """The job as a TOML file."""
        plain = self.to_dict()
        columns = plain.pop("columns")
        models = plain.pop("models", [])
        lines = [f"{key} = {toml_value(value)}" for key, value in plain.items()]
        for name, settings in columns.items():
            lines += ["", f"[columns.{toml_key(name)}]"]
            lines += [f"{key} = {toml_value(value)}" for key, value in settings.items()]
        for model in models:
            lines += ["", "[[models]]", *(f"{toml_key(key)} = {toml_value(value)}" for key, value in model.items())]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str, *, folder: Path | None = None) -> Job:
        """From the text of a TOML job file."""
        try:
            plain = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise JobError(f"The job file is not valid TOML: {error}.") from error
        return cls.from_dict(plain, folder=folder)

    @classmethod
    def read(cls, path: str | Path) -> Job:
        """From a `.toml` or `.json` job file; hierarchy paths are relative to it."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise JobError(f"There is no job file {str(path)!r}. `kanopy init DATA` writes one.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise JobError(f"The job file {str(path)!r} cannot be read: {error}.") from error
        if path.suffix == ".json":
            try:
                return cls.from_dict(json.loads(text), folder=path.parent)
            except json.JSONDecodeError as error:
                raise JobError(f"The job file {str(path)!r} is not valid JSON: {error}.") from error
        return cls.from_toml(text, folder=path.parent)


_COLUMN_KEYS = {"min-level": "min_levels", "max-level": "max_levels", "weight": "weights"}
_ROLES = {
    "quasi-identifier": "quasi",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "insensitive": "insensitive",
}


def _read_column(
    name: str,
    column: Any,
    lists: dict[str, list[str]],
    per_column: dict[str, dict[str, Any]],
    folder: Path | None,
) -> None:
    if not isinstance(column, Mapping):
        raise JobError(f'[columns.{name}] must hold settings such as role = "quasi-identifier".')
    for key, value in column.items():
        if key == "role":
            if value not in _ROLES:
                raise JobError(f"The column {name!r} has an unknown role {value!r}. {near_miss(str(value), _ROLES)}")
            lists[_ROLES[value]].append(name)
        elif key == "hierarchy":
            if isinstance(value, str) and folder is not None:
                value = str(folder / value)
            per_column["hierarchies"][name] = value
        elif key in _COLUMN_KEYS:
            per_column[_COLUMN_KEYS[key]][name] = value
        else:
            known = ["role", "hierarchy", *_COLUMN_KEYS]
            raise JobError(f"The column {name!r} has an unknown setting {key!r}. {near_miss(key, known)}")


def _source_to_plain(source: HierarchySource) -> Any:
    if isinstance(source, Hierarchy):
        return {"given": f"{source.size} values, {source.height + 1} levels"}
    if isinstance(source, Mapping):
        return dict(source)
    if isinstance(source, (str, Path)):
        return str(source)
    from kanopy.hierarchy.builders.registry import BUILDERS

    method = next(name for name, kind in BUILDERS.items() if type(source) is kind)
    defaults = {f.name: f.default for f in dataclasses.fields(source)}
    changed = {key: v for key, v in dataclasses.asdict(source).items() if v != defaults.get(key)}
    return {"method": method, **changed}


def column_names(given: str | Iterable[str], what: str) -> tuple[str, ...]:
    """Names from a list or from a text with commas, each once.

    >>> column_names("age, sex", "quasi")
    ('age', 'sex')
    """
    if isinstance(given, str):
        names = tuple(part.strip() for part in given.split(",") if part.strip())
    elif isinstance(given, Iterable):
        names = tuple(given)
    else:
        raise JobError(f"{what} must be names of columns, not {given!r}.")
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise JobError(f"{what} must be names of columns, not {some(wrong)}.")
    return tuple(dict.fromkeys(names))
