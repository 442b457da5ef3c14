"""The map of risk and utility: many releases of one table, and those that no other beats.

Every point is a release for one k, one suppression limit, one set of models and one algorithm. Under k-anonymity alone
the optimal full-domain releases of all k and limits come from one pool of judged candidates; other points are searched
one by one on the same encoded table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, JobError, KanopyError, NoSolution
from kanopy._files import write_whole
from kanopy._job.coercion import generalizing_job, listed
from kanopy._job.inputs import chosen_automatically
from kanopy._job.job import Job
from kanopy._job.parameter_types import known_algorithm, masks
from kanopy._job.reading_rules import read_records
from kanopy._job.usage import require_used
from kanopy._lazy import public
from kanopy._mixins import ReprMixin
from kanopy._parameter_types import as_share
from kanopy._progress import Callback, Progress
from kanopy._usage import checked
from kanopy.release.prepare import Prepared, make_problem, prepare
from kanopy.release.run import run

if TYPE_CHECKING:
    from kanopy._core.classes import Domain
    from kanopy._job.coercion import JobSource
    from kanopy.privacy.models import Model, ModelSource
    from kanopy.release.result import Result
    from kanopy.search.problem import Problem
    from kanopy.search.solution import Solution

MOST_POINTS = 20_000
STATE_FORMAT = "kanopy-explore"


@dataclass(frozen=True)
class Point(ReprMixin):
    """One release. `reason` says why there is none; then the numbers are `None`.

    `highest_risk` is one over the smallest class, `average_risk` classes over published rows; where people are counted,
    those of the person easiest to find, and of people on average.
    """

    k: int
    suppress: float
    models: tuple[str, ...]
    algorithm: str
    loss: float | None = None
    highest_risk: float | None = None
    average_risk: float | None = None
    suppressed: int | None = None
    classes: int | None = None
    smallest_class: int | None = None
    levels: dict[str, int] | None = None
    optimal: bool = False
    reason: str | None = None
    best: bool = False
    """Whether no other point has both less loss and less risk."""

    @property
    def key(self) -> str:
        """What tells points apart."""
        return json.dumps([self.k, self.suppress, list(self.models), self.algorithm])

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in self.__dict__.items()}


@dataclass(frozen=True)
class Exploration(ReprMixin):
    """All points of a grid, and how much work they took."""

    points: tuple[Point, ...]
    metric: str
    rows: int
    judged: int
    counted: str = "rows"
    units: int | None = None
    """What classes and risks count, and how many there are of them where it is not rows."""

    @property
    def front(self) -> tuple[Point, ...]:
        """The points that no other beats in both loss and risk, by rising risk."""
        return tuple(sorted((p for p in self.points if p.best), key=lambda p: (p.highest_risk or 0, p.loss or 0)))

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what `kanopy explore --json` prints."""
        return {
            "metric": self.metric,
            "rows": self.rows,
            "judged": self.judged,
            **({} if self.units is None else {"counted": self.counted, "units": self.units}),
            "points": [point.to_dict() for point in self.points],
        }

    def to_html(self, source: str = "a table") -> str:
        """One page: the map of risk and utility, and every point as a table."""
        from kanopy.report.pages.explore import explore_page

        return explore_page(self.to_dict(), source)

    def _repr_html_(self) -> str:
        from kanopy.report import notebook

        return notebook.exploration(self.to_dict())


