"""What all sessions of a server share: the project, the workers, and the tasks under way."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanopy._errors import shown_address
from kanopy._job.job import Job
from kanopy.app.project import Work
from kanopy.app.task_cache import READING, TaskCache
from kanopy.hierarchy.files.json_format import parse_json

SCRIPT = """{os}import kanopy

job = kanopy.Job.read({job!r})
result = kanopy.anonymize({source!r}, job{key})
result.write({output!r}, like={source!r})
print(result)
"""
SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx", ".arrow")


class Controller(TaskCache):
    """Carries out what a user does in the app; every change of the project is a step that can be undone."""

    # ---- the table ----------------------------------------------------------------------------------------

    async def open(self, source: str, *, name: str = "", example: bool = False) -> dict[str, Any]:
        """Open a table: its job is guessed and its hierarchies are built, in one step that can be undone."""
        project = self.project
        path = str(project.folder / source) if source.startswith("data/") else source
        for other in (self.quick, self.previews):  # They read the table meanwhile, for the first requests.
            other.submit("table.rows", None, source=path, first=0, number=1, columns=[])
        found = await self.run_long(f"Opening {name or source}", "table.open_table", source=path, example=example)
        files = {column: self._keep_text(column, text) for column, text in found["hierarchies"].items()}
        job = Job.from_dict(found["job"]).replaced(hierarchies=files)
        opened = Work(source, job, tuple(found["columns"]), ())
        profiles = found.pop("profiles")
        project.change(
            f"open {name or Path(source).name}",
            lambda work: replace(opened, plans=work.plans if work.source == source else ()),
        )
        self._store(self._request("table.profiles", READING)[0], profiles)
        self.schedule_prefetch(0.0)
        return dict(found)

    def _keep_text(self, column: str, text: str) -> str:
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
        built = await self.run_short("table.build_columns", **self.arguments_for(job), columns=columns)
        return {column: self._keep_text(column, built[column]) for column in columns}

    def set_job(self, words: str, **settings: Any) -> None:
        """Change settings of the job."""
        self.project.change(words, lambda work: replace(work, job=work.job.replaced(**settings)))

    async def take_advice(self, words: str, settings: Mapping[str, Any]) -> None:
        """Change the job as the library advises; hierarchies that are asked for by a method are built and kept."""
        from kanopy.release.sweeps.advice import advised

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
        """Choose the sense of a word of a column."""

        def change(work: Work) -> Work:
            own = {**work.senses.get(column, {}), word: sense}
            return replace(work, senses={**work.senses, column: own})

        self.project.change(f"{word} means {sense}", change)

    # ---- without the app ------------------------------------------------------------------------------------

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
        """The folder of the release of the present job."""
        return self.project.result_folder(self.project.job_mark)

    @property
    def summary(self) -> dict[str, Any] | None:
        """The summary of the release of the present job; `None` if it was not made yet."""
        file = self.result_folder / "summary.json"
        cache_key = f"summary {file}"
        if cache_key not in self._results:
            if not file.exists():
                return None
            self._results[cache_key] = json.loads(file.read_text("utf-8"))
        found: dict[str, Any] = self._results[cache_key]
        return found

    async def run(self) -> dict[str, Any]:
        """Make the release of the present job."""
        folder = self.result_folder
        found: dict[str, Any] = await self.run_long(
            "Making the release", "releases.run", **self.task_arguments, folder=str(folder), suffix=self.suffix
        )
        self.notify()
        return found

    async def report(self) -> None:
        """Write the report of the present release."""
        await self.run_long(
            "Writing the report",
            "releases.report",
            **self.task_arguments,
            folder=str(self.result_folder),
            suffix=self.suffix,
        )

    @property
    def hierarchies_mark(self) -> str:
        """Identifies the table with its roles and hierarchies, to which explored points belong."""
        job = self.project.work.job
        fixed = job.replaced(k=None, suppress=0.0, algorithm=None, parameters={}, local=False, weights={}, models=())
        return hashlib.sha256(f"{self.project.work.source}\n{fixed.to_toml()}".encode()).hexdigest()[:12]

    def releases_made(self) -> list[dict[str, Any]]:
        """The summaries of all releases of the present table, whatever their job."""
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
        """Save the present job under a name, with the figures of its release if that was made."""
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
        """Delete a saved job."""
        rest = tuple(plan for number, plan in enumerate(self.project.work.plans) if number != at)
        self.project.change("forget a plan", lambda work: replace(work, plans=rest))
