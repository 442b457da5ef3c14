"""Hierarchies as CSV: a level table (one row per value, as ARX writes it) or a list of child and parent."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from kanopy._errors import HierarchyError, listed, some
from kanopy.hierarchy.construct import Bounds, level_table, paused_collection
from kanopy.hierarchy.hierarchy import Hierarchy

SEPARATORS = (";", "\t", "|", ",")
"""In the order they are tried: a comma comes last because labels such as [17, 25] contain it."""

BEST_SCORE = (True, True, 0, 0)
"""Rows of one length and no torn label: no later separator can fit better."""

CHILD_NAMES = frozenset({"child", "value", "node", "id", "term"})
LEVEL_NAME = re.compile(r"level[ _-]?\d+|generali[sz]ation[ _-]?\d*", re.IGNORECASE)
NUMBER = re.compile(r"-?\d+(\.\d+)?")
INTERVAL = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)\]")

Numbered = list[tuple[int, list[str]]]


def parse_csv(text: str, where: str, *, name: str = "", require_nesting: bool = True) -> Hierarchy:
    """A hierarchy from CSV text; `where` names the file in errors.

    >>> parse_csv("Lyon;France;*\\nRome;Italy;*\\n", "cities.csv").labels_at(1)
    ('France', 'Italy')
    >>> parse_csv("child,parent\\ncat,mammal\\ncarp,animal\\nmammal,animal\\n", "animals.csv").height
    2
    """
    with paused_collection():
        rows = _rows(text, where)
    first = [cell.strip().casefold() for cell in rows[0][1]]
    if len(first) == 2 and "parent" in first and (first[0] in CHILD_NAMES or first[1] in CHILD_NAMES):
        return _parent_child(rows[1:], where, name, flipped=first[0] == "parent")
    if _is_header(first, name):
        rows = rows[1:]
        if not rows:
            raise HierarchyError(f"{where} has a header but no rows. Give one row per value.")
    if len(first) == 2 and _chains(rows):
        return _parent_child(rows, where, name, flipped=False)
    return _level_table(rows, where, name, require_nesting)


def _rows(text: str, where: str) -> Numbered:
    """Non-empty rows with their line numbers, read with the separator that fits best."""
    if not text.strip():
        raise HierarchyError(f"{where} is empty. A hierarchy file has one row per value: value;broader;…;*")
    best: tuple[tuple[bool, bool, int, int], Numbered] | None = None
    quoted = '"' in text
    for separator in SEPARATORS:
        if separator not in text:  # one column
            continue
        rows = _split(text, separator, where)
        if not rows:  # nothing but separators
            continue
        widths = Counter(len(row) for _, row in rows)
        width, same = max(widths.items(), key=lambda item: (item[1], item[0]))
        if width == 1 and len(widths) == 1:
            continue
        # The right separator gives every row the same number of cells and cuts through no quoted label; among
        # several such the first wins. If there is none, errors report on the one that comes closest.
        whole = len(widths) == 1
        torn = quoted and any('"' in separator.join(row) and _torn(row) for _, row in rows)
        score = (whole, not torn) + ((0, 0) if whole else (same if width > 1 else 0, width))
        if best is None or score > best[0]:
            best = (score, rows)
        if score == BEST_SCORE:
            break
    if best is None:
        raise HierarchyError(
            f"{where} has only one column, so it does not generalize. Separate the levels of each value by "
            "semicolon, comma, tab or |, for example: Paris;France;*"
        )
    return best[1]


def _torn(row: Sequence[str]) -> bool:
    """Whether a cell of a row holds one half of a pair of quotes."""
    return any(cell.count('"') % 2 for cell in row)


def _split(text: str, separator: str, where: str) -> Numbered:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        return [(reader.line_num, row) for row in reader if any(row)]
    except csv.Error as error:
        raise HierarchyError(f"{where}, line {reader.line_num}: {error}. Check the quotes in this line.") from error


def _is_header(first: Sequence[str], name: str) -> bool:
    starts = first[0] in CHILD_NAMES or first[0] == name.casefold() or LEVEL_NAME.fullmatch(first[0]) is not None
    return starts and len(first) > 1 and all(LEVEL_NAME.fullmatch(cell) for cell in first[1:])


def _chains(rows: Numbered) -> bool:
    """Whether two columns are child and parent: some parent is itself a child, or is empty (a root)."""
    if any(len(row) != 2 for _, row in rows):
        return False
    children = {row[0] for _, row in rows if row[0] != row[1]}
    return any(row[1] in children or not row[1] for _, row in rows if row[0] != row[1])


def _parent_child(rows: Numbered, where: str, name: str, *, flipped: bool) -> Hierarchy:
    if not rows:
        raise HierarchyError(f"{where} has a header but no rows. Give one row per child: child,parent")
    seen: dict[str, tuple[int, str]] = {}
    twice = []
    for line, row in rows:
        if len(row) != 2:
            raise HierarchyError(
                f"{where}, line {line}: expected child and parent, found {len(row)} cells: {some(row)}."
            )
        child, parent = (row[1], row[0]) if flipped else (row[0], row[1])
        parent = "" if parent == child else parent
        earlier = seen.setdefault(child, (line, parent))
        if earlier[1] != parent:
            twice.append(f"{child!r} under {earlier[1]!r} (line {earlier[0]}) and {parent!r} (line {line})")
    if twice:
        raise HierarchyError(f"{where}: labels with two parents: {listed(twice)}. Keep one parent for each.")
    return Hierarchy.from_parents(((child, parent or None) for child, (_, parent) in seen.items()), name=name)


def _level_table(rows: Numbered, where: str, name: str, require_nesting: bool) -> Hierarchy:
    lines, table = [line for line, _ in rows], [row for _, row in rows]
    empty = [f"line {line}, level {row.index('', 1)}" for line, row in rows if "" in row[1:]]
    if empty and len(set(map(len, table))) == 1:
        raise HierarchyError(f"{where}: empty labels at {listed(empty)}. Repeat the label of the level before.")
    with paused_collection():
        size, labels, parent, codes = level_table(table, name, require_nesting, where, lines)
    return _with_intervals(Hierarchy(size, labels, parent, name=name, table=codes))


def _with_intervals(h: Hierarchy) -> Hierarchy:
    """Give a hierarchy its intervals back if all its labels are numbers or intervals as our builders write them."""
    if h.parent is None:
        return h
    low, high = [], []
    for label in h.labels:
        match = INTERVAL.fullmatch(label)
        ends = (match[1], match[2]) if match else (label, label)
        if not (NUMBER.fullmatch(ends[0]) and NUMBER.fullmatch(ends[1])):
            return h
        low.append(float(ends[0]))
        high.append(float(ends[1]))
    whole = not any("." in label for label in h.labels)
    lows: Bounds = np.array(low, np.float64)
    highs: Bounds = np.array(high, np.float64)
    if whole and max(map(abs, low + high)) < 2**53:
        lows, highs = lows.astype(np.int64), highs.astype(np.int64)
    inner = h.parent >= 0
    above = h.parent[inner]
    if (lows > highs).any() or (lows[inner] < lows[above]).any() or (highs[inner] > highs[above]).any():
        return h
    return h.changed(low=lows, high=highs)


def level_table_csv(h: Hierarchy, separator: str = ";") -> str:
    """The level table as text: one row per value, one column per level, no header (what ARX reads).

    >>> print(level_table_csv(Hierarchy.flat(["a;b", "c"])), end="")
    "a;b";*
    c;*
    """
    for level in range(h.height + 1):
        repeated = [label for label, times in Counter(h.labels_at(level)).items() if times > 1]
        if repeated:
            raise HierarchyError(
                f"A CSV file cannot store this hierarchy: at level {level} different nodes share the labels "
                f"{some(repeated)}, and would become one. Rename them, or save as JSON."
            )
    return "".join(separator.join(_quoted(label, separator) for label in row) + "\n" for row in h.rows())


def parent_child_csv(h: Hierarchy, separator: str = ",") -> str:
    """The tree as text: a header, then one row per child and its parent.

    >>> print(parent_child_csv(Hierarchy.flat(["a", "b"])), end="")
    child,parent
    a,*
    b,*
    """
    repeated = [label for label, times in Counter(h.labels).items() if times > 1]
    if repeated:
        raise HierarchyError(
            f"A child–parent file needs a different label for every node; these occur twice or more: "
            f"{some(repeated)}. Save as a level table (CSV) or as JSON."
        )
    labels = h.labels
    lines = [f"child{separator}parent\n"]
    for node, parent in enumerate(h.tree().tolist()):
        if parent >= 0:
            lines.append(f"{_quoted(labels[node], separator)}{separator}{_quoted(labels[parent], separator)}\n")
    return "".join(lines)


def _quoted(label: str, separator: str) -> str:
    # Quoting every possible separator, not only the one in use, keeps the detection of separators certain.
    if label == "" or label != label.strip() or any(c in label for c in (separator, *SEPARATORS, '"', "\n", "\r")):
        return '"' + label.replace('"', '""') + '"'
    return label
