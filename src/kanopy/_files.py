"""Read text as people save it, and write files so that each is either complete or not there.

Everything is written beside its target under another name, forced to disk, and then renamed. Whatever goes wrong
before (a full disk, Ctrl-C, a crash of the writer), the old file stays as it was and nothing half-written is left.
What holds values of the original table is `private`: nobody but its owner may read it.
"""

from __future__ import annotations

import codecs
import contextlib
import datetime as dt
import errno
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from kanopy import _temporary
from kanopy._errors import DataError, InputError, short
from kanopy._temporary import is_abandoned, mark

Target = str | os.PathLike[str]


def write_whole(target: Target, content: bytes | str, *, private: bool = False) -> None:
    """Write bytes or text (a report, a hierarchy), whole or not at all; `private` where it holds original values.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "report.html", "<html>")
    ...     (Path(folder) / "report.html").read_bytes()
    b'<html>'
    """
    release = Release()
    with release.published():
        release.bytes(target, content.encode("utf-8") if isinstance(content, str) else content, private=private)


def private_folder(path: Target) -> Path:
    """Make a folder for files with original values, with those above it; one that is there stays as it is.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     oct(private_folder(f"{folder}/hierarchies").stat().st_mode & 0o777)
    '0o700'
    """
    made = Path(path)
    made.parent.mkdir(parents=True, exist_ok=True)
    made.mkdir(mode=0o700, exist_ok=True)
    return made


def stamp() -> dt.datetime:
    """When files say that they were written, where their format asks: the same in every run, or `SOURCE_DATE_EPOCH`.

    >>> print(stamp())
    1980-01-01 00:00:00
    """
    setting = os.environ.get("SOURCE_DATE_EPOCH", "").strip()
    try:
        return dt.datetime.fromtimestamp(int(setting or 315_532_800), dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        raise InputError(f"SOURCE_DATE_EPOCH is a number of seconds since 1970, not {short(setting)}.") from None


def read_text(path: Path, error: type[InputError], missing: str = "Check the path.") -> str:
    """A text file people made, in UTF-8, UTF-16 or what Windows programs write; what is wrong is told as an `error`.

    >>> read_text(Path("no-such-file.csv"), DataError)
    Traceback (most recent call last):
    kanopy._errors.DataError: There is no file no-such-file.csv. Check the path.
    """
    usable(path, error)
    try:
        content = path.read_bytes()
    except FileNotFoundError as problem:
        raise error(f"There is no file {path}. {missing}") from problem
    except OSError as problem:
        raise error(f"Cannot read {path}: {problem.strerror}.") from problem
    utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if utf_16 else "utf-8-sig")
    except UnicodeDecodeError:
        # Windows programs write cp1252; its five unassigned bytes are the only ones that can fail here.
        text = content.decode("cp1252", errors="replace")
    if "\x00" in text:
        raise error(f"{path.name} is not a text file. Save it as text in UTF-8.")
    return text.removeprefix("\ufeff")


