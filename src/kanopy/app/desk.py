"""What all windows of a server share: the project, the workers, and what is under way."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanopy._errors import Cancelled, KanopyError, shown_address
from kanopy._job.job import Job
from kanopy._progress import Step
from kanopy.app.project import Project, Work
from kanopy.app.worker import Task, Worker

SCRIPT = """{os}import kanopy

job = kanopy.Job.read({job!r})
result = kanopy.anonymize({source!r}, job{key})
result.write({output!r}, like={source!r})
print(result)
"""
MOST_KEPT = 200
"""Answers that are kept, so that a place opens at once when one comes back to it."""
SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx", ".arrow")


class Superseded(Exception):
    """A later question took the place of this one: nothing is to be said."""


@dataclass
class Underway:
    """Long work that a window can watch and cancel."""

    what: str
    task: Task
    step: Step = Step("starting")  # noqa: RUF009 - frozen


class Desk:
    """The project, two workers (one for what takes a moment, one for what takes longer), and who watches."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.quick, self.long = Worker(), Worker()
        self.underway: Underway | None = None
        self.watchers: list[Callable[[], None]] = []
        self._kept: dict[str, Any] = {}
        self._preview: Task | None = None
        self.rows = 0
        project.listeners.append(self.tell)

    def tell(self) -> None:
        """Something has changed: every window looks again."""
        for watcher in list(self.watchers):
            watcher()

    def close(self) -> None:
        """Stop the workers and let the folder go."""
        self.quick.stop()
        self.long.stop()
        self.project.close()

    # ---- work ---------------------------------------------------------------------------------------------

    @property
    def asked(self) -> dict[str, str]:
        """The table and the job, as every task is given them."""
        return self.asking(self.project.work.job)

    def asking(self, job: Job) -> dict[str, str]:
        """The table and some job, as a task is given them."""
        return {"source": self.project.source, "job": job.to_toml(), "home": str(self.project.folder)}

    def _mark(self, *parts: Any) -> str:
        """Under what an answer about the table is kept: a file that was written anew is another table."""
        file = Path(self.project.source.partition("::")[0])
        return json.dumps([file.stat().st_mtime if file.is_file() else 0, *parts], sort_keys=True)

    async def short(self, name: str, **arguments: Any) -> Any:
        """Work of a moment."""
        return await self.quick.call(name, None, **arguments)

    async def kept(self, name: str, **arguments: Any) -> Any:
        """Work of a moment whose answer stays the same for the same table, job and arguments."""
        mark = self._mark(self.project.job_mark, name, arguments)
        if mark not in self._kept:
            return self._keep(mark, await self.short(name, **self.asked, **arguments))
        return self._kept[mark]

    async def kept_of_table(self, name: str, **arguments: Any) -> Any:
        """Work of a moment whose answer stays the same while the table and how it is read do."""
        mark, read = _of_table(self.project.work.source, self.project.work.job, name, **arguments)
        if mark not in self._kept:
            return self._keep(mark, await self.short(name, **self.asking(read), **arguments))
        return self._kept[mark]

    async def preview(self, job: Job | None = None) -> Any:
        """What a job would do, the present one unless told; an earlier question not answered yet is dropped."""
        if self._preview is not None:
            self.quick.cancel(self._preview, force=False)
        asked = self.asking(job or self.project.work.job)
        mark = self._mark("releases.preview", asked)
        if mark in self._kept:
            return self._kept[mark]
        self._preview = self.quick.submit("releases.preview", None, **asked)
        try:
            return self._keep(mark, await self._preview.answer)
        except Cancelled:
            raise Superseded from None

    def _keep(self, mark: str, found: Any) -> Any:
        """Keep an answer; when there are many, all earlier ones go."""
        if len(self._kept) > MOST_KEPT:
            self._kept.clear()
        self._kept[mark] = found
        return found

    async def longer(self, what: str, name: str, **arguments: Any) -> Any:
        """Work that may take long: all windows see how far it is, and any of them can cancel it."""
        if self.underway is not None:
            raise KanopyError(f"{self.underway.what} is under way. Wait for it, or cancel it first.")

        def tell(step: Step) -> None:
            if self.underway is not None:
                self.underway.step = step

        task = self.long.submit(name, tell, **arguments)
        self.underway = Underway(what, task)
        self.tell()
        try:
            return await task.answer
        finally:
            self.underway = None
            self.tell()

    def cancel(self) -> None:
        """Stop what is under way."""
        if self.underway is not None:
            self.long.cancel(self.underway.task)

    # ---- the table ----------------------------------------------------------------------------------------

    async def open(self, source: str, *, name: str = "", example: bool = False) -> dict[str, Any]:
        """Open a table: its job is guessed and its hierarchies are built, in one step that can be undone."""
        project = self.project
        place = str(project.folder / source) if source.startswith("data/") else source
        # The other worker reads the table meanwhile: its first questions follow at once.
        self.quick.submit("table.rows", None, source=place, first=0, number=1, columns=[])
        found = await self.longer(f"Opening {name or source}", "table.open_table", source=place, example=example)
        files = {column: self._keep_text(column, text) for column, text in found["hierarchies"].items()}
        job = Job.from_dict(found["job"]).replaced(hierarchies=files)
        opened = Work(source, job, tuple(found["columns"]), ())
        self._keep(_of_table(source, job, "table.profiles")[0], found.pop("profiles"))
        project.change(
            f"open {name or Path(source).name}",
            lambda work: replace(opened, plans=work.plans if work.source == source else ()),
        )
        return dict(found)

    def _keep_text(self, column: str, text: str) -> str:
        from kanopy.hierarchy.files.json_format import parse_json

        return self.project.keep_hierarchy(column, parse_json(text, column, name=column))

    async def set_roles(self, columns: Sequence[str], role: str) -> None:
        """Give columns a role, in one step; those that become quasi-identifiers get a hierarchy."""

        def changed(job: Job) -> Job:
            for column in columns:
                job = job.with_role(column, role)
            return job

        job = changed(self.project.work.job)
        built = await self._built(job, [each for each in columns if each in job.quasi and each not in job.hierarchies])

        def change(work: Work) -> Work:
            job = changed(work.job)
            return replace(work, job=job.replaced(hierarchies={**job.hierarchies, **built}))

        named = columns[0] if len(columns) == 1 else f"{len(columns)} columns"
        self.project.change(f"{named} {'is' if len(columns) == 1 else 'are'} {role}", change)

    async def _built(self, job: Job, columns: list[str]) -> dict[str, str]:
        """The hierarchies of some columns as a job asks for them, built and kept; nothing is asked for nothing."""
        if not columns:
            return {}
        built = await self.short("table.build_columns", **self.asking(job), columns=columns)
        return {column: self._keep_text(column, built[column]) for column in columns}

    def set_job(self, words: str, **settings: Any) -> None:
        """Change settings of the job."""
        self.project.change(words, lambda work: replace(work, job=work.job.replaced(**settings)))

    async def take_advice(self, words: str, settings: Mapping[str, Any]) -> None:
        """Change the job as the library advises; hierarchies that are asked for by a method are built and kept."""
        from kanopy.release.advice import advised

        changed = advised(self.project.work.job, settings)
        built = await self._built(changed, list(settings.get("hierarchies", {})))

        def change(work: Work) -> Work:
            job = advised(work.job, settings)
            return replace(work, job=job.replaced(hierarchies={**job.hierarchies, **built}))

        self.project.change(words, change)

    def set_hierarchy(self, column: str, hierarchy: Any, words: str) -> None:
        """Give a column another hierarchy."""
        file = self.project.keep_hierarchy(column, hierarchy)
        self.project.change(
            words, lambda work: replace(work, job=work.job.replaced(hierarchies={**work.job.hierarchies, column: file}))
        )

    def set_sense(self, column: str, word: str, sense: str) -> None:
        """Say what a word of a column means."""

        def change(work: Work) -> Work:
            own = {**work.senses.get(column, {}), word: sense}
            return replace(work, senses={**work.senses, column: own})

        self.project.change(f"{word} means {sense}", change)

    # ---- without the page -----------------------------------------------------------------------------------

    @property
    def command(self) -> str:
        """The command that makes the release of the present job, with the same bytes."""
        source, job = shown_address(self.project.source), str(self.project.job_file)
        return shlex.join(["kanopy", "anonymize", source, "--job", job, "-o", f"release{self.suffix}"])

    @property
    def script(self) -> str:
        """The same in Python."""
        secret = bool(self.project.work.job.pseudonymize)
        return SCRIPT.format(
            job=str(self.project.job_file), source=shown_address(self.project.source), output=f"release{self.suffix}",
            os="import os\n\n" if secret else "", key=', key=os.environ["KANOPY_KEY"].encode()' if secret else "",
        )  # fmt: skip

    # ---- releases -----------------------------------------------------------------------------------------

    @property
    def suffix(self) -> str:
        """The format of the release: that of the table where it can be written."""
        found = Path(self.project.source.partition("::")[0]).suffix.lower()
        return found if found in SUFFIXES else ".csv"

    @property
    def result_folder(self) -> Path:
        """Where the release of the present job lies, if it was made."""
        return self.project.result_folder(self.project.job_mark)

    @property
    def summary(self) -> dict[str, Any] | None:
        """What is known of the release of the present job; `None` if it was not made yet."""
        file = self.result_folder / "summary.json"
        mark = f"summary {file}"
        if mark not in self._kept:
            if not file.exists():
                return None
            self._kept[mark] = json.loads(file.read_text("utf-8"))
        found: dict[str, Any] = self._kept[mark]
        return found

    async def run(self) -> dict[str, Any]:
        """Make the release of the present job."""
        folder = self.result_folder
        found: dict[str, Any] = await self.longer(
            "Making the release", "releases.run", **self.asked, folder=str(folder), suffix=self.suffix
        )
        self.tell()
        return found

    async def report(self) -> None:
        """Write the report of the present release."""
        await self.longer(
            "Writing the report", "releases.report", **self.asked, folder=str(self.result_folder), suffix=self.suffix
        )

    @property
    def hierarchies_mark(self) -> str:
        """Tells a table with its roles and hierarchies from any other: what was explored belongs to them."""
        job = self.project.work.job
        fixed = job.replaced(k=None, suppress=0.0, algorithm=None, parameters={}, local=False, weights={}, models=())
        return hashlib.sha256(f"{self.project.work.source}\n{fixed.to_toml()}".encode()).hexdigest()[:12]

    def releases_made(self) -> list[dict[str, Any]]:
        """What is known of every release of the present table that was made, whatever its job."""
        found = []
        for file in sorted(self.project.folder.glob("results/*/summary.json")):
            with contextlib.suppress(OSError, ValueError):
                summary = json.loads(file.read_text("utf-8"))
                if summary.get("source") == self.project.source:
                    found.append(summary)
        return found

    def restore(self, job: str, words: str) -> None:
        """Go back to a job that was kept."""
        wanted = Job.from_toml(job)
        self.project.change(words, lambda work: replace(work, job=wanted))

    def save_plan(self, name: str) -> None:
        """Set the present job aside under a name, with the figures of its release if that was made."""
        job, found = self.project.work.job, self.summary
        figures = None if found is None else {
            "loss": found["losses"].get("loss") or found["score"], "classes": found["classes"],
            "suppressed": found["suppressed"],
            "highest_risk": 1 / found["smallest_class"] if found["smallest_class"] else 0.0,
        }  # fmt: skip
        plan = {
            "name": name, "job": job.to_toml(), "k": job.k, "suppress": job.suppress, "algorithm": job.algorithm,
            "figures": figures,
        }  # fmt: skip
        self.project.change(f"save {name}", lambda work: replace(work, plans=(*work.plans, plan)))

    def drop_plan(self, at: int) -> None:
        """Forget a plan."""
        rest = tuple(plan for number, plan in enumerate(self.project.work.plans) if number != at)
        self.project.change("forget a plan", lambda work: replace(work, plans=rest))


def _of_table(source: str, job: Job, name: str, **arguments: Any) -> tuple[str, Job]:
    """Under what an answer about a table is kept, and a job that only says how the table is read."""
    read = Job(
        skip_rows=job.skip_rows, missing_tokens=job.missing_tokens, column_tokens=job.column_tokens,
        decimals=job.decimals,
    )  # fmt: skip
    return json.dumps([source, read.to_toml(), name, arguments], sort_keys=True), read