@public("kanopy")
@checked
def explore(
    data: Any,
    job: JobSource,
    *,
    ks: Sequence[int] | int | None = None,
    limits: Sequence[float | str] | None = None,
    models: Sequence[Sequence[ModelSource]] | None = None,
    algorithms: str | Sequence[str] | None = None,
    population: Any = None,
    progress: Callback | None = None,
    state: str | Path | None = None,
) -> Exploration:
    """Search every combination of k, limit, set of models and algorithm.

    What is not given is the job's own. `state` names a file that keeps finished points: run again with the same table
    and job to go on where an interrupted run stopped.

    >>> people = {"age": [31, 34, 38, 52, 57, 59], "sex": list("fffmmm")}
    >>> job = Job(quasi=["age", "sex"], k=2, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> [(point.k, round(point.loss, 3), point.best) for point in explore(people, job, ks=[2, 3]).points]
    [(2, 0.2, True), (3, 0.2, True)]
    """
    notify = Progress(progress)
    job = generalizing_job(job, "A map of risk and loss")
    if algorithms is not None:
        algorithms = [known_algorithm(str(name)) for name in listed(algorithms, "algorithm")]
    limits = None if limits is None else listed(limits, "limit of suppressed rows")
    models = None if models is None else listed(models, "set of models")
    ks = [job.k] if ks is None else listed(ks, "k to explore, e.g. 2..20")
    grid = _grid(job, ks, limits, models, algorithms)
    require_used(*(case.job.replaced(suppress=max(case.limits)) for case in grid), population=population)
    pools = _Pools(data, job, grid, population, notify)
    domain = pools.first.prepared.domain
    members = domain.rows if domain.units is None else domain.units.count
    if max(ks) > members:
        raise JobError(
            f"k goes up to {max(ks):,} but the table has only {members:,} {domain.counted}. Choose smaller ones."
        )
    book = _Book(state, _fingerprint(domain, job))
    total = sum(len(case.ks) * len(case.limits) for case in grid)
    for case in grid:
        for pool, case_part in pools.parts(case):
            for point in pool.points(case_part, book.points, lambda: len(book.points) / total):
                book.add(point)
    wanted = [key for case in grid for key in case.point_keys()]
    points = [book.points[key] for key in wanted]
    units = None if domain.units is None else domain.units.count
    return Exploration(_marked(points), job.metric, domain.rows, pools.judged, domain.counted, units)


@dataclass(frozen=True)
class _Case:
    """Points that differ only in k and limit."""

    job: Job
    names: tuple[str, ...]
    ks: tuple[int, ...]
    limits: tuple[float, ...]

    def point_keys(self) -> list[str]:
        return [self.point(k, limit).key for k in self.ks for limit in self.limits]

    def point(self, k: int, limit: float, **numbers: Any) -> Point:
        return Point(k, limit, self.names, self.job.algorithm, **numbers)


def _grid(
    job: Job,
    ks: Sequence[int],
    limits: Sequence[float | str] | None,
    models: Sequence[Sequence[ModelSource]] | None,
    algorithms: Sequence[str] | None,
) -> list[_Case]:
    from kanopy.privacy.models import KAnonymity, make_models

    for k in ks:
        KAnonymity(k)
    shares = tuple(sorted({as_share(limit) for limit in (limits if limits is not None else [job.suppress])}))
    sets = [make_models(model_source) for model_source in models] if models is not None else [job.models]
    cases = []
    for model_set in sets:
        if any(isinstance(model, KAnonymity) for model in model_set):
            raise JobError("Leave 'k' out of the models: the values of k are named separately.")
        for algorithm in algorithms or [job.algorithm]:
            if masks(algorithm):
                raise JobError(
                    f"{algorithm!r} substitutes answers by meaning: it has no loss of hierarchies for a map. Name "
                    "algorithms that generalize."
                )
            parameters = job.parameters if algorithm == job.algorithm else {}
            wanted = job.replaced(
                k=min(ks), models=model_set, algorithm=algorithm, parameters=parameters, pseudonymize=()
            )
            names = tuple(_short(model) for model in model_set)
            cases.append(_Case(wanted, names, tuple(sorted(set(ks))), shares))
    # One prepared table serves all points: a column that one set of models protects is sensitive for the others too.
    sensitive = tuple(dict.fromkeys(name for case in cases for name in case.job.sensitive))
    cases = [replace(case, job=case.job.replaced(sensitive=sensitive)) for case in cases]
    points = sum(len(case.ks) * len(case.limits) for case in cases)
    if points > MOST_POINTS:
        raise JobError(f"{points:,} points are too many; at most {MOST_POINTS:,}. Explore fewer k, limits or models.")
    return cases


def _short(model: Model) -> str:
    """A model as it is written on the command line, near enough to tell models apart."""
    parts = model.to_dict()
    column = parts.pop("column", None)
    name = parts.pop("name")
    rest = ",".join(str(value) for value in parts.values())
    return ":".join(str(text) for text in (name, column, rest) if text)


