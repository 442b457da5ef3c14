"""What all windows of a server share: the project, the workers, and what is under way."""

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
from kanopy.app.task_cache import READING, Answers
from kanopy.app.project import Work
from kanopy.hierarchy.files.json_format import parse_json

SCRIPT = """{os}import kanopy

job = kanopy.Job.read({job!r})
result = kanopy.anonymize({source!r}, job{key})
result.write({output!r}, like={source!r})
print(result)
"""
SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx", ".arrow")


class Desk(Answers):
    """The project and what can be decided about it; every decision is a step that can be undone."""

    # ---- the table ----------------------------------------------------------------------------------------

    async def open(self, source: str, *, name: str = "", example: bool = False) -> dict[str, Any]:
        """Open a table: its job is guessed and its hierarchies are built, in one step that can be undone."""
        project = self.project
        place = str(project.folder / source) if source.startswith("data/") else source
        for other in (self.quick, self.looks):  # they read the table meanwhile: first questions follow at once
            other.submit("table.rows", None, source=place, first=0, number=1, columns=[])
        found = await self.longer(f"Opening {name or source}", "table.open_table", source=place, example=example)
        files = {column: self._keep_text(column, text) for column, text in found["hierarchies"].items()}
        job = Job.from_dict(found["job"]).replaced(hierarchies=files)
        opened = Work(source, job, tuple(found["columns"]), ())
        profiles = found.pop("profiles")
        project.change(
            f"open {name or Path(source).name}",
            lambda work: replace(opened, plans=work.plans if work.source == source else ()),
        )
        self._keep(self._ask("table.profiles", READING)[0], profiles)
        self.look_ahead(0.0)
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
        built = await self.short("table.build_columns", **self.asking(job), columns=columns)
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
