"""Read a classification from a file or a folder of the user: the reader that fits its name and first lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from kanopy._errors import HierarchyError
from kanopy._files import read_text, usable
from kanopy._registry import Named
from kanopy.classifications.classification import Classification
from kanopy.classifications.compact import read_compact

READERS: Named[Callable[..., Classification]] = Named(
    {
        "claml": "kanopy.classifications.readers.claml:read_claml",
        "rf2": "kanopy.classifications.readers.rf2:read_rf2",
        "loinc": "kanopy.classifications.readers.loinc:read_loinc",
        "skos": "kanopy.classifications.readers.skos:read_skos",
        "order": "kanopy.classifications.readers.order:read_order",
        "table": "kanopy.classifications.readers.table:read_table",
    },
    "format of classifications",
    HierarchyError,
)


def read_classification(path: str | Path, *, name: str = "", format: str = "") -> Classification:
    """The classification of a file (or of the folder of an RF2 release); `format` only where it cannot be told.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = path.write_text("code,label,parent\\nF,Fruit,\\nF1,Apple,F\\n")
    >>> read_classification(path).label(1)
    'Apple'
    """
    path = usable(path, HierarchyError)
    if not path.exists():
        raise HierarchyError(f"There is no file {path} to read a classification from. Check the path.")
    return _read(str(path.resolve()), path.stat().st_mtime_ns, name or path.name.split(".")[0], format)


@lru_cache(maxsize=4)
def _read(path: str, changed: int, name: str, format: str) -> Classification:
    """Read once per process: jobs and suggestions ask for the same file again."""
    where = Path(path)
    if where.name.endswith(".txt.gz"):
        return read_compact(where.read_bytes(), where.name)
    return READERS.find(format or format_of(where))(where, name=name)


def format_of(path: Path) -> str:
    """The format of a file by its name and its first lines.

    >>> format_of(Path("codes.ttl"))
    'skos'
    """
    if path.is_dir():
        return "rf2"
    if path.suffix.lower() in (".ttl", ".rdf"):
        return "skos"
    if path.suffix.lower() in (".csv", ".tsv"):
        start = _start(path)
        head = start.split("\n", 1)[0].upper()
        return "loinc" if "LOINC_NUM" in head or "PATH_TO_ROOT" in head else "table"
    start = _start(path)
    if start.lstrip("\ufeff \n").startswith("<"):
        return "skos" if "rdf:RDF" in start or "skos" in start else "claml"
    if start[:5].isdigit() and start[5:6] == " ":
        return "order"
    return "table"


def _start(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(4000)


def text_of(path: Path) -> str:
    """The text of a file without a byte order mark."""
    return read_text(path, HierarchyError).removeprefix("\ufeff")
