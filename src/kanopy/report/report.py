"""Numbers first: what a release did, what it cost, how safe it is. Pages and files only word these numbers.

`build_report(facts)` computes everything once; `Report.to_dict` is the same for machines (no cell of the table in it,
and of the hierarchies only labels that are published anyway), `to_html` for people, `to_script` to run it again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kanopy._arrays import Ints
from kanopy._core.classes import Classes, Domain
from kanopy._core.units import KNOWN_ALL
from kanopy._mixins import DictMixin, ReprMixin
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.risk.class_sizes import Risk, SizeBin, risk, size_histogram
from kanopy.privacy.sizes import KAnonymity
from kanopy.report.text import described_models, lost_words, methods_of

if TYPE_CHECKING:
    from kanopy.privacy.models import Model
    from kanopy.search.bound.bound import Bound
    from kanopy.search.solution import Solution


MOST_LABELS = 1_000
"""Columns with more published labels than this name only the first ones in the JSON."""
UNTOUCHED = ("sensitive", "insensitive")
"""The roles of columns that are published unchanged."""

FREE = -1
"""The "level" of labels that were made without a hierarchy (ranges over the rows of a group)."""


@dataclass(frozen=True)
class Preview(ReprMixin):
    """A few rows as text. `numbers` are their row numbers in the source, from 0; empty means 0, 1, 2, …

    A `None` cell is missing. Suppressed rows that the release leaves out are simply not among `numbers`.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    numbers: tuple[int, ...] = ()

    def row_numbers(self) -> tuple[int, ...]:
        """The row number of each row."""
        return self.numbers or tuple(range(len(self.rows)))


@dataclass(frozen=True, eq=False)
class Findings(ReprMixin):
    """What a closer look at the original and the release found, as plain data (see `kanopy.study.release_study`).

    `before` and `after` are what `RiskAssessment.to_dict` gives, `utility` what `Assessment.to_dict` gives;
    `distributions` name no value that fewer than `least_rows` rows have. `notes` say what was left out, and why.
    """

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    utility: Mapping[str, Any] | None = None
    distributions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    least_rows: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Facts(ReprMixin):
    """Everything a report needs: no dataframes, only a small preview.

    `verification["verified"]` is whether the second opinion agreed; its other entries are shown as they are.
    `missing_rows` and `unknown_rows` count rows per column (a row can count in several columns).
    `seconds` maps stages to time; `losses` the name of a loss to its value for the release; `column_losses` likewise
    per quasi-identifier. `look` finds out more about both tables when the page is made, `manifest` is value-free JSON,
    and `bound` says how small the loss of any local recoding can be. `about_suppressed` says
    which sensitive values suppressed rows are published with. Rows that were `shuffled` are numbered as published.
    `job_toml` and `private_notes` may name values of the table: only the steward's own page shows them. Nothing is left
    of `wiped` columns; `advice` are changes that would help, `attacks` what attacks found.
    """

    domain: Domain
    solution: Solution
    models: tuple[Model, ...]
    metric: str
    weights: tuple[float, ...]
    suppression_limit: float
    losses: dict[str, float]
    column_losses: dict[str, float]
    roles: dict[str, str]
    missing_policy: str
    missing_rows: dict[str, int]
    unknown_policy: str
    unknown_rows: dict[str, int]
    before: Preview
    after: Preview
    classes_before: Classes
    verification: dict[str, Any]
    seconds: dict[str, float]
    source: str
    job_toml: str
    version: str
    notes: tuple[str, ...] = ()
    look: Callable[[], Findings] | None = None
    manifest: Callable[[], str] | None = None
    bound: Bound | None = None
    about_suppressed: tuple[str, ...] = ()
    treatments: tuple[Mapping[str, Any], ...] = ()
    treated_studies: tuple[Any, ...] = ()
    shuffled: bool = False
    public_job_toml: str = ""
    private_notes: tuple[str, ...] = ()
    wiped: tuple[str, ...] = ()
    advice: tuple[Mapping[str, Any], ...] = ()
    attacks: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LevelUse:
    """How much of the release stands at one level of a hierarchy; level -1 is "without a hierarchy"."""

    level: int
    rows: int
    share: float


