"""The tools of an assistant: tables by their names, jobs that are proposed and edited, releases, risk and utility.

Every tool answers with plain data that went through the gate. Files are named by their names in one folder, and
nothing outside of it is read or written.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from kanopy._errors import JobError, KanopyError, NoSolution, called
from kanopy._job.guess import guess_job
from kanopy._job.job import Job
from kanopy._table.sources import read_table
from kanopy.assistant.approvals import PLACE, Approvals
from kanopy.assistant.gate import Count, Fixed, Gate, header_is_a_row, texts_of
from kanopy.assistant.levels import edited, hierarchy_of, level_table, publishing, source_of
from kanopy.hierarchy.hierarchy import Hierarchy

SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx", ".arrow", ".feather", ".json", ".ndjson")
MOST_VALUES = 50
EDITABLE = (
    "k", "suppress", "algorithm", "local", "metric", "models", "unit", "known", "household", "sampling_weight", "rest",
    "missing", "weights", "max_levels", "min_levels",
)  # fmt: skip
ROLES = ("quasi-identifier", "sensitive", "insensitive", "identifier", "withheld")

Answer = dict[str, Any]
NO_HEADER = (
    "The first line of this table may be a row and not the names of its columns, so it is not described. Ask the "
    "person to add column names that are words and not values of their columns."
)


class HeaderIsARow(Exception):
    """The names of the columns may belong to a person."""


def answering(tool: Callable[..., Answer]) -> Callable[..., Answer]:
    """Have what a tool answers, or the error that ends it, go through the gate and into the log."""

    @functools.wraps(tool)
    def run(self: Session, *args: Any, **given: Any) -> Answer:
        try:
            answer = self.gate.clean(tool(self, *args, **given))
        except HeaderIsARow:
            answer = {"error": "DataError", "message": Fixed(NO_HEADER)}
        except KanopyError as error:
            answer = {"error": type(error).__name__, "message": self.told(str(error))}
            if isinstance(error, NoSolution):
                answer["solution"] = False
        except Exception as error:  # what went wrong inside may quote anything
            answer = {"error": "internal", "message": f"{type(error).__name__}. Run the same with the kanopy command."}
        self.approvals.log(tool.__name__, answer)
        return dict(answer)

    return run


class Session:
    """What one assistant has open: the tables it looked at, its jobs and its releases, each by a name.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "people.csv").write_text("town,ill\\n" + "Lyon,a\\n" * 6 + "Rome,b\\n")
    >>> session = Session(folder, k=5)
    >>> session.describe("people.csv")["columns"][0]["shared_values"]
    {'Lyon': 6}
    """

    def __init__(self, folder: Path, *, k: int = 5) -> None:
        self.folder = folder.resolve(strict=True)
        self.gate = Gate(k)
        self.approvals = Approvals(self.folder)
        self._frames: dict[str, tuple[str, pl.DataFrame]] = {}
        self._guessed: dict[str, tuple[pl.DataFrame, Any]] = {}
        self._jobs: dict[str, tuple[str, Job]] = {}
        self._releases: dict[str, tuple[str, Job, Any]] = {}
        self._withholding = True

    def told(self, message: str) -> Fixed | str:
        """An error as it may be told: withheld where it repeats a value, or where the table could not be read."""
        if not self._withholding and self.gate.passes(message):
            return message
        return Fixed(
            f"The message is withheld: it may repeat a value that fewer than {self.gate.k} rows have. Run the same "
            "with the kanopy command in a terminal to read it."
        )

    # ---- tables ----------------------------------------------------------------------------------------------

    @answering
    def tables(self) -> Answer:
        """The tables in the folder: their names and sizes in bytes."""
        return {"tables": {Fixed(path.name): path.stat().st_size // 1024 for path in self._files()}, "unit": "KiB"}

    @answering
    def describe(self, table: str) -> Answer:
        """The columns of a table: type, missing and different values, and the values that at least k rows share."""
        frame = self._frame(table)
        columns = []
        for column in frame.iter_columns():
            counted = texts_of(column).drop_nulls().value_counts(sort=True, name="rows")
            shared = counted.filter(pl.col("rows") >= self.gate.k)
            columns.append({
                "name": Fixed(column.name), "type": Fixed(str(column.dtype)), "missing": Count(column.null_count()),
                "different": Count(counted.height), "values_of_fewer_rows": Count(counted.height - shared.height),
                "shared_values": {str(value): Count(rows) for value, rows in shared.head(MOST_VALUES).iter_rows()},
            })  # fmt: skip
        return {"table": Fixed(table), "rows": Count(frame.height), "k": self.gate.k, "columns": columns}

    # ---- jobs ------------------------------------------------------------------------------------------------

    @answering
    def propose(self, table: str) -> Answer:
        """Guess a job for a table: the role of each column, how sure that is, and how it would be generalized."""
        frame = self._frame(table)
        if table not in self._guessed or self._guessed[table][0] is not frame:
            self._guessed[table] = frame, guess_job(frame)
        guessed = self._guessed[table][1]
        job = guessed.job
        name = self._keep_job(table, job)
        columns = [
            {"column": Fixed(column["column"]), "role": Fixed(column["role"]), "certainty": Fixed(column["certainty"]),
             "hierarchy": column.get("hierarchy"), "reason": column.get("reason")}
            for column in guessed.columns
        ]  # fmt: skip
        return {"job": Fixed(name), "columns": columns, "undecided": [Fixed(column) for column in job.undecided]}

    @answering
    def show_job(self, job: str) -> Answer:
        """A job as the file it would be; lines that would tell a value are withheld."""
        table, saved_job = self._job(job)
        return {
            "job": Fixed(job),
            "table": Fixed(table),
            "text": [Fixed(line) for line in self.gate.lines(saved_job.to_toml())],
        }

    @answering
    def edit_job(
        self, job: str, settings: Mapping[str, Any] | None = None, roles: Mapping[str, str] | None = None
    ) -> Answer:
        """A new job from one: other settings (k, suppress, models, algorithm, …), other roles of columns."""
        table, saved_job = self._job(job)
        for name in settings or {}:
            called(name, EDITABLE, "setting that an assistant may change")
        saved_job = saved_job.replaced(**dict(settings or {}))
        if saved_job.k < self.gate.k:
            raise JobError(f"k is at least {self.gate.k} here.")
        for column, role in (roles or {}).items():
            called(column, self._frame(table).columns, "column")
            saved_job = saved_job.with_role(column, called(role, ROLES, "role"))
        return {
            "job": Fixed(self._keep_job(table, saved_job)),
            "k": saved_job.k,
            "undecided": [Fixed(column) for column in saved_job.undecided],
        }

    # ---- hierarchies -----------------------------------------------------------------------------------------

    @answering
    def hierarchy(self, job: str, column: str) -> Answer:
        """The hierarchy of a quasi-identifier in a job: per level the labels that at least k rows share."""
        table, saved_job = self._job(job)
        return self._levels(job, table, saved_job, hierarchy_of(self._frame(table), saved_job, column))

    @answering
    def build_hierarchy(
        self, job: str, column: str, method: str, parameters: Mapping[str, Any] | None = None
    ) -> Answer:
        """A new job in which a column has another hierarchy: widths, cuts, dates, prefix, groups, classification, …"""
        table, saved_job = self._job(job)
        name = called(column, saved_job.quasi, "quasi-identifier")
        source = source_of(method, parameters or {})
        saved_job = saved_job.replaced(hierarchies={**saved_job.hierarchies, name: source})
        built = hierarchy_of(self._frame(table), saved_job, name)
        return self._levels(self._keep_job(table, saved_job), table, saved_job, built)

    @answering
    def edit_hierarchy(self, job: str, column: str, edits: list[dict[str, Any]]) -> Answer:
        """A new job with an edited hierarchy: edits such as {"edit": "rename", "label": "[20, 29]", "to": "twenties"};
        also move, merge, split, insert_level and drop_level."""
        table, saved_job = self._job(job)
        changed = edited(hierarchy_of(self._frame(table), saved_job, column), edits)
        saved_job = saved_job.replaced(hierarchies={**saved_job.hierarchies, changed.name: changed})
        return self._levels(self._keep_job(table, saved_job), table, saved_job, changed)

    # ---- releases --------------------------------------------------------------------------------------------

    @answering
    def run(self, job: str) -> Answer:
        """Find and verify the release of a job. Nothing is written."""
        from kanopy.release.run import anonymize

        table, saved_job = self._job(job)
        result = anonymize(self._frame(table), saved_job)
        name = f"release-{len(self._releases) + 1}"
        self._releases[name] = table, saved_job, result
        return {
            "release": Fixed(name), "k": saved_job.k, "smallest_class": Count(result.smallest_class),
            "rows": Count(result.rows), "suppressed": Count(result.suppressed),
            "classes": Count(result.classes), "losses": _fixed_keys(result.losses),
            "column_losses": _fixed_keys(result.column_losses), "levels": _fixed_keys(result.levels or {}),
            "wiped": [Fixed(column) for column in result.wiped], "advice": [str(advice) for advice in result.advice],
        }  # fmt: skip

    @answering
    def explain(self, release: str) -> Answer:
        """Why a release is as it is: what is promised, what was proved of the search, each column, notes and advice."""
        _, saved_job, result = self._release(release)
        solution, heights = result.solution, {name: h.height for name, h in result.hierarchies.items()}
        return {
            "release": Fixed(release), "algorithm": Fixed(saved_job.algorithm), "metric": Fixed(saved_job.metric),
            "publishes": Fixed(publishing(saved_job)),
            "promises": [model.promise(result.counted) for model in saved_job.all_models],
            "search": {} if solution is None else _fixed_keys(solution.proved()) | {
                "candidates": Count(solution.candidates), "judged": Count(solution.judged)},
            "columns": {
                Fixed(name): {"loss": loss, "levels": Count(heights.get(name, 0) + 1),
                              "level": None if result.levels is None else Count(result.levels[name])}
                for name, loss in result.column_losses.items()
            },
            "notes": list(result.notes), "advice": [str(advice) for advice in result.advice],
        }  # fmt: skip

    @answering
    def compare(self, job: str, algorithms: list[str]) -> Answer:
        """Several algorithms on the same job: loss and time of each."""
        from kanopy.release.sweeps.compare import compare

        table, saved_job = self._job(job)
        comparison = compare(self._frame(table), saved_job, algorithms=algorithms).to_dict()
        return {
            "algorithms": {Fixed(entry["name"]): _numbers(entry.get("losses", {})) for entry in comparison["entries"]}
        }

    @answering
    def risk(self, release: str) -> Answer:
        """The risk that people of a release are found again."""
        from kanopy.study.risk_study import assess_risk

        _, saved_job, result = self._release(release)
        assessment = assess_risk(result.published, quasi=list(saved_job.quasi)).to_dict()
        return {"risk": _numbers(assessment)}

    @answering
    def utility(self, release: str) -> Answer:
        """What a release is still good for."""
        from kanopy.study.utility_study import assess

        table, saved_job, result = self._release(release)
        as_run = saved_job.replaced(hierarchies={**saved_job.hierarchies, **result.hierarchies})  # not fitted again
        assessment = assess(self._frame(table), result.frame, as_run, learn=False).to_dict()
        return {"utility": _numbers(assessment)}

    @answering
    def labels(self, release: str, column: str) -> Answer:
        """The labels that a release publishes in a quasi-identifier, with the rows of each that at least k share."""
        _, saved_job, result = self._release(release)
        name = called(column, saved_job.quasi, "quasi-identifier")
        counted = result.published[name].cast(pl.String).value_counts(sort=True, name="rows")
        shared = counted.filter(pl.col("rows") >= self.gate.k).head(MOST_VALUES)
        return {"column": Fixed(name), "labels": {str(label): Count(rows) for label, rows in shared.iter_rows()}}

    @answering
    def write(self, release: str, file: str) -> Answer:
        """Write a release into the folder, once a person has approved it at a terminal."""
        table, saved_job, result = self._release(release)
        target = self._target(file)
        content = hashlib.sha256(self._stamp(table).encode() + saved_job.to_toml().encode())
        for name, hierarchy in result.hierarchies.items():  # an edited one has no words in the job
            content.update(repr((name, list(hierarchy.rows()))).encode())
        request = self.approvals.ask(target.name, table, saved_job.k, content.hexdigest(), publishing(saved_job))
        if self.approvals.is_refused(request):
            return {"written": False, "request": Fixed(request.number), "state": Fixed("refused by a person")}
        if not self.approvals.is_approved(request):
            say = "Ask the person to run `kanopy mcp FOLDER --approve` in a terminal, then call write again."
            return {"written": False, "request": Fixed(request.number), "state": Fixed("waiting"), "next": Fixed(say)}
        result.write(target)
        self.approvals.use(request)
        return {"written": True, "file": Fixed(target.name)}

    # ---- inside ----------------------------------------------------------------------------------------------

    def _files(self) -> list[Path]:
        return [
            path for path in sorted(self.folder.iterdir())
            if path.suffix.lower() in SUFFIXES and path.is_file() and not path.is_symlink()
        ]  # fmt: skip

    def _stamp(self, table: str) -> str:
        status = (self.folder / table).stat()
        return f"{table}:{status.st_size}:{status.st_mtime_ns}"

    def _frame(self, table: str) -> pl.DataFrame:
        name = called(table, [path.name for path in self._files()], "table in the folder")
        stamp = self._stamp(name)
        if name not in self._frames or self._frames[name][0] != stamp:
            self._withholding = True
            frame = read_table(self.folder / name)
            if header_is_a_row(frame):
                raise HeaderIsARow
            self.gate.learn(frame)
            self._frames[name] = stamp, frame
        self._withholding = False
        return self._frames[name][1]

    def _levels(self, job: str, table: str, saved_job: Job, hierarchy: Hierarchy) -> Answer:
        levels = level_table(hierarchy, self._frame(table), saved_job, self.gate, MOST_VALUES)
        return {"job": Fixed(job), "column": Fixed(hierarchy.name), "levels": levels}

    def _keep_job(self, table: str, job: Job) -> str:
        name = f"job-{len(self._jobs) + 1}"
        self._jobs[name] = table, job
        return name

    def _job(self, job: str) -> tuple[str, Job]:
        return self._jobs[called(job, self._jobs, "job")]

    def _release(self, release: str) -> tuple[str, Job, Any]:
        return self._releases[called(release, self._releases, "release")]

    def _target(self, file: str) -> Path:
        name = Path(file).name
        if name != file or name.startswith(".") or not name.isprintable() or Path(name).suffix.lower() not in SUFFIXES:
            raise JobError("Name a file of the folder, with the ending of its format, such as release.csv.")
        target = self.folder / name
        if target.exists() or target.parent.name == PLACE:
            raise JobError("This file exists already, and files are never overwritten: choose another name.")
        return target


def _fixed_keys(table: Mapping[str, Any]) -> Answer:
    return {Fixed(key): value for key, value in table.items()}


def _numbers(answer: Any) -> Any:
    """The numbers and names of an answer: texts in lists, which may be labels or values, are left out."""
    if isinstance(answer, Mapping):
        numbers = {str(key): _numbers(value) for key, value in answer.items()}
        return {key: value for key, value in numbers.items() if value not in (None, {}, [])}
    if isinstance(answer, bool) or (isinstance(answer, (int, float)) and answer == answer):
        return answer
    return None