class _Pools:
    """A pool for each set of hierarchies: those that are chosen automatically may differ with k, limit and algorithm,
    and a point is the release that `anonymize` gives."""

    def __init__(self, data: Any, job: Job, grid: Sequence[_Case], population: Any, notify: Progress) -> None:
        self._models = tuple(dict.fromkeys(model for case in grid for model in case.job.models))
        self._population, self._tell = population, notify
        self._pools: dict[str, _Pool] = {}
        self._known: dict[tuple[int, float, bool], _Pool] = {}
        self._chosen = any(chosen_automatically(job.hierarchies.get(name)) for name in job.quasi)
        self._records = read_records(data, job)
        case = grid[0]
        self.first = self._pool(case, case.ks[0], case.limits[0])

    @property
    def judged(self) -> int:
        """Candidates judged in all of them."""
        return sum(pool.judged for pool in self._pools.values())

    def parts(self, case: _Case) -> Iterator[tuple[_Pool, _Case]]:
        """The points of a case by the pool they come from."""
        if not self._chosen:
            yield self.first, case
            return
        for limit in case.limits:
            pools_found: dict[int, tuple[_Pool, list[int]]] = {}
            for k in case.ks:
                pool = self._pool(case, k, limit)
                pools_found.setdefault(id(pool), (pool, []))[1].append(k)
            for pool, ks in pools_found.values():
                yield pool, replace(case, ks=tuple(ks), limits=(limit,))

    def _pool(self, case: _Case, k: int, limit: float) -> _Pool:
        key = (k, limit, case.job.recoding == "full-domain")
        if key not in self._known:
            job = case.job.replaced(
                k=k, suppress=limit, models=self._models, skip_rows=0
            )  # skipped when they were read
            prepared = prepare(self._records, job, population=self._population, progress=self._tell, generalize=True)
            pool = _Pool(prepared, self._tell)
            self._known[key] = self._pools.setdefault(_fingerprint(prepared.domain, job), pool)
        return self._known[key]


def _counts_work(job: Job, problem: Problem) -> bool:
    """Whether where a search ends depends on the work it does."""
    from kanopy.search.algorithms import make_algorithm, takes_budget
    from kanopy.search.full_domain.optimal import Optimal

    if not takes_budget(job.algorithm):
        return False
    search = make_algorithm(job.algorithm, **job.parameters)
    if not isinstance(search, Optimal):
        return True
    return search.budget_seconds is not None or problem.lattice.size > search.most_candidates


class _Pool:
    """Work that points share: the encoded table, class tables, judged candidates, and releases verified before."""

    def __init__(self, prepared: Prepared, notify: Progress) -> None:
        self.prepared = prepared
        self.true_labels: set[tuple[str, int]] = set()
        self.notify = notify
        self.judged = 0
        self._tables: Any = None

    def points(self, case: _Case, points_known: dict[str, Point], done: Any) -> Iterator[Point]:
        """The points of a case that are not known yet."""
        from kanopy.metrics.full_domain import ClassMetric
        from kanopy.search.algorithms import algorithm_class
        from kanopy.search.full_domain.optimal import Optimal

        open_keys = [key for key in case.point_keys() if key not in points_known]
        if not open_keys:
            return
        problem = self._problem(case.job, min(case.ks), 0.0)
        by_rows = self.prepared.units is None
        shared = (
            by_rows
            and algorithm_class(case.job.algorithm) is Optimal
            and not case.job.models
            and not isinstance(problem.metric, ClassMetric)
        )
        if shared and problem.lattice.size <= Optimal(**case.job.parameters).most_candidates:
            yield from self._together(case, problem, points_known)
            return
        for k in case.ks:
            for limit in case.limits:
                if case.point(k, limit).key not in points_known:
                    self.notify("exploring", done(), f"k = {k}, limit {limit:.2%}, {case.job.algorithm}")
                    yield self._alone(case, k, limit)

    def _problem(self, job: Job, k: int, limit: float) -> Problem:
        problem = make_problem(self.prepared.domain, job.replaced(k=k, suppress=limit))
        if _counts_work(job, problem):
            # What others have rolled up would be free: such a search would go further than alone.
            return problem
        if self._tables is None:
            problem.require_nesting()
            self._tables = problem.tables
        problem.__dict__["tables"] = self._tables
        return problem

    def _together(self, case: _Case, problem: Problem, points_known: dict[str, Point]) -> Iterator[Point]:
        """Points whose candidates are judged once for every k and limit."""
        from kanopy.release.sweeps.levels import Leveled
        from kanopy.search.full_domain.every_k import EveryK
        from kanopy.search.no_solution import no_solution

        every = EveryK(problem, max(case.ks))
        tables = Leveled(self.prepared, case.job)
        for k, limit, best in every.solve(case.ks, case.limits, self.notify):
            if case.point(k, limit).key in points_known:
                continue
            if best is None:
                yield case.point(k, limit, reason=no_solution(self._problem(case.job, k, limit)).reason)
                continue
            loss = float(best.score)
            figures = tables.figures(best.levels, k, best.suppressed_rows, loss if case.job.metric == "loss" else None)
            yield case.point(k, limit, loss=loss, **figures)
        self.judged += every.judged

    def _alone(self, case: _Case, k: int, limit: float) -> Point:
        from kanopy.search.algorithms import make_algorithm

        problem = self._problem(case.job, k, limit)
        try:
            solution = make_algorithm(case.job.algorithm, **case.job.parameters).solve(problem, self.notify)
        except NoSolution as nothing:
            return case.point(k, limit, reason=nothing.reason)
        self.judged += solution.judged
        release = self._released(case, k, limit, solution)
        loss = solution.score if solution.levels is not None else release.score
        return case.point(k, limit, loss=float(loss), **release.figures())

    def _released(self, case: _Case, k: int, limit: float, solution: Solution) -> Result:
        """The release itself, verified on its labels like any other."""
        job = case.job.replaced(k=k, suppress=limit)
        return run(self.prepared, job, found=solution, true_labels=self.true_labels)