@dataclass(frozen=True, eq=False)
class ColumnReport(ReprMixin):
    """One quasi-identifier: its hierarchy and what became of it. `level` is `None` for local recodings."""

    name: str
    hierarchy: Hierarchy
    level: int | None
    weight: float
    loss: float | None
    level_uses: tuple[LevelUse, ...]
    published_labels: tuple[str, ...]

    @property
    def unchanged(self) -> bool:
        """Whether every published value is an original one."""
        return all(use.level == 0 for use in self.level_uses)

    def to_dict(self) -> dict[str, Any]:
        """For machines: the published labels, none of the others."""
        return {
            "name": self.name,
            "level": self.level,
            "height": self.hierarchy.height,
            "values": self.hierarchy.size,
            "level_sizes": level_sizes(self.hierarchy),
            "weight": self.weight,
            "loss": self.loss,
            "levels_used": [vars(use) for use in self.level_uses],
            "published_label_count": len(self.published_labels),
            "published_labels": list(self.published_labels[:MOST_LABELS]),
        }


@dataclass(frozen=True)
class Suppression(DictMixin):
    """Rows not published, and why. `limit_rows` is how many violating rows the job allows."""

    rows: int
    share: float
    violating: int
    excluded: int
    limit: float
    limit_rows: int

    json_names: ClassVar[Mapping[str, str]] = {"excluded": "excluded_by_policy"}


