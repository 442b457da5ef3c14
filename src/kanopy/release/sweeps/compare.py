"""Many algorithms on one table, one job and one judge: what each of them loses, protects, takes and needs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import Cancelled, KanopyError
from kanopy._job.coercion import generalizing_job, listed
from kanopy._job.job import Job
from kanopy._job.parameter_types import known_algorithm, masks, recoding_of
from kanopy._job.usage import require_used
from kanopy._lazy import public
from kanopy._mixins import ReprMixin
from kanopy._parameter_types import as_seconds
from kanopy._progress import SILENT, Callback, Progress
from kanopy._usage import checked
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.release.catalogue import parameters_for
from kanopy.release.prepare import Prepared, make_problem, prepare
from kanopy.release.run import run, search
from kanopy.search.algorithms import ALGORITHMS, algorithm_class, make_algorithm, takes_budget

if TYPE_CHECKING:
    from kanopy._core.classes import Domain
    from kanopy._job.coercion import JobSource
    from kanopy.masking.job import MaskJob

WARM_ROWS = 120
MASKING_TUPLES = 10_000
"""Above this many combinations `all` leaves maskings out: their time grows with the square."""


@dataclass(frozen=True)
class Entry(ReprMixin):
    """One algorithm's release, or the `reason` why there is none. `seconds` are those of the search, after warm-up;
    `memory` is the peak of memory above that before the search, in bytes (`None` where the system does not tell)."""

    algorithm: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    recoding: str = ""
    seconds: float | None = None
    memory: int | None = None
    losses: Mapping[str, float] = field(default_factory=dict)
    classes: int | None = None
    smallest_class: int | None = None
    suppressed: int | None = None
    highest_risk: float | None = None
    average_risk: float | None = None
    optimal: bool = False
    levels: Mapping[str, int] | None = None
    notes: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def name(self) -> str:
        """The algorithm with the parameters that were given."""
        given = {key: value for key, value in self.parameters.items() if key != "budget_seconds"}
        settings = ", ".join(f"{key}={str(value).lower()}" for key, value in given.items())
        return f"{self.algorithm} ({settings})" if settings else self.algorithm

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, **{key: list(v) if isinstance(v, tuple) else v for key, v in self.__dict__.items()}}


@dataclass(frozen=True)
class Comparison(ReprMixin):
    """What every algorithm did with the same table and job; `entries` are in the order of the metric, best first."""

    entries: tuple[Entry, ...]
    metric: str
    k: int
    models: tuple[str, ...]
    rows: int
    columns: tuple[str, ...]
    budget: float | None
    stopped: bool = False
    counted: str = "rows"
    units: int | None = None
    """What classes and risks count, and how many there are of them where it is not rows."""

    @property
    def solved(self) -> tuple[Entry, ...]:
        """The entries that have a release."""
        return tuple(entry for entry in self.entries if entry.reason is None)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that some entry has, the job's first."""
        names = dict.fromkeys([self.metric])
        for entry in self.solved:
            names |= dict.fromkeys(entry.losses)
        return tuple(names)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what `kanopy compare --json` prints."""
        return {
            "metric": self.metric,
            "k": self.k,
            "models": list(self.models),
            "rows": self.rows,
            "columns": list(self.columns),
            "budget_seconds": self.budget,
            "stopped": self.stopped,
            **({} if self.units is None else {"counted": self.counted, "units": self.units}),
            "entries": [entry.to_dict() for entry in self.entries],
        }

    def to_html(self, source: str = "a table") -> str:
        """One page: a picture, the measured table, and what kind of algorithm each is."""
        from kanopy.release.catalogue import algorithms
        from kanopy.report.pages.compare import compare_page

        return compare_page(self.to_dict(), self.metrics, algorithms(), source=source)

    def _repr_html_(self) -> str:
        from kanopy.report import notebook

        return notebook.comparison(self.to_dict())


@public("kanopy")
@checked
def compare(
    data: Any,
    job: JobSource,
    *,
    algorithms: str | Sequence[str] = ("all",),
    budget: float | str | None = None,
    population: Any = None,
    progress: Callback | None = None,
) -> Comparison:
    """Run algorithms on the same table, hierarchies, models and measures; every release is verified.

    `algorithms` are names, perhaps with parameters (`"xu:direction=top-down"`), or "all". An algorithm that cannot
    handle the job says why and the others go on. `budget` is the time for each algorithm that takes one. Compiled code
    is warmed up on a few rows first, so that times can be compared.

    >>> people = {"age": [31, 34, 38, 52, 57, 59], "sex": list("fffmmm")}
    >>> job = Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> [(entry.name, entry.classes) for entry in compare(people, job, algorithms=["datafly", "optimal"]).entries]
    [('optimal', 2), ('datafly', 2)]
    """
    notify = Progress(progress)
    job = generalizing_job(job, "A comparison of algorithms")
    require_used(job, population=population)
    seconds = None if budget is None else as_seconds(budget)
    algorithms = listed(algorithms, "algorithm to compare, or all")
    wanted = [_with_budget(job, *algorithm_and_parameters, seconds) for algorithm_and_parameters in _wanted(algorithms)]
    prepared = prepare(data, job, population=population, progress=notify, generalize=True)
    entries: list[Entry] = []
    stopped = False
    for index, (name, parameters) in enumerate(wanted):
        try:
            notify("comparing", index / len(wanted), name)
            within = _within(notify, name, index, len(wanted))
            entries.append(_entry(prepared, job, name, parameters, within, everything="all" in algorithms))
        except (Cancelled, KeyboardInterrupt):
            stopped = True
            break
    metric = job.metric
    entries.sort(
        key=lambda e: (e.reason is not None, round(e.losses.get(metric, float("inf")), 12), not e.optimal, e.name)
    )
    model_names = tuple(model.name for model in job.models)
    return Comparison(
        tuple(entries), metric, int(job.k), model_names, prepared.frame.height, prepared.names, seconds, stopped,
        prepared.domain.counted, None if prepared.units is None else prepared.units.count,
    )  # fmt: skip


def _wanted(given: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Names with parameters; `all` stands for every algorithm and its variants."""
    wanted: list[tuple[str, dict[str, Any]]] = []
    for text in map(str, given):
        if text.strip() == "all":
            for name in (*ALGORITHMS, *MASKINGS):
                variants = () if masks(name) else algorithm_class(name).variants
                wanted += [(name, {}), *((name, dict(extra)) for extra in variants)]
            continue
        name, _, rest = text.strip().partition(":")
        name = known_algorithm(name)
        wanted.append((name, parameters_for(name, rest.split("+") if rest else ())))
    return [entry for index, entry in enumerate(wanted) if entry not in wanted[:index]]


