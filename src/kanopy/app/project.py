"""A project: a folder that holds what a steward works on, so that nothing is lost by a reload, a restart or a crash.

project.json, states/      every step, and which of them is the present (`history.py`)
data/                      tables that were uploaded; a table named on the command line stays where it is
hierarchies/               every version of every hierarchy, named by its content
job.toml                   the present job, as `kanopy anonymize --job` reads it
results/                   what runs have written
key                        the secret part of the page's address

All of it may hold original values: nobody but its owner may read it.
"""

from __future__ import annotations

import contextlib
import filecmp
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from kanopy import __version__
from kanopy._errors import DataError, InputError
from kanopy._files import private_folder, write_whole
from kanopy._job.job import Job
from kanopy._temporary import mark
from kanopy.app.history import History
from kanopy.hierarchy.files.files import read_hierarchy
from kanopy.hierarchy.files.json_format import hierarchy_json
from kanopy.hierarchy.hierarchy import Hierarchy

KEY_SECONDS = 30 * 86_400
LONGEST_NAME = 60
"""Letters may take four bytes each, and file systems allow 255."""
UNSAFE = re.compile(r"[^\w.-]+")


def safe_name(name: str, instead: str = "file") -> str:
    """A file name without any folder in it, whatever was sent.

    >>> safe_name("../../etc/pass wd.csv"), safe_name("..")
    ('pass_wd.csv', 'file')
    """
    last = re.split(r"[/\\\\]", name)[-1]
    cleaned = UNSAFE.sub("_", last).strip("._") or instead
    stem, dot, suffix = cleaned.rpartition(".")
    return (
        cleaned
        if len(cleaned) <= LONGEST_NAME
        else f"{stem[: LONGEST_NAME - len(suffix) - 1]}{dot}{suffix}"[-LONGEST_NAME:]
    )