@dataclass(frozen=True, eq=False)
class Report(ReprMixin):
    """A finished report. Build it with `build_report`."""

    facts: Facts
    classes: Classes
    k: int | None
    holds: bool
    risk_before: Risk
    risk_after: Risk
    sizes_before: tuple[SizeBin, ...]
    sizes_after: tuple[SizeBin, ...]
    columns: tuple[ColumnReport, ...]
    suppression: Suppression
    _pages: dict[bool, str] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """All rows of the table."""
        return self.facts.domain.rows

    @property
    def published_rows(self) -> int:
        """Rows whose quasi-identifiers are in the release."""
        return self.facts.solution.recoding.classes.rows

    @property
    def counted(self) -> str:
        """What promises count: rows, or what units are called."""
        return self.facts.domain.counted

    @property
    def verified(self) -> bool:
        """Whether the second opinion agreed."""
        return self.facts.verification.get("verified") is True

    @property
    def score(self) -> float:
        """The job's metric of the release; what the algorithm itself minimized where that metric is not defined."""
        return self.facts.losses.get(self.facts.metric, self.facts.solution.score)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the algorithm and the run have to say, each once."""
        return tuple(dict.fromkeys((*self.facts.solution.notes, *self.facts.notes)))

    @cached_property
    def findings(self) -> Findings:
        """Risk before and after and what the release is still good for; without tables, what class sizes say."""
        return self.sizes_alone if self.facts.look is None else self.facts.look()

    @property
    def sizes_alone(self) -> Findings:
        """Risk before and after as far as class sizes tell it: no closer look at the tables."""
        return Findings(
            self._of_sizes(self.risk_before, self.sizes_before, self.facts.classes_before),
            self._of_sizes(self.risk_after, self.sizes_after, self.classes),
        )

    def _of_sizes(self, risk_numbers: Risk, bins: tuple[SizeBin, ...], classes: Classes) -> dict[str, Any]:
        """What class sizes alone say, in the form of `RiskAssessment.to_dict`."""
        alike = ("smallest_class", "marketer", "classes", "unique_rows", "unique_share")
        return {
            "rows": self.rows,
            "suppressed": classes.suppressed_rows,
            **{name: getattr(risk_numbers, name) for name in alike},
            "prosecutor": {"highest": risk_numbers.highest_prosecutor, "average": risk_numbers.average_prosecutor},
            "journalist": {
                "basis": "worst-case",
                "highest": risk_numbers.highest_journalist,
                "average": risk_numbers.average_prosecutor,
                "k_map": None,
                "highest_presence": None,
            },
            "rows_at_risk": risk_numbers.to_dict()["rows_above"],
            "class_sizes": _bins(bins),
            "population": None,
            "identifying": None,
            "disclosure": [],
            "attacks": [],
            **self._of_units(),
        }

    def _of_units(self) -> dict[str, Any]:
        units = self.facts.domain.units
        return (
            {} if units is None else {"counted": units.called, "units": units.count, "known": units.known or KNOWN_ALL}
        )

    @cached_property
    def manifest(self) -> str | None:
        """The value-free manifest as JSON text, if the run has one."""
        return None if self.facts.manifest is None else self.facts.manifest()

    @property
    def gap(self) -> float | None:
        """How much of the loss may be avoidable at most, if a bound is known."""
        bound, loss = self.facts.bound, self.facts.losses.get("loss")
        return None if bound is None or loss is None else bound.gap(loss)

    @cached_property
    def sentence(self) -> str:
        """The verdict in one sentence.

        It claims no more than the class sizes show and never that something was verified.
        """
        if self.published_rows == 0:
            return "Nothing is published: every row was suppressed."
        if not self.holds:
            return "This release does not keep its promise. Do not publish it."
        smallest = self.classes.smallest
        promised = smallest if self.k is None else self.k
        if promised < 2:
            return f"The release satisfies its privacy models, but some {self.counted} are unique."
        if units := self.facts.domain.units:
            return f"In its quasi-identifiers, {units.what_fits} could be about at least {promised:,} {units.called}."
        others = "one other" if promised == 2 else f"{promised - 1:,} others"
        return f"In its quasi-identifiers, every published row is indistinguishable from at least {others}."

    @property
    def lost(self) -> str:
        """What must be said first: which columns are wiped, and that most of the detail is gone; else nothing."""
        return lost_words(self.facts.losses.get("loss"), self.facts.wiped)

    @property
    def untouched(self) -> tuple[str, ...]:
        """The columns that are published unchanged, because the job calls them sensitive or insensitive."""
        named = self.facts.roles.items()
        published_names = set(self.facts.after.columns) - methods_of(self.facts.treatments).keys()
        return tuple(name for name, role in named if role in UNTOUCHED and name in published_names)

    def guards(self, column: str) -> list[str]:
        """The privacy models that look at a sensitive column."""
        return [model.name for model in self.facts.models if column in model.sensitive]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values with stable names: no cells, no labels but those the release publishes.

        The first keys are those of `kanopy anonymize --json`.
        """
        facts, solution = self.facts, self.facts.solution
        levels = solution.levels
        plain: dict[str, Any] = _plain(
            {
                "algorithm": solution.algorithm,
                "optimal": solution.optimal,
                "k": self.k,
                "levels": None if levels is None else dict(zip(facts.domain.names, levels, strict=True)),
                "metric": facts.metric,
                "score": self.score,
                "losses": facts.losses,
                "rows": self.rows,
                "suppressed": self.suppression.rows,
                "classes": self.classes.count,
                "smallest_class": self.classes.smallest,
                "judged": solution.judged,
                "candidates": solution.candidates,
                **solution.proved(),
                "verified": self.verified,
                "seconds": facts.seconds,
                "verdict": {"holds": self.holds, "sentence": self.sentence, "untouched": self.untouched},
                "models": described_models(facts.models, self.counted),
                "recoding": "local" if levels is None else "full-domain",
                "published": self.published_rows,
                "roles": facts.roles,
                "columns": [column.to_dict() for column in self.columns],
                "wiped": facts.wiped,
                "advice": facts.advice,
                "suppression": self.suppression.to_dict(),
                "missing": {"policy": facts.missing_policy, "rows": facts.missing_rows},
                "unknown": {"policy": facts.unknown_policy, "rows": facts.unknown_rows},
                "risk": {"before": self.risk_before.to_dict(), "after": self.risk_after.to_dict()},
                "class_sizes": {"before": _bins(self.sizes_before), "after": _bins(self.sizes_after)},
                "verification": facts.verification,
                "treatments": list(facts.treatments),
                "studies": [treated_study.to_dict() for treated_study in facts.treated_studies],
                **({"attacks": dict(facts.attacks)} if facts.attacks else {}),
                "source": facts.source,
                "job": facts.public_job_toml or facts.job_toml,
                "notes": self.notes,
                "version": facts.version,
            }
        )
        return plain

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)

    def to_html(self, *, values: bool = False) -> str:
        """One self-contained page to hand on: no original row, no original value that fewer than k rows have.

        `values=True` makes the steward's own copy, with original rows and all values of the hierarchies.
        """
        if values not in self._pages:
            from kanopy.report.pages.release_page import page
            from kanopy.report.text import counting

            with counting(self.counted):
                self._pages[values] = page(self, values=values)
        return self._pages[values]

    def to_script(self) -> str:
        """A short Python script that runs the same job again and compares."""
        from kanopy.report.script import script

        return script(self)

    def _repr_html_(self) -> str:
        from kanopy.report import notebook

        return notebook.release(self)


