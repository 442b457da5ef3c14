"""The only judge of a full-domain candidate: groups, asks the models, prices the loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs, Mask
from kanopy._core.classes import Domain, Recoding, full_domain_recoding
from kanopy._core.numbering import number_keys
from kanopy._errors import HierarchyError, JobError
from kanopy._lazy import cached_property, public
from kanopy.metrics.full_domain import AttributeCosts, AttributeMetric, ClassMetric, Loss, Metric
from kanopy.privacy.models import KAnonymity, Model
from kanopy.search.class_statistics import ClassStatistics
from kanopy.search.class_tables import ClassTable, ClassTables, Memory
from kanopy.search.judge import LevelJudgement
from kanopy.search.lattice import Lattice, Levels
from kanopy.search.people import PeopleOfLevels
from kanopy.search.rollup_kernel import tally

SECONDS_EACH, SECONDS_PER_CLASS = 4e-5, 2.5e-8
"""What judging a candidate takes, and rolling up one of the classes it is made from."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """Which classes the models find unsafe, whether the others are safe together, and how many rows this and every
    finer candidate must suppress (`None`: all that are suppressed here)."""

    violated: Mask
    safe_together: bool = True
    least_suppressed: int | None = None


@public("kanopy.extend")
class Problem:
    """A domain, what "safe" means, what counts as loss, and the levels that are allowed.

    Every search asks `evaluate(levels)`; caching, roll-up and bounds live here.
    """

    def __init__(
        self,
        domain: Domain,
        models: Sequence[Model],
        metric: Metric | None = None,
        *,
        weights: Sequence[float] | None = None,
        suppression_limit: float = 0.0,
        lowest_levels: Sequence[int] | None = None,
        highest_levels: Sequence[int] | None = None,
    ) -> None:
        if not 0.0 <= suppression_limit <= 1.0:
            raise JobError(f"The suppression limit must lie between 0 and 100 %, not {suppression_limit:.0%}.")
        self.suppression_limit = suppression_limit
        self.domain = domain
        self.models = tuple(models)
        self.metric: Metric = metric if metric is not None else Loss()
        self.weights = tuple(weights) if weights is not None else (1.0,) * domain.width
        if len(self.weights) != domain.width or min(self.weights) < 0 or sum(self.weights) <= 0:
            raise JobError("Weights must be zero or more, one per quasi-identifier, and not all zero.")
        self.max_suppressed_rows = int(np.floor(suppression_limit * domain.rows + 1e-9))
        heights = tuple(h.height for h in domain.hierarchies)
        self.lattice = Lattice(
            tuple(lowest_levels) if lowest_levels is not None else (0,) * domain.width,
            tuple(highest_levels) if highest_levels is not None else heights,
        )
        for name, level, height in zip(domain.names, self.lattice.highest, heights, strict=True):
            if level > height:
                raise JobError(f"{name} has levels 0 to {height}; the highest level cannot be {level}.")
        self.class_statistics = ClassStatistics(domain, self.models)
        self.judged = self._looked_at = 0
        self._cheapest: dict[tuple[int, int], tuple[Floats, Floats]] = {}

    @property
    def work_seconds(self) -> float:
        """What judging has taken so far, in seconds of an ordinary machine (see `kanopy.search.budget`)."""
        made = {id(tables): tables for name in ("tables", "full_tables") if (tables := self.__dict__.get(name))}
        looked_at: int = sum(tables.looked_at for tables in made.values())
        return SECONDS_EACH * self.judged + SECONDS_PER_CLASS * (looked_at + self._looked_at)

    def account_for(self, copy: Problem) -> None:
        """What was judged of a copy was judged of this problem: whoever gave it to a search pays for that."""
        if copy is not self:
            self._looked_at += round((copy.work_seconds - SECONDS_EACH * copy.judged) / SECONDS_PER_CLASS)
            self.judged += copy.judged

    def changed(self, **different: Any) -> Problem:
        """The same problem with some of its arguments given anew."""
        given: dict[str, Any] = {
            "domain": self.domain, "models": self.models, "metric": self.metric, "weights": self.weights,
            "suppression_limit": self.suppression_limit,
            "lowest_levels": self.lattice.lowest, "highest_levels": self.lattice.highest,
        }  # fmt: skip
        return Problem(**(given | different))

    def narrowed(self, lowest: Levels, highest: Levels, memory: Memory) -> Problem:
        """The same problem between other levels; what does not depend on levels is not worked out again.

        Its first table is made in `memory`, which nobody else may use while the problem is in use.
        """
        subproblem = self.changed(lowest_levels=lowest, highest_levels=highest)
        for name in ("costs", "_extra", "_cost_arrays"):
            subproblem.__dict__[name] = getattr(self, name)
        subproblem.__dict__["tables"] = ClassTables(self.domain, subproblem.lattice, finer=self.tables, memory=memory)
        return subproblem

    @cached_property
    def k(self) -> int:
        """The class size that the models ask for, one way or another (1 if none does)."""
        return max((model.least_size for model in self.models), default=1)

    @cached_property
    def of_sizes(self) -> bool:
        """Whether `k` says it all: the models look at nothing but the size of each class."""
        return self.domain.units is None and all(isinstance(model, KAnonymity) for model in self.models)

    @cached_property
    def people(self) -> PeopleOfLevels | None:
        """The judge of candidates by people, where rows have units."""
        return None if self.domain.units is None else PeopleOfLevels(self)

    @cached_property
    def monotonic(self) -> bool:
        """Whether everything more general than a feasible candidate is feasible.

        Where rows may be suppressed that takes models for which the rows to be suppressed never grow; where none
        may, it is enough that a union of safe classes is safe.
        """
        if self.domain.units is not None:
            safe = all(model.monotonic_with_units and not model.of_release for model in self.models)
        elif self.max_suppressed_rows:
            safe = all(model.monotonic_with_suppression and not model.of_release for model in self.models)
        else:
            safe = all(model.monotonic for model in self.models)
        return safe and all(h.nested for h in self.domain.hierarchies)

    def require_nesting(self) -> None:
        """Roll-ups and pruning need hierarchies that nest; say which does not."""
        for name, hierarchy in zip(self.domain.names, self.domain.hierarchies, strict=True):
            if not hierarchy.nested:
                raise HierarchyError(
                    f"The hierarchy of {name} does not nest: two values that share a group at one level can part "
                    "again at a higher one, so classes cannot be rolled up and a coarser release can be less safe. "
                    "Use a hierarchy whose levels nest (for divisors: chain=True)."
                )

    @cached_property
    def level_limits(self) -> bool:
        """Whether some column may not be published as it is, or not be generalized to the top."""
        tops = (h.height for h in self.domain.hierarchies)
        return any(self.lattice.lowest) or any(a < b for a, b in zip(self.lattice.highest, tops, strict=True))

    # ---- judging ------------------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> ClassTables:
        """Class tables of candidates, rolled up on demand."""
        self.require_nesting()
        return ClassTables(self.domain, self.lattice)

    @cached_property
    def full_tables(self) -> ClassTables:
        """Class tables with histograms, for models that look at more than sizes."""
        self.require_nesting()
        class_statistics = self.class_statistics
        if not class_statistics.columns and class_statistics.population is None:
            return self.tables
        return ClassTables(self.domain, self.lattice, counted=class_statistics.tuples())

    @cached_property
    def costs(self) -> tuple[AttributeCosts, ...]:
        """Per attribute what each level costs under the metric; `loss` where the metric looks at classes only."""
        metric = self.metric if isinstance(self.metric, AttributeMetric) else Loss()
        pairs = zip(self.domain.hierarchies, self.domain.marginals, strict=True)
        return tuple(metric.costs(h, marginal, self.domain.rows) for h, marginal in pairs)

    @cached_property
    def _extra(self) -> tuple[Floats, Longs]:
        """All extra costs in one array, and where each attribute's levels begin in it."""
        most = max(len(c.extras) for c in self.costs)
        starts = np.zeros((len(self.costs), most), np.int64)
        pieces: list[Floats] = []
        length = 0
        for j, cost in enumerate(self.costs):
            for level, piece in enumerate(cost.extras):
                starts[j, level] = length
                pieces.append(piece)
                length += len(piece)
        return np.concatenate(pieces), starts

    def verdict(self, levels: Levels, table: ClassTable, *, bound: bool = False) -> Verdict:
        """Which classes of a candidate's table some model finds unsafe, and what follows for finer candidates.

        `table` comes from `full_tables`. Classes below the size that the models ask for are not looked at further.
        How many rows must go is only worked out where it decides something, or with `bound=True`.
        """
        large = table.sizes >= self.k
        classes = self.class_statistics.classes(table, self.full_tables.packing, levels, large)
        opinions = [(model, model.violated(classes)) for model in self.models if not isinstance(model, KAnonymity)]
        wrong = np.zeros(classes.count, np.bool_)
        for _, unsafe in opinions:
            wrong |= unsafe
        others = [model for model in self.models if model.of_others]
        left = wrong.copy()
        while others and left.any():
            # What is left once these classes are gone may be unsafe without them.
            published = large.copy()
            published[large] = ~wrong
            classes_left = self.class_statistics.classes(table, self.full_tables.packing, levels, published)
            left = np.any([model.violated(classes_left) for model in others], axis=0)
            wrong[np.flatnonzero(~wrong)[left]] = True
        violated = ~large
        violated[large] = wrong
        least = int(table.sizes.sum() - classes.sizes.sum())
        if bound or least + int(classes.sizes[wrong].sum()) > self.max_suppressed_rows:
            must_suppress = np.zeros(classes.count, np.int64)
            for model, unsafe in opinions:
                np.maximum(must_suppress, model.must_go(classes, unsafe), out=must_suppress)
            least += int(np.minimum(must_suppress, classes.sizes).sum())
        safe = self._safe_together(levels, table, violated)
        broken = not safe and all(m.monotonic for m in self.models if m.of_release)
        broken |= any(bool(violated.any()) for model, violated in opinions if model.monotonic)
        if broken and self.max_suppressed_rows == 0:
            least = max(least, 1)
        return Verdict(violated, safe, least)

    def verdicts(self, candidates: Sequence[tuple[Levels, ClassTable]], *, bound: bool = False) -> list[Verdict]:
        """Verdicts on several candidates at once: models look at all their classes together.

        What follows for finer candidates is only worked out with `bound=True`.
        """
        class_statistics, of_release = self.class_statistics, any(model.of_release for model in self.models)
        if class_statistics.quasi or class_statistics.survey is not None or of_release or len(candidates) < 2:
            return [self.verdict(levels, table, bound=bound) for levels, table in candidates]
        tables = [table for _, table in candidates]
        sizes = np.concatenate([table.sizes for table in tables])
        violated = sizes < self.k
        pieces = [table.histogram[table.sizes >= self.k] for table in tables if table.histogram is not None]
        large = ~violated
        joined = ClassTable(tables[0].keys, sizes[large], np.concatenate(pieces) if pieces else None)
        classes = self.class_statistics.classes(joined, self.full_tables.packing, candidates[0][0])
        wrong = np.zeros(classes.count, np.bool_)
        must_suppress = np.zeros(classes.count, np.int64)
        for model in self.models:
            if not isinstance(model, KAnonymity):
                unsafe = model.violated(classes)
                wrong |= unsafe
                if bound:
                    np.maximum(must_suppress, model.must_go(classes, unsafe), out=must_suppress)
        least = np.where(violated, sizes, 0)
        least[large] = np.minimum(must_suppress, classes.sizes)
        violated[large] = wrong
        ends = np.cumsum([table.count for table in tables])
        sums = np.diff(np.concatenate([[0], np.cumsum(least)])[np.concatenate([[0], ends])])
        parts = zip(np.split(violated, ends[:-1]), sums.tolist(), strict=True)
        return [Verdict(violated, True, total) for violated, total in parts]

    def _safe_together(self, levels: Levels, table: ClassTable, violated: Mask) -> bool:
        """Whether the models of the whole release accept the classes that are kept."""
        models = [model for model in self.models if model.of_release]
        if not models:
            return True
        packing = self.full_tables.packing
        published = self.class_statistics.classes(table, packing, levels, ~violated)
        everything = self.class_statistics.classes(table, packing, levels)
        return all(model.satisfied(published, everything) for model in models)

    def evaluate(self, levels: Levels, /, ceiling: float = math.inf) -> LevelJudgement:
        """Judge one candidate.

        A candidate that cannot score `ceiling` or less may be called infeasible without being looked at closely.
        """
        self.judged += 1
        table = self.tables.table(levels)
        if self.of_sizes:
            return self.judge_table(levels, table, Verdict(table.sizes < self.k))
        return self.judge_fully(levels, self.judge_table(levels, table, Verdict(table.sizes < self.k)), ceiling)

    def judge_fully(self, levels: Levels, by_sizes: LevelJudgement, ceiling: float) -> LevelJudgement:
        """Judge a candidate that is known to pass or fail by class sizes.

        Most candidates fail by sizes alone, or are beaten whatever the models say: their histograms are not made.
        """
        beaten = not isinstance(self.metric, ClassMetric) and by_sizes.score > ceiling
        if not by_sizes.feasible or beaten:
            return replace(by_sizes, feasible=False, score=math.inf)
        if self.people is not None:
            return self.people.evaluate(levels)
        table = self.full_tables.table(levels)
        return self.judge_table(levels, table, self.verdict(levels, table))

    def judge_table(self, levels: Levels, table: ClassTable, verdict: Verdict) -> LevelJudgement:
        """Judge a candidate whose class table and unsafe classes are at hand."""
        packing = self.tables.packing
        extra, starts = self._extra
        start = starts[self._attributes, np.array(levels)]
        sums = np.empty(len(levels))
        classes, suppressed, squares = tally(
            table.keys, table.sizes, verdict.violated, packing.word, packing.shift, packing.mask,
            extra, start, sums, self.max_suppressed_rows,
        )  # fmt: skip
        feasible = suppressed <= self.max_suppressed_rows and verdict.safe_together
        score = math.inf
        if feasible:
            score = self.score(levels, classes, suppressed, squares, sums)
        all_squares = int(np.dot(table.sizes, table.sizes))
        least = suppressed if verdict.least_suppressed is None else verdict.least_suppressed
        return LevelJudgement(
            feasible=feasible, score=score, suppressed_rows=suppressed, levels=levels, classes=classes,
            all_classes=table.count, all_squares=all_squares, least_suppressed=least,
        )  # fmt: skip

    def score(self, levels: Levels, classes: int, suppressed: int, squares: int, extra: Floats) -> float:
        """The metric of a candidate, given its counts and what suppression costs each attribute."""
        metric = self.metric
        if isinstance(metric, ClassMetric):
            return metric.score(self.domain.rows, classes, suppressed + self.domain.excluded_rows, squares)
        totals, offsets, scales = self._cost_arrays
        cost = totals[self._attributes, np.array(levels)] + extra
        losses = np.maximum(0.0, (cost - offsets) / scales)
        return float(metric.combine(losses, self.weights))

    @cached_property
    def _attributes(self) -> npt.NDArray[np.intp]:
        return np.arange(self.domain.width)

    @cached_property
    def _cost_arrays(self) -> tuple[Floats, Floats, Floats]:
        """Totals `[attribute, level]`, offsets and scales (infinite where nothing can be lost)."""
        most = max(len(c.totals) for c in self.costs)
        totals = np.zeros((len(self.costs), most))
        for j, c in enumerate(self.costs):
            totals[j, : len(c.totals)] = c.totals
        offsets = np.array([c.offset for c in self.costs])
        scales = np.array([c.scale if c.scale > 0 else np.inf for c in self.costs])
        return totals, offsets, scales

    def lower_bounds(self, least_suppressed: Longs | None = None) -> Floats:
        """For every candidate, a score it cannot go below, from one-attribute counts alone.

        `least_suppressed` are rows each candidate must suppress; whichever they are, they cost each attribute at
        least as much as the cheapest rows of its level.
        """
        lattice = self.lattice
        if isinstance(self.metric, ClassMetric):
            return np.zeros(lattice.shape)
        if least_suppressed is None or not least_suppressed.any():
            losses = list(lattice.spread([c.loss(c.totals) for c in self.costs]))
        else:
            losses = [self._losses_with(least_suppressed, j) for j in range(self.domain.width)]
        bounds = self.metric.combine(losses, self.weights)
        return np.ascontiguousarray(np.broadcast_to(bounds, lattice.shape))

    def _losses_with(self, suppressed: Longs, j: int) -> Floats:
        """Lower bounds on the loss of attribute `j` over the grid, given rows that must be suppressed."""
        losses = np.empty(self.lattice.shape)
        for i, number in enumerate(range(self.lattice.lowest[j], self.lattice.highest[j] + 1)):
            filled, spent = self._cheapest_rows(j, number)
            index = (slice(None),) * j + (i,)
            losses[index] = self.costs[j].loss(
                self.costs[j].totals[number] + np.interp(suppressed[index], filled, spent)
            )  # fmt: skip
        return losses

    def _cheapest_rows(self, j: int, number: int) -> tuple[Floats, Floats]:
        """Rows of attribute `j` at a level, those that cost least to suppress first, and what they cost together."""
        sorted_costs = self._cheapest.get((j, number))
        if sorted_costs is None:
            level, extras = self.domain.hierarchies[j].level(number), self.costs[j].extras[number]
            rows = np.bincount(level.codes, weights=self.domain.marginals[j], minlength=level.size)
            cheapest = np.argsort(extras, kind="stable")
            filled = np.concatenate([[0.0], np.cumsum(rows[cheapest])])
            spent = np.concatenate([[0.0], np.cumsum((rows * extras)[cheapest])])
            sorted_costs = self._cheapest[j, number] = (filled, spent)
        return sorted_costs

    def recoding(self, levels: Levels) -> Recoding:
        """The release of a candidate: its labels, with violating classes suppressed."""
        if self.people is not None:
            return self.people.recoding(levels)
        pairs = zip(self.domain.hierarchies, levels, strict=True)
        packing = self.tables.packing
        keys = packing.pack(self.domain.tuples, [h.level(level).codes for h, level in pairs])
        if self.of_sizes and packing.words == 1:
            of_tuple = number_keys(keys[0]).number
            sizes = np.bincount(of_tuple, weights=self.domain.counts)
            return full_domain_recoding(self.domain, levels, sizes[of_tuple] < self.k)
        table = self.full_tables.table(levels)
        bad = table.keys[:, self.verdict(levels, table).violated]
        return full_domain_recoding(self.domain, levels, _members(keys, bad))


def _members(keys: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> Mask:
    """Which columns of `keys` are among the columns of `wanted`."""
    if wanted.shape[1] == 0:
        return np.zeros(keys.shape[1], np.bool_)
    if len(keys) == 1:
        return np.isin(keys[0], wanted[0])
    _, inverse = np.unique(np.concatenate([keys, wanted], axis=1), axis=1, return_inverse=True)
    inverse = inverse.reshape(-1)
    return np.isin(inverse[: keys.shape[1]], inverse[keys.shape[1] :])