@dataclass(frozen=True)
class Work:
    """What the steward has decided so far. Every change makes a new one."""

    source: str = ""
    """The table, named as on the command line; a path in the project's folder is relative to it."""
    job: Job = field(default_factory=Job)
    columns: tuple[Mapping[str, Any], ...] = ()
    """What was guessed of each column, and why."""
    plans: tuple[Mapping[str, Any], ...] = ()
    """Jobs set aside under a name, to compare: name, job, and the figures of their release."""

    senses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Per column of words which sense is meant, where somebody said so."""
    table: str = ""
    """The digest of the table's content when it was opened: results belong to it."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as it is kept."""
        return {
            "source": self.source,
            "job": self.job.to_dict(),
            "columns": [dict(column) for column in self.columns],
            "plans": [dict(plan) for plan in self.plans],
            "senses": {column: dict(chosen) for column, chosen in self.senses.items()},
            "table": self.table,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Work:
        """From plain data."""
        job, columns, plans = Job.from_dict(plain["job"]), tuple(plain["columns"]), tuple(plain["plans"])
        return cls(plain["source"], job, columns, plans, plain.get("senses", {}), plain.get("table", ""))


class Project:
    """The work in a folder, with every step undoable.

    >>> import tempfile
    >>> from dataclasses import replace
    >>> project = Project(tempfile.mkdtemp())
    >>> project.change("k = 10", lambda work: replace(work, job=work.job.replaced(k=10)))
    >>> project.work.job.k, project.undo(), project.work.job.k
    (10, 'k = 10', 5)
    >>> project.close()
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        private_folder(self.folder)
        self._lock = lock_folder(self.folder)
        for folder_name in ("data", "hierarchies", "results", "states"):
            private_folder(self.folder / folder_name)
        _close_to_others(self.folder)
        self.lost_runs = 0
        """Runs that were under way when the app was killed: nothing in their folders was finished."""
        for part in self.folder.glob("data/.*.part"):
            part.unlink(missing_ok=True)
        for left in self.folder.glob("results/*-*"):
            if left.is_dir() and not (left / "summary.json").exists():
                shutil.rmtree(left, ignore_errors=True)
                self.lost_runs += 1
        self._history = History(self.folder, Work().to_dict())
        self.work = Work.from_dict(self._history.now)
        self.listeners: list[Callable[[], None]] = []

    def close(self) -> None:
        """Let another server have the folder."""
        handle, self._lock = self._lock, -1
        if handle >= 0:
            os.close(handle)

    def unpack(self, packed: Path) -> None:
        """Take over a project that was packed into one file; this one must be empty."""
        from kanopy.app.packing import unpack_project

        if self.work.source or self.undoable or self.redoable:
            raise DataError("This project holds work. Open the file in an empty one (`kanopy app --project FOLDER`).")
        unpack_project(packed, self.folder)
        self._history = History(self.folder, Work().to_dict())
        self._arrived(Work.from_dict(self._history.now))

    # ---- steps --------------------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """Grows with every change."""
        return self._history.revision

    @property
    def undoable(self) -> str:
        """What would be taken back, in words."""
        return self._history.undoable

    @property
    def redoable(self) -> str:
        """What would be done again, in words."""
        return self._history.redoable

    @property
    def steps(self) -> list[tuple[str, bool]]:
        """Every step in words, and whether it lies at or before the present."""
        return self._history.steps

    def change(self, words: str, change: Callable[[Work], Work]) -> None:
        """One step: a function of the present, so that two windows never overwrite each other's decisions."""
        changed = change(self.work)
        if changed == self.work:
            return
        self._history.add(changed.to_dict(), words)
        self._arrived(changed)

    def undo(self) -> str:
        """One step back, whatever it was."""
        change = self._history.undo()
        self._arrived(Work.from_dict(self._history.now))
        return change

    def redo(self) -> str:
        """One step forward again."""
        change = self._history.redo()
        self._arrived(Work.from_dict(self._history.now))
        return change

    def _arrived(self, work: Work) -> None:
        self.work = work
        write_whole(self.job_file, work.job.to_toml(), private=True)
        for listener in list(self.listeners):
            listener()

    # ---- files --------------------------------------------------------------------------------------------

    @property
    def job_file(self) -> Path:
        """The present job, for the command line."""
        return self.folder / "job.toml"

    @property
    def source(self) -> str:
        """The table as the library reads it from anywhere; nothing if none is open."""
        work_source = self.work.source
        return str(self.folder / work_source) if work_source.startswith("data/") else work_source

    def keep_upload(self, name: str, content: bytes) -> str:
        """Keep an uploaded table under a name of its own; returns how the project calls it."""
        arrived = self.arriving()
        write_whole(arrived, content, private=True)
        return self.keep_arrived(name, arrived)

    def arriving(self) -> Path:
        """Where an upload is written until all of it is there."""
        return self.folder / "data" / f".{mark()}.part"

    def keep_arrived(self, name: str, arrived: Path) -> str:
        """Keep an upload that was written whole to `arriving`; one with the same name and content is there once."""
        safe = safe_name(name, "table.csv")
        target = self.folder / "data" / safe
        for number in range(2, 10_000):
            if not target.exists() or filecmp.cmp(target, arrived, shallow=False):
                break
            target = self.folder / "data" / f"{number}-{safe}"
        arrived.chmod(0o600)
        arrived.replace(target)
        return f"data/{target.name}"

    def is_upload(self, source: str) -> bool:
        """Whether a source is an uploaded table, named as `keep_upload` does."""
        folder, _, name = source.partition("data/")
        file = name.partition("::")[0]
        return not folder and bool(file) and safe_name(file) == file and (self.folder / "data" / file).is_file()

    @property
    def theme(self) -> str:
        """The colours that were chosen last; nothing if none were."""
        try:
            return (self.folder / "theme").read_text("ascii")
        except (OSError, ValueError):
            return ""

    @theme.setter
    def theme(self, name: str) -> None:
        write_whole(self.folder / "theme", name, private=True)

    def uploads(self) -> list[tuple[str, int]]:
        """The uploaded tables: names and bytes."""
        files = [file for file in (self.folder / "data").iterdir() if file.is_file() and file.suffix != ".part"]
        return sorted((file.name, file.stat().st_size) for file in files)

    def drop_upload(self, source: str) -> None:
        """Remove an uploaded table that could not be opened, unless an earlier step needs it."""
        if self.is_upload(source) and not self._history.mentions(source):
            (self.folder / source.partition("::")[0]).unlink(missing_ok=True)

    def keep_hierarchy(self, column: str, hierarchy: Hierarchy) -> str:
        """Keep a version of a column's hierarchy; returns the file as a job names it."""
        text = hierarchy_json(hierarchy) + "\n"
        mark = hashlib.sha256(text.encode()).hexdigest()[:10]
        name = f"hierarchies/{safe_name(column, 'column')[:40]}-{mark}.json"
        if not (self.folder / name).exists():
            write_whole(self.folder / name, text, private=True)
        return name

    def hierarchy(self, column: str) -> Hierarchy | None:
        """The present hierarchy of a column, if it has one of its own."""
        given = self.work.job.hierarchies.get(column)
        return _read(self.folder / given, column) if isinstance(given, str) else None

    def result_folder(self, name: str) -> Path:
        """Where a run keeps what it wrote."""
        if safe_name(name) != name:
            raise InputError(f"No run is called {name!r}.")
        return self.folder / "results" / name

    @property
    def job_mark(self) -> str:
        """Tells the present table (by its content) and job from any other: results belong to it."""
        text = f"{__version__}\n{self.work.source}\n{self.work.table}\n{self.work.job.to_toml()}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def versions(self, mark: str) -> list[Path]:
        """The folders of all releases that were made of a table and job, the newest last; none is ever overwritten."""
        summaries = self.folder.glob(f"results/{mark}-*/summary.json")
        return [file.parent for file in sorted(summaries, key=lambda file: _number(file.parent))]

    def next_version(self, mark: str) -> Path:
        """A new folder for the next release of a table and job."""
        taken = [_number(folder) for folder in self.folder.glob(f"results/{mark}-*")]
        for number in range(max(taken, default=0) + 1, max(taken, default=0) + 1_000):
            made = self.folder / "results" / f"{mark}-{number}"
            with contextlib.suppress(FileExistsError):
                made.mkdir(mode=0o700)
                return made
        raise DataError(f"No folder for a release can be made in {self.folder / 'results'}.")

    @property
    def key(self) -> str:
        """The secret that cookies are signed with: the same after a restart, so that an open page finds its server
        again, and another after a month."""
        file = self.folder / "key"
        if file.exists() and time.time() - file.stat().st_mtime > KEY_SECONDS:
            file.unlink()
        if not file.exists():
            with contextlib.suppress(FileExistsError):
                handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                with os.fdopen(handle, "w") as stream:
                    stream.write(secrets.token_urlsafe(24))
        return file.read_text("utf-8").strip()


def _close_to_others(folder: Path) -> None:
    """Take from others what they may do with a project's files, whoever made the folder and under which mask."""
    folder_names = ("data", "hierarchies", "results", "states")
    paths = [folder / folder_name for folder_name in folder_names]
    with contextlib.suppress(OSError):
        if any(entry.name not in folder_names for entry in folder.iterdir() if entry.is_dir()):
            paths += [file for file in folder.iterdir() if file.is_file() and file.suffix in (".json", ".jsonl")]
        else:
            paths.append(folder)
    for path in [*paths, *(file for folder_name in folder_names for file in (folder / folder_name).rglob("*"))]:
        with contextlib.suppress(OSError):  # of another owner: nothing of ours
            mode = path.stat().st_mode
            if mode & 0o077 and not path.is_symlink():
                path.chmod(mode & 0o700)


def _number(folder: Path) -> int:
    last = folder.name.rpartition("-")[2]
    return int(last) if last.isdigit() else 0


@lru_cache(maxsize=64)
def _read(path: Path, column: str) -> Hierarchy:
    """A hierarchy of a file that never changes: its name says its content."""
    return read_hierarchy(path, column=column)


def lock_folder(folder: Path) -> int:
    """Only one server may write to a folder; the lock goes with the process, however that ends."""
    handle = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        import fcntl
    except ImportError:  # Windows: two servers on one folder are the user's own doing there
        return handle
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise DataError(
            f"Another `kanopy app` works in {folder}. Use its page, end it, or name another folder with --project."
        ) from None
    return handle