def _with_budget(job: Job, name: str, given: dict[str, Any], seconds: float | None) -> tuple[str, dict[str, Any]]:
    """Parameters: those of the job for its own algorithm, those given, and the budget where one is taken."""
    parameters = {**(job.parameters if name == job.algorithm else {}), **given}
    if not masks(name):
        if seconds is not None and takes_budget(name):
            parameters["budget_seconds"] = seconds
        make_algorithm(name, **parameters)
    return name, parameters


def _within(notify: Progress, name: str, index: int, count: int) -> Progress:
    """Progress of one algorithm as a part of all."""
    if not notify.active:
        return SILENT

    def show(step: Any) -> bool | None:
        notify(f"{name}: {step.stage}", (index + (step.fraction or 0.0)) / count, step.note)
        return None

    return Progress(show)


def _entry(
    prepared: Prepared, job: Job, name: str, parameters: dict[str, Any], notify: Progress, *, everything: bool
) -> Entry:
    """One algorithm's release of the table, or why there is none."""
    substitutes = masks(name)
    recoding = recoding_of(name)
    tuples = len(prepared.domain.counts)
    if substitutes and everything and tuples > MASKING_TUPLES:
        reason = f"left out of 'all' above {MASKING_TUPLES:,} combinations (here {tuples:,}): name it to run it"
        return Entry(name, parameters, recoding, reason=reason)
    try:
        asked = job.replaced(algorithm=name, parameters=parameters, pseudonymize=())
        entry_job: Job | MaskJob = asked
        if substitutes:
            # The table was read as the job says; the metric ranks those that generalize.
            read = {"metric": "loss", "suppressed_rows": "keep", "local": False, "skip_rows": 0, "decimals": {}}
            prepared = prepare(prepared.frame, asked.replaced(**read))
            entry_job = prepared.job
        else:
            _warm_up(prepared.domain, asked)
        memory = _Memory()
        started = time.perf_counter()
        solution = search(prepared, entry_job, notify)
        seconds, peak = time.perf_counter() - started, memory.peak()
        result = run(prepared, entry_job, found=solution)
    except (Cancelled, KeyboardInterrupt):
        raise
    except KanopyError as error:
        return Entry(name, parameters, recoding, reason=str(error))
    notes = solution.notes
    if substitutes:
        notes = (f"semantic quality {result.score:.4f} (1: as it was)", *result.notes)
    # A masking has no hierarchies and so no losses of generalization: only what it protects and takes.
    losses = {} if substitutes else result.losses
    return Entry(name, parameters, recoding, seconds, peak, losses, notes=notes, **result.figures())


def _warm_up(domain: Domain, job: Job) -> None:
    """Solve a few rows, so that compiling is not timed; whatever goes wrong there does not matter."""
    usable = np.flatnonzero(domain.tuple_of_row >= 0)[:WARM_ROWS]
    parameters = dict(job.parameters)
    if takes_budget(job.algorithm):
        parameters["budget_seconds"] = 0.2
    try:
        few = job.replaced(k=min(int(job.k), max(2, len(usable) // 8)), parameters=parameters)
        make_algorithm(few.algorithm, **few.parameters).solve(make_problem(domain.part(usable), few), SILENT)
    except KanopyError:
        pass


class _Memory:
    """How far memory rose while something ran; Linux lets a process reset and read its own peak."""

    def __init__(self) -> None:
        import ctypes
        import gc

        self._start: int | None = None
        gc.collect()
        with suppress(OSError, AttributeError):
            # Freed memory goes back to the system first, or using it again would not count.
            ctypes.CDLL(None).malloc_trim(0)
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            self._start = _status("VmRSS")

    def peak(self) -> int | None:
        """Bytes above the start, at the highest."""
        if self._start is None:
            return None
        return max(0, _status("VmHWM") - self._start)


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name}")