def _marked(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points with those marked that no other beats in both loss and risk."""
    solved = [point for point in points if point.loss is not None]
    order = sorted(solved, key=lambda p: (p.highest_risk, p.loss))
    front: set[str] = set()
    least, risk = float("inf"), float("inf")
    for point in order:
        assert point.loss is not None and point.highest_risk is not None
        if point.loss < least - 1e-12:
            least, risk = point.loss, point.highest_risk
            front.add(point.key)
        elif point.highest_risk == risk and point.loss <= least + 1e-12:
            front.add(point.key)  # the same release, or one just as good
    return tuple(replace(point, best=point.key in front) for point in points)


def _fingerprint(domain: Domain, job: Job) -> str:
    """Tells one table and job from another, without keeping anything of them."""
    digest = hashlib.sha256()
    units = () if domain.units is None else (domain.units.of_row,)
    for array in (domain.tuples, domain.counts, *units, *(column.code_of_row for column in domain.sensitive)):
        digest.update(np.ascontiguousarray(array).tobytes())
    for hierarchy in domain.hierarchies:
        digest.update(hierarchy.table.tobytes() if hierarchy.has_table else hierarchy.tree().tobytes())
    plain = job.to_dict()
    for name in ("k", "suppress", "algorithm", "models"):
        plain.pop(name, None)
    digest.update(json.dumps(plain, sort_keys=True, default=str).encode("utf-8"))
    return digest.hexdigest()


class _Book:
    """Finished points, kept in a file line by line if one is named."""

    def __init__(self, path: str | Path | None, fingerprint: str) -> None:
        self.points: dict[str, Point] = {}
        self._path = None if path is None else Path(path)
        if self._path is None:
            return
        head = {"format": STATE_FORMAT, "version": 1, "of": fingerprint}
        if self._path.exists() and self._path.stat().st_size:
            self._read(head)
            return
        try:
            write_whole(self._path, json.dumps(head) + "\n")
        except DataError as error:
            raise JobError(f"The state file {str(self._path)!r} cannot be written: {error}") from None

    def _read(self, head: dict[str, Any]) -> None:
        assert self._path is not None
        name = str(self._path)
        try:
            first, *lines = self._path.read_text(encoding="utf-8").splitlines()
            header = json.loads(first)
            if not isinstance(header, dict) or header.get("format") != STATE_FORMAT:
                raise ValueError("not a state file")
        except (OSError, ValueError):
            raise JobError(f"{name!r} is not a state file of `kanopy explore`. Name another, or delete it.") from None
        if header != head:
            raise JobError(
                f"The state file {name!r} belongs to another table, hierarchies or job. Name another, or delete it."
            )
        good = first + "\n"
        for line in lines:
            try:
                plain = json.loads(line)
            except ValueError:
                break  # the last line of a run that was killed while writing it
            good += line + "\n"
            plain["models"] = tuple(plain["models"])
            point = Point(**plain)
            self.points[point.key] = point
        if good != self._path.read_text(encoding="utf-8"):
            write_whole(self._path, good)

    def add(self, point: Point) -> None:
        """Remember a point, on disk too."""
        self.points[point.key] = point
        if self._path is not None:
            try:
                with self._path.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(point.to_dict()) + "\n")
            except OSError as error:
                raise KanopyError(f"The state file {str(self._path)!r} cannot be written: {error.strerror}.") from None
