"""What all sessions of a server share: the project, the workers, and the tasks under way."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import hashlib
import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanopy._errors import JobError, KanopyError, shown_address
from kanopy._job.job import Job
from kanopy.app.project import Project, Work
from kanopy.app.reviewing import Reviewing
from kanopy.app.table_digest import Signature, digest_of, is_local, resolved, signature
from kanopy.app.task_cache import READING, TaskCache
from kanopy.hierarchy.files.json_format import parse_json

SCRIPT = """{os}import kanopy

job = kanopy.Job.read({job!r})
result = kanopy.anonymize({source!r}, job{key})
result.write({output!r}, like={source!r})
print(result)
"""
LARGEST_JOB, LARGEST_TEXT = 200_000_000, 5_000_000
"""Bytes of an unpacked job with its hierarchies, and of the job alone."""
SURVEY_FIELDS = ("sampling_weight", "household")
SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx", ".arrow")


def system_user() -> str:
    """The name under which somebody is logged in on this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without users
        return "unknown"


class Controller(Reviewing, TaskCache):
    """Carries out what a user does in the app; every change of the project is a step that can be undone."""

    _known_table: tuple[Signature, str] = ((), "")
    """The signature of the table's files when they were last read whole, and the digest of their content then."""
    _checking = False
    _shown_state = "same"

    # ---- the table ----------------------------------------------------------------------------------------

    async def open(
        self, source: str, *, name: str = "", example: bool = False, keep_job: bool = False,
        layout: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Open a table: its job is guessed and its hierarchies are built, in one step that can be undone.

        A path is relative to where the app was started, unless the table was uploaded (`Project.keep_upload`).
        With `keep_job` a table that has the same columns as the present one keeps the present job.
        """
        project = self.project
        uploaded = project.is_upload(source)
        source = source if uploaded else resolved(source)
        path = str(project.folder / source) if uploaded else source
        before = project.work
        try:
            opened_table = await self.run_long(
                f"Opening {name or source}", "table.open_table", source=path, example=example,
                layout=None if layout is None else dict(layout),
            )  # fmt: skip
        except KanopyError:
            if uploaded and source != before.source:
                project.drop_upload(source)
            raise
        files = {column: self._keep_text(column, text) for column, text in opened_table["hierarchies"].items()}
        job = Job.from_dict(opened_table["job"]).replaced(hierarchies=files)
        columns = tuple(opened_table["columns"])
        keep_job = keep_job and {entry["column"] for entry in columns} == {entry["column"] for entry in before.columns}
        if keep_job:
            job = before.job
        opened = Work(source, job, columns, (), table=opened_table["table"])
        profiles = opened_table.pop("profiles")
        self._known_table = signature(path), opened_table["table"]
        project.change(
            f"open {name or Path(source).name}",
            lambda work: replace(
                opened, plans=work.plans if work.source == source else (), senses=work.senses if keep_job else {}
            ),
        )
        self._store(self._request("table.profiles", READING)[0], profiles)
        self.schedule_prefetch(0.0)
        return dict(opened_table)

    def switch_project(self, folder: Path) -> None:
        """Close the project and open another one, in every window."""
        if self.underway is not None:
            raise JobError(f"{self.underway.what} is under way. Wait for it, or cancel it first.")
        other = Project(folder)
        before, self.project = self.project, other
        before.listeners.clear()
        before.close()
        other.listeners.append(self.notify)
        self._results.clear()
        self._known_table, self._shown_state = ((), ""), "same"
        self.notify()

    async def keep_upload(self, file: Any) -> str:
        """Keep an uploaded file, piece by piece: it need not fit into memory; returns how the project calls it."""
        arrived = self.project.arriving()
        try:
            await file.save(arrived)
            return await asyncio.to_thread(self.project.keep_arrived, file.name, arrived)
        finally:
            arrived.unlink(missing_ok=True)

    async def unpack(self, file: Any) -> None:
        """Take over a project that was packed into one file and uploaded; this one must be empty."""
        arrived = self.project.arriving()
        try:
            await file.save(arrived)
            self.project.unpack(arrived)
        finally:
            arrived.unlink(missing_ok=True)

    def _keep_text(self, column: str, text: str) -> str:
        return self.project.keep_hierarchy(column, parse_json(text, column, name=column))

    async def set_roles(self, columns: Sequence[str], role: str) -> None:
        """Give columns a role, in one step; those that become quasi-identifiers get a hierarchy."""

        def changed(job: Job) -> Job:
            for column in columns:
                job = job.with_role(column, role)
            return job

        job = changed(self.project.work.job)
        built = await self._built(
            job, [column for column in columns if column in job.quasi and column not in job.hierarchies]
        )

        def change(work: Work) -> Work:
            job = changed(work.job)
            return replace(work, job=job.replaced(hierarchies={**job.hierarchies, **built}))

        named = columns[0] if len(columns) == 1 else f"{len(columns)} columns"
        self.project.change(f"{named} {'is' if len(columns) == 1 else 'are'} {role}", change)

    async def set_survey_column(self, column: str, field: str, words: str) -> None:
        """Make a column the sampling weight or the household of a survey (`field` of the job): it is not published."""

        def change(work: Work) -> Work:
            job = work.job if column not in work.job.quasi else work.job.with_role(column, "withheld")
            if job.roles.get(column, "undecided") == "undecided":
                job = job.with_role(column, "withheld")
            others = [name for name in SURVEY_FIELDS if name != field and getattr(job, name) == column]
            return replace(work, job=job.replaced(**dict.fromkeys(others), **{field: column}))

        self.project.change(words, change)

    async def use_job(self, name: str, content: bytes) -> None:
        """Take the job of a file: `job.toml`, or a `job.zip` with its hierarchies; the table stays."""
        import io
        import zipfile

        from kanopy import _temporary
        from kanopy.hierarchy.files.files import read_hierarchy

        with _temporary.folder() as folder:
            file = folder / "job.toml"
            if name.lower().endswith(".zip"):
                try:
                    archive = zipfile.ZipFile(io.BytesIO(content))
                    if sum(each.file_size for each in archive.infolist()) > LARGEST_JOB:
                        raise JobError(f"{name!r} unpacks to more than {LARGEST_JOB / 1e6:g} MB.")
                    archive.extractall(folder)
                except (zipfile.BadZipFile, OSError, ValueError):
                    raise JobError(f"{name!r} is no archive of a job.") from None
            else:
                file.write_bytes(content)
            if not file.is_file():
                raise JobError(f"{name!r} holds no job.toml.")
            if file.stat().st_size > LARGEST_TEXT:
                raise JobError(f"A job of more than {LARGEST_TEXT / 1e6:g} MB is none. Give job.toml or job.zip.")
            wanted = Job.read(file)
            known = {str(each["column"]) for each in self.project.work.columns}
            if absent := [column for column in wanted.quasi if column not in known]:
                raise JobError(
                    f"The table has no column {', '.join(map(repr, absent[:5]))}, which the job generalizes."
                )
            kept = {
                column: self.project.keep_hierarchy(column, read_hierarchy(given, column=column))
                for column, given in wanted.hierarchies.items()
                if isinstance(given, (str, Path)) and Path(given).is_file()
            }
        rest = {column: given for column, given in wanted.hierarchies.items() if column not in kept}
        if lost := [column for column, given in rest.items() if isinstance(given, (str, Path))]:
            raise JobError(
                f"The hierarchies of {', '.join(lost[:5])} are files of another place. Upload job.zip instead."
            )
        fresh = [column for column in wanted.quasi if column not in kept]
        built = await self._built(wanted.replaced(hierarchies=rest), fresh)
        job = wanted.replaced(hierarchies={**kept, **built})
        self.project.change(f"job of {name}", lambda work: replace(work, job=job))

    async def prepare(self, step: Mapping[str, Any], who: str = "") -> str:
        """Make a table of the present one by one step (`tasks.prepare`), and open it; the original stays."""
        made = await self.run_long(
            "Preparing the table", "prepare.write", source=self.project.source, step=dict(step),
            folder=str(self.project.folder / "data"),
        )  # fmt: skip
        before = Path(shown_address(self.project.work.source)).name
        await self.open(f"data/{made['name']}", name=made["name"], keep_job=True)
        self.record_preparation(before, made, who or system_user())
        return str(made["words"])

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
            senses_of_column = {**work.senses.get(column, {}), word: sense}
            return replace(work, senses={**work.senses, column: senses_of_column})

        self.project.change(f"{word} means {sense}", change)

    # ---- whether it is still the same table -------------------------------------------------------------------

    @property
    def table_state(self) -> str:
        """`same` as when it was opened, `changed`, `gone`, or `unchecked` until its content has been compared."""
        work = self.project.work
        if not work.source:
            return "same"
        now = signature(self.project.source)
        if is_local(self.project.source) and not now:
            return "gone"
        if not work.table:
            return "changed"
        known_state, digest = self._known_table
        if known_state != now or not digest:
            return "unchecked" if is_local(self.project.source) else "same"
        return "same" if digest == work.table else "changed"

    async def check_table(self) -> None:
        """Compare the table's content with what was opened, if its files were touched since the last comparison."""
        if self.table_state == "unchecked" and not self._checking:
            self._checking = True
            try:
                source = self.project.source
                before = signature(source)
                digest = await asyncio.to_thread(digest_of, source)
                if source == self.project.source:
                    self._known_table = before, digest
            finally:
                self._checking = False
        if (state := self.table_state) != self._shown_state:
            self._shown_state = state
            self.notify()

    def delete_upload(self, name: str) -> None:
        """Delete an uploaded table for good; steps that need it cannot read it any more."""
        if name not in dict(self.project.uploads()):
            raise JobError("There is no such table.")
        (self.project.folder / "data" / name).unlink()
        self.notify()

    async def reopen(self) -> None:
        """Read the table again that has changed: the job stays if the columns are the same."""
        work = self.project.work
        await self.open(work.source, name=Path(shown_address(work.source)).name, keep_job=True)

    # ---- without the app ------------------------------------------------------------------------------------

    @property
    def command(self) -> str:
        """The command that makes the release of the present job, with the same bytes."""
        source, job = shown_address(self.project.source), str(self.project.job_file)
        return shlex.join(["kanopy", "anonymize", source, "--job", job, "-o", f"release{self.suffix}"])

    @property
    def script(self) -> str:
        """The same in Python."""
        from kanopy.release.treated.treating import must_have_key

        secret = must_have_key(self.project.work.job)
        return SCRIPT.format(
            job=str(self.project.job_file), source=shown_address(self.project.source), output=f"release{self.suffix}",
            os="import os\n\n" if secret else "", key=', key=os.environ["KANOPY_KEY"].encode()' if secret else "",
        )  # fmt: skip

    # ---- releases -----------------------------------------------------------------------------------------

    @property
    def suffix(self) -> str:
        """The format of the release: that of the table where it can be written."""
        suffix = Path(self.project.source.partition("::")[0]).suffix.lower()
        return suffix if suffix in SUFFIXES else ".csv"

    @property
    def result_folder(self) -> Path:
        """The folder of the newest release of the present table and job, if one was made."""
        made = self.project.versions(self.project.job_mark)
        return made[-1] if made else self.project.result_folder(f"{self.project.job_mark}-0")

    @property
    def summary(self) -> dict[str, Any] | None:
        """The summary of the newest release of the present table and job; `None` if none was made yet.

        It says nothing about a table that was changed since it was opened: ask `table_state` too.
        """
        file = self.result_folder / "summary.json"
        cache_key = f"summary {file}"
        if cache_key not in self._results:
            if not file.exists():
                return None
            self._results[cache_key] = json.loads(file.read_text("utf-8"))
        summary: dict[str, Any] = self._results[cache_key]
        return summary

    async def run(self, who: str = "") -> dict[str, Any]:
        """Make the release of the present table and job, beside earlier ones."""
        project = self.project
        folder = project.next_version(project.job_mark)
        try:
            summary: dict[str, Any] = await self.run_long(
                "Making the release", "releases.run", **self.task_arguments, folder=str(folder), suffix=self.suffix,
                table=project.work.table,
            )  # fmt: skip
            self.record_release(folder, summary, who or system_user())
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self.notify()
        return summary

    async def report(self) -> None:
        """Write the report of the present release."""
        await self.run_long(
            "Writing the report",
            "releases.report",
            **self.task_arguments,
            folder=str(self.result_folder),
            suffix=self.suffix,
        )

    async def attack(self, settings: Mapping[str, Any], who: str = "") -> dict[str, Any]:
        """Attack the newest release, beside a control group (`tasks.evidence.attack` names the settings)."""
        return await self._examine("Attacking the release", "evidence.attack", self.record_attack, settings, who)

    async def check_profile(self, settings: Mapping[str, Any], who: str = "") -> dict[str, Any]:
        """Check the newest release against the requirements of an authority (`tasks.evidence.profile`)."""
        return await self._examine("Checking requirements", "evidence.profile", self.record_profile, settings, who)

    async def _examine(
        self, what: str, task: str, record: Any, settings: Mapping[str, Any], who: str
    ) -> dict[str, Any]:
        summary, folder = self.summary, self.result_folder
        if summary is None:
            raise JobError("No release of this job was made yet: run it under Release.")
        report: dict[str, Any] = await self.run_long(
            what, task, **self.task_arguments, folder=str(folder), file=summary["file"], table=summary["table"],
            **settings,
        )  # fmt: skip
        record(folder.name, report, who or system_user())
        return report

    def other_table(self, location: str) -> str:
        """A table that is named beside the project's own: a path as the person wrote it, or an uploaded file."""
        if self.project.is_upload(location):
            return str(self.project.folder / location)
        return resolved(location) if location else ""

    @property
    def hierarchies_mark(self) -> str:
        """Identifies the table with its roles and hierarchies, to which explored points belong."""
        job = self.project.work.job
        fixed = job.replaced(k=None, suppress=0.0, algorithm=None, parameters={}, local=False, weights={}, models=())
        text = f"{self.project.work.source}\n{self.project.work.table}\n{fixed.to_toml()}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def releases_made(self, *, everything: bool = False) -> list[dict[str, Any]]:
        """The summaries of all releases of the present table, whatever their job; with `everything` also those of
        tables that had other content. Each names its `folder`; the newest is last."""
        summaries = []
        for file in self.project.folder.glob("results/*/summary.json"):
            with contextlib.suppress(OSError, ValueError):
                summary = {**json.loads(file.read_text("utf-8")), "folder": file.parent.name}
                same = (summary["source"], summary.get("table")) == (self.project.source, self.project.work.table)
                if everything or same:
                    summaries.append(summary)
        return sorted(summaries, key=lambda summary: str(summary.get("made", "")))

    def restore(self, job: str, words: str) -> None:
        """Go back to a job that was kept."""
        wanted = Job.from_toml(job)
        self.project.change(words, lambda work: replace(work, job=wanted))

    def save_plan(self, name: str) -> None:
        """Save the present job under a name, with the figures of its release if that was made."""
        job, summary = self.project.work.job, self.summary
        figures = None if summary is None else {
            "loss": summary["losses"].get("loss") or summary["score"], "classes": summary["classes"],
            "suppressed": summary["suppressed"],
            "highest_risk": 1 / summary["smallest_class"] if summary["smallest_class"] else 0.0,
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