def build_report(facts: Facts) -> Report:
    """Compute a report from its facts. Risks leave out suppressed rows (`kanopy.metrics.risk.class_sizes` says why)."""
    domain, recoding = facts.domain, facts.solution.recoding
    classes = domain.counted_classes(recoding)
    excluded = domain.excluded_rows
    suppressed = recoding.suppressed_rows
    sized = [model for model in facts.models if model.of_sizes]
    holds = classes.count > 0 and not any(bool(model.violated(classes).any()) for model in sized)
    return Report(
        facts=facts,
        classes=classes,
        k=max((int(model.k) for model in facts.models if isinstance(model, KAnonymity)), default=None),
        # Models that look at more than class sizes are judged by the verification, which sees all they need.
        holds=holds and facts.verification.get("verified") is not False,
        risk_before=risk(facts.classes_before.sizes, fitting=facts.classes_before.fitting),
        risk_after=risk(classes.sizes, fitting=classes.fitting),
        sizes_before=size_histogram(facts.classes_before.sizes, fitting=facts.classes_before.fitting),
        sizes_after=size_histogram(classes.sizes, fitting=classes.fitting),
        columns=tuple(_column(facts, j) for j in range(domain.width)),
        suppression=Suppression(
            rows=suppressed,
            share=suppressed / domain.rows if domain.rows else 0.0,
            violating=suppressed - excluded,
            excluded=excluded,
            limit=facts.suppression_limit,
            limit_rows=math.floor(facts.suppression_limit * domain.rows + 1e-9),
        ),
    )


def node_levels(hierarchy: Hierarchy) -> Ints:
    """The lowest level at which each node stands; leaves stand at level 0.

    >>> node_levels(Hierarchy.from_parents({"cat": "mammal", "dog": "mammal", "mammal": "animal", "carp": "animal"}))
    array([0, 0, 0, 1, 2], dtype=int32)
    """
    if hierarchy.level_of is not None:
        return hierarchy.level_of
    if not hierarchy.has_table:  # a tree, perhaps too deep for a level table
        levels = (hierarchy.height - hierarchy.depth).astype(np.int32)
        levels[: hierarchy.size] = 0
        return levels
    levels = np.zeros(hierarchy.node_count, np.int32)
    for level in range(hierarchy.height, -1, -1):
        levels[hierarchy.table[level]] = level
    return levels


def level_sizes(hierarchy: Hierarchy) -> list[int]:
    """How many different values each level has, leaf level first, without a level table for deep trees.

    >>> level_sizes(Hierarchy.flat(["a", "b"]))
    [2, 1]
    """
    if hierarchy.has_table or hierarchy.height <= 100:
        return hierarchy.level_sizes
    leaf_depths = np.bincount(hierarchy.depth[: hierarchy.size], minlength=hierarchy.height + 1)
    inner_depths = np.bincount(hierarchy.depth[hierarchy.size :], minlength=hierarchy.height + 1)
    # At level i stand the inner nodes of depth height - i and every leaf that is no deeper.
    upto = np.cumsum(leaf_depths)
    return [int(upto[depth] + inner_depths[depth]) for depth in range(hierarchy.height, -1, -1)]


def _column(facts: Facts, j: int) -> ColumnReport:
    domain, solution = facts.domain, facts.solution
    recoding, hierarchy, name = solution.recoding, domain.hierarchies[j], domain.names[j]
    used = recoding.group_sizes > 0
    codes, sizes = recoding.codes[used, j], recoding.group_sizes[used]
    rows_of_code = np.bincount(codes, weights=sizes, minlength=len(recoding.labels[j])).astype(np.int64)
    level = None if solution.levels is None else int(solution.levels[j])
    published = int(rows_of_code.sum())
    if level is not None:
        rows_of_level = {level: published}
    else:
        nodes = recoding.nodes[j] if recoding.nodes else np.full(len(rows_of_code), -1, np.int32)
        levels = np.where(nodes >= 0, node_levels(hierarchy)[np.maximum(nodes, 0)], FREE)
        rows_of_level = {int(at): int(rows_of_code[levels == at].sum()) for at in np.unique(levels[rows_of_code > 0])}
    return ColumnReport(
        name=name,
        hierarchy=hierarchy,
        level=level,
        weight=float(facts.weights[j]) if facts.weights else 1.0,
        loss=facts.column_losses.get(name),
        level_uses=tuple(
            LevelUse(at, rows, rows / published if published else 0.0) for at, rows in sorted(rows_of_level.items())
        ),
        published_labels=tuple(dict.fromkeys(recoding.labels[j][int(code)] for code in np.flatnonzero(rows_of_code))),
    )


def _bins(bins: tuple[SizeBin, ...]) -> list[dict[str, int]]:
    return [{"from": b.low, "to": b.high, "classes": b.classes, "rows": b.rows} for b in bins]


def _plain(value: Any) -> Any:
    """Only what JSON knows: NumPy numbers become Python's, tuples lists, and numbers that are not finite `null`."""
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, int) else str(value)
