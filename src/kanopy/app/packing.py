"""A project as one file: packed, looked at before it is unpacked, and unpacked into an empty project."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from pathlib import Path

from kanopy._errors import DataError
from kanopy._files import private_folder
from kanopy._table.formats.layout import check_unpacked
from kanopy._temporary import mark

PARTS = ("data", "hierarchies", "results", "states")
FILES = ("project.json", "job.toml", "record.jsonl", "record.head")
KNOWN = re.compile(
    r"(?:data|hierarchies|states|results)/[\w.-]+|results/[\w.-]+/[\w.-]+|" + "|".join(map(re.escape, FILES))
)
MOST_FILES = 100_000


def pack_project(folder: Path) -> bytes:
    """The files of a project, without its secrets: the key, the lock, the page that opens it.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp())
    >>> _ = (place / "job.toml").write_text("k = 5"), (place / "key").write_text("secret")
    >>> zipfile.ZipFile(io.BytesIO(pack_project(place))).namelist()
    ['job.toml']
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        found = [folder / name for name in FILES] + [
            file for part in PARTS for file in sorted((folder / part).rglob("*"))
        ]
        for file in found:
            if file.is_file() and not file.is_symlink():
                archive.write(file, file.relative_to(folder).as_posix())
    return packed.getvalue()


def unpack_project(packed: Path, folder: Path) -> None:
    """Write the files of a packed project into a folder; nothing is written unless all of it can be."""
    try:
        archive = zipfile.ZipFile(packed)
        listed = archive.infolist()
    except zipfile.BadZipFile:
        raise DataError("This is no project file: `Download` of another project writes one (.kanopy).") from None
    strange = [each.filename for each in listed if not KNOWN.fullmatch(each.filename) or "/.." in each.filename]
    if strange or "project.json" not in {each.filename for each in listed}:
        raise DataError(f"This is no project file: {', '.join(map(repr, strange[:5])) or 'project.json is missing'}.")
    if len(listed) > MOST_FILES:
        raise DataError(f"The project file holds more than {MOST_FILES:,} files.")
    check_unpacked(sum(each.file_size for each in listed), packed.stat().st_size, "The project file")
    try:
        if (broken := archive.testzip()) is not None:
            raise DataError(f"The project file is damaged: {broken!r} cannot be read.")
    except (zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
        raise DataError(f"The project file is damaged: {error}.") from None
    # What says which of the files counts is written last.
    for each in sorted(listed, key=lambda one: one.filename == "project.json"):
        target = folder / each.filename
        private_folder(target.parent)
        part = target.with_name(f".{mark()}.part")
        try:
            with archive.open(each) as source, part.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            part.chmod(0o600)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