def usable(path: Target, error: type[InputError] = DataError) -> Path:
    """A path that a file can have, there or not: not empty, in UTF-8, not too long, no loop of links.

    >>> usable("a\\0b.csv")
    Traceback (most recent call last):
    kanopy._errors.DataError: A file cannot have the name 'a\\x00b.csv' (embedded null byte). Check the path.
    """
    text = os.fspath(path)
    try:
        text.encode("utf-8")
        os.stat(text)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        if not text:
            raise error("The name of a file is empty. Give a path.") from None
    except UnicodeEncodeError:
        raise error(f"{short(text)} is not valid UTF-8. Rename the file.") from None
    except (ValueError, OSError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise error(f"A file cannot have the name {short(text)} ({reason}). Check the path.") from None
    return Path(text)


def check_writable(target: Target, forbidden: Iterable[Target] = ()) -> Path:
    """Raise `DataError` if the target could not be written later; call this before long work.

    `forbidden` are the inputs, which are never overwritten. Returns the real path.

    >>> check_writable("no-such-folder/out.csv")
    Traceback (most recent call last):
    kanopy._errors.DataError: There is no folder 'no-such-folder' to write 'out.csv' into. Create it first.
    """
    text = os.fspath(target)
    if "://" in text or "::" in text:
        raise DataError(
            f"Cannot write to {text!r}: output goes to a local file. Give a path, e.g. out.csv. A release of a file "
            "becomes a table of a database with the engine stream, one of a table in that database with the engine "
            "database."
        )
    path = usable(text).resolve()
    for source in forbidden:
        if _same_file(path, Path(source)):
            raise DataError(
                f"The output {text!r} is the input itself. Give another name: the input is never overwritten."
            )
    if path.is_dir():
        raise DataError(f"{text} is a folder. Give a file name, e.g. {Path(text) / 'out.csv'}.")
    if path.exists() and not path.is_file():
        raise DataError(f"{text} is not an ordinary file. Give a file name, e.g. out.csv.")
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {str(Path(text).parent)!r} to write {path.name!r} into. Create it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DataError(f"The folder {str(path.parent)!r} may not be written to. Choose another, or change its rights.")
    if path.exists() and not os.access(path, os.W_OK):
        raise DataError(f"{text} is write-protected. Choose another name, or change its rights.")
    return path


def _same_file(path: Path, other: Path) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return path == other.resolve()


class Release:
    """Several files that are published together."""

    def __init__(self, forbidden: Iterable[Target] = ()) -> None:
        self._forbidden = tuple(forbidden)
        self._staged: dict[Path, Path] = {}
        self._held: list[int] = []

    def bytes(self, target: Target, data: bytes, *, private: bool = False) -> None:
        """Stage the content of a file."""
        self.stage(target, lambda path: path.write_bytes(data), private=private)

    def place_of(self, target: Target) -> Path:
        """Where a staged file lies until it is published, for example to take its checksum."""
        return self._staged[Path(os.fspath(target)).resolve()]

    def stage(self, target: Target, write: Callable[[Path], object], *, private: bool = False) -> None:
        """Let `write` write a file where it lies until it is published; `private` files only their owner may read."""
        path = check_writable(target, self._forbidden)
        if path in self._staged:
            raise DataError(f"Two outputs have the same name: {os.fspath(target)!r}. Give each its own.")
        tidy(path)
        temporary = path.with_name(f".{path.name}.{mark()}.part")
        self._staged[path] = temporary
        with explained(path):
            # Created here, not by the writer, so that it gets the usual rights and can never follow a link.
            handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666)
            if _temporary.hold(handle):
                self._held.append(handle)
            else:
                os.close(handle)
            if path.exists() and not private:
                shutil.copymode(path, temporary)
            write(temporary)
            _to_disk(temporary)

    def publish(self) -> None:
        """Rename everything into place; if one cannot be, the ones before it are put back.

        A journal says what is about to be renamed, so that the next run can put things back if this one is killed.
        """
        entries: list[Entry] = []
        journals: list[Path] = []
        try:
            for path, temporary in self._staged.items():
                with explained(path):
                    entries.append((path, temporary, _kept_copy(path)))
            if len(entries) > 1:
                text = json.dumps([[entry_path and str(entry_path) for entry_path in entry] for entry in entries])
                name = f".kanopy.{mark()}.journal"
                for folder in dict.fromkeys(path.parent for path in self._staged):
                    journals.append(folder / name)
                    with explained(journals[-1]):
                        journals[-1].write_text(text, encoding="utf-8")
                        _to_disk(journals[-1])
            for path, temporary, _ in entries:
                with explained(path):
                    os.replace(temporary, path)
        except BaseException:
            _put_back(entries)
            for journal in journals:
                journal.unlink(missing_ok=True)
            raise
        for left in (*journals, *(backup for _, _, backup in entries if backup is not None)):
            left.unlink(missing_ok=True)
        for folder in {path.parent for path in self._staged}:
            with contextlib.suppress(OSError):
                _to_disk(folder)
        self._let_go()

    @contextlib.contextmanager
    def published(self) -> Iterator[None]:
        """Publish all that was staged in between at the end, or nothing if anything fails (Ctrl-C included)."""
        try:
            yield
            with LANDING.attempt():
                self.publish()
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove whatever was staged and not published."""
        for temporary in self._staged.values():
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        self._let_go()

    def _let_go(self) -> None:
        self._staged.clear()
        while self._held:
            os.close(self._held.pop())


class Landing:
    """Whether the release of a command is being published: from then on a signal comes too late to stop it, and the
    command ends as if none had come. Only a command that publishes once, and then ends, is `armed`."""

    def __init__(self) -> None:
        self.armed = self.begun = False

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """What publishes; if it fails, nothing was published."""
        self.begun = self.armed
        try:
            yield
        except BaseException:
            self.begun = False
            raise


LANDING = Landing()

Entry = tuple[Path, Path, Path | None]
"""A target, where its new content lies until it is renamed, and a second name of its old content if there was one."""


def _put_back(entries: Iterable[Entry]) -> None:
    """Undo renames: what was there is there again, and nothing else."""
    for path, temporary, backup in entries:
        if backup is not None and backup.exists():
            os.replace(backup, path)
            backup.unlink(missing_ok=True)  # two names of one file: replacing one by the other does nothing
        elif backup is None and not temporary.exists():
            path.unlink(missing_ok=True)


def place_beside(target: Path) -> Path:
    """A hidden name in the folder of a target, for what gets its name when it is whole; sweeps leftovers."""
    tidy(target)
    return target.with_name(f".{target.name}.{mark()}.part")


def tidy(target: Path) -> None:
    """Put back and remove what killed runs left in the folder of a target, so that of their files all are there or
    none."""
    with contextlib.suppress(OSError, ValueError):
        names = [file for file in target.parent.iterdir() if file.name.startswith(".") and is_abandoned(file)]
        for journal in (file for file in names if file.suffix == ".journal"):
            entries = [tuple(name and Path(name) for name in entry) for entry in json.loads(journal.read_text("utf-8"))]
            if all(_ours(entry) for entry in entries):
                _put_back(entries)  # type: ignore[arg-type]
                for path, temporary, _ in entries:
                    temporary.unlink(missing_ok=True)
                    path.with_name(journal.name).unlink(missing_ok=True)  # each folder has one: put back once only
            journal.unlink(missing_ok=True)
        for file in names:
            if {".part", ".kept"} & set(file.suffixes) or file.name.endswith(".part-journal"):
                _temporary.remove(file)


def _ours(entry: Sequence[Path | None]) -> bool:
    """Whether an entry of a journal names files that belong together: a journal cannot make us touch others."""
    path, *temporary = entry
    return path is not None and all(
        temporary_path is None
        or (
            temporary_path.parent == path.parent
            and temporary_path.name.startswith(f".{path.name}.")
            and is_abandoned(temporary_path)
        )
        for temporary_path in temporary
    )


def _kept_copy(path: Path) -> Path | None:
    """A second name for the file about to be replaced, to put it back if a later rename fails."""
    if not path.exists():
        return None
    backup = path.with_name(f".{path.name}.{mark()}.kept")
    try:
        os.link(path, backup)
    except OSError:
        shutil.copy2(path, backup)
    return backup


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the system raises into one plain message."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or "no space left" in reason.lower() or "os error 28" in reason:
            raise DataError(
                f"The disk is full: {path} could not be written and nothing was left behind. Free some space, or "
                "write to another disk."
            ) from error
        raise DataError(f"{path} could not be written: {reason.splitlines()[0] if reason else error!r}.") from error
