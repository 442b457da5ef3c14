"""Read and write hierarchy files, and find the ones that belong to the columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from kanopy._errors import DataError, HierarchyError, some
from kanopy._files import read_text, usable, write_whole
from kanopy._lazy import public
from kanopy._usage import Needs, checked, refuse_in_vain
from kanopy.hierarchy.files.csv_format import level_table_csv, parent_child_csv, parse_csv
from kanopy.hierarchy.files.dot_format import hierarchy_dot, parse_dot
from kanopy.hierarchy.files.json_format import hierarchy_json, parse_json
from kanopy.hierarchy.hierarchy import Hierarchy

KINDS = (".csv", ".json", ".dot", ".gv", ".tsv", ".txt")


@public("kanopy")
@checked
def read_hierarchy(path: str | Path, *, column: str | None = None, require_nesting: bool = True) -> Hierarchy:
    """A hierarchy from a file: CSV (level table or child,parent; separator and encoding detected), JSON or DOT.

    `column` names the hierarchy; without it the name is the one in the file, or the file's. Errors name the file
    and the line.

    >>> import tempfile
    >>> path = write_hierarchy(Hierarchy.flat(["f", "m"], name="sex"), Path(tempfile.mkdtemp()) / "sex.csv")
    >>> read_hierarchy(path)
    <Hierarchy of sex: 2 values, 2 levels>
    """
    path = Path(path)
    text = read_text(path, HierarchyError)
    where = path.name
    kind = _kind(path)
    if kind == ".json":
        h = parse_json(text, where, name=column or "")
        return h if h.name else h.renamed(path.stem)
    if kind in (".dot", ".gv"):
        return parse_dot(text, where, name=column or "")
    return parse_csv(text, where, name=column if column is not None else path.stem, require_nesting=require_nesting)


@public("kanopy")
@checked
def write_hierarchy(h: Hierarchy, path: str | Path, *, parents: bool = False) -> Path:
    """Write a hierarchy in the format of the file's ending; the file appears whole or not at all,
    and nobody but its owner may read it.

    `.csv` is a level table with semicolons (or child,parent with `parents=True`), `.tsv` the same with tabs,
    `.json` keeps everything, `.dot` can be drawn by Graphviz.

    >>> import tempfile
    >>> write_hierarchy(Hierarchy.flat(["f", "m"]), Path(tempfile.mkdtemp()) / "sex.csv").read_text()
    'f;*\\nm;*\\n'
    """
    path = Path(path)
    kind = _kind(path)
    if parents and kind not in (".csv", ".tsv"):
        refuse_in_vain({"parents": Needs("a file of delimited text (.csv or .tsv)", lambda asked: False)})
    if kind == ".json":
        text = hierarchy_json(h) + "\n"
    elif kind in (".dot", ".gv"):
        text = hierarchy_dot(h)
    else:
        separator = "\t" if kind == ".tsv" else "," if parents else ";"
        text = parent_child_csv(h, separator) if parents else level_table_csv(h, separator)
    try:
        write_whole(path, text, private=True)
    except DataError as error:
        raise HierarchyError(f"Cannot write the hierarchy. {error}") from error
    return path


@public("kanopy.hierarchy")
@checked
def find_hierarchies(folder: str | Path, columns: Iterable[str]) -> dict[str, Path]:
    """Which file of a folder holds the hierarchy of which column.

    `<column>.csv` and `<column>.json` come first, then any file that ends in `_<column>.csv` (or `.json`). Case,
    and `-` or space for `_`, may differ if nothing fits exactly. Columns without a file are left out; two files
    for one column are an error.

    >>> import tempfile
    >>> path = write_hierarchy(Hierarchy.flat(["f", "m"]), Path(tempfile.mkdtemp()) / "adult_sex.csv")
    >>> {column: path.name for column, path in find_hierarchies(path.parent, ["sex", "age"]).items()}
    {'sex': 'adult_sex.csv'}
    """
    folder = usable(folder, HierarchyError)
    if not folder.is_dir():
        raise HierarchyError(f"There is no folder {folder} to read hierarchies from.")
    columns = list(columns)
    files = sorted(path for path in folder.iterdir() if path.suffix.casefold() in (".csv", ".json") and path.is_file())
    paths: dict[str, Path] = {}
    for fold in (str, _folded):
        # A file may end in several column names ("net_income" and "income"): it belongs to the longest.
        owner = {path: max(fits, key=len) for path in files if (fits := _fits(path, columns, fold))}
        for column in columns:
            mine = [path for path, name in owner.items() if name == column]
            exact = [path for path in mine if fold(path.stem) == fold(column)]
            candidates = exact or mine
            if len(candidates) > 1:
                raise HierarchyError(
                    f"Several files may be the hierarchy of {column!r}: {some(path.name for path in candidates)}. "
                    "Keep one of them in the folder."
                )
            if candidates:
                paths.setdefault(column, candidates[0])
        columns = [column for column in columns if column not in paths]
        files = [path for path in files if path not in paths.values()]
    return paths


def _fits(path: Path, columns: Iterable[str], fold: Callable[[str], str]) -> list[str]:
    stem = fold(path.stem)
    return [column for column in columns if stem == fold(column) or stem.endswith("_" + fold(column))]


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")


def _kind(path: Path) -> str:
    kind = path.suffix.casefold()
    if kind not in KINDS:
        raise HierarchyError(f"{path.name}: hierarchy files end in .csv, .json or .dot, not in {kind or 'nothing'!r}.")
    return kind
