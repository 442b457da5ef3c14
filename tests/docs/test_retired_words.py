"""Retired words do not come back: names of modules, classes and functions follow docs/contributing/glossary.md."""

from __future__ import annotations

import ast
from pathlib import Path

import kanopy

SOURCES = Path(kanopy.__file__).parent
MODULES = {
    "afar", "bands", "bench", "beside", "by_values", "desk", "fitting", "given", "ladders", "many", "moments",
    "passages", "places_page", "scales", "settling", "starts", "strata", "walks", "window", "work",
}  # fmt: skip
NAMES = {
    "AT_HOME", "Band", "Beside", "Desk", "DataPlace", "ExposedEnds",
    "Fitting", "Looks", "Maybe", "Moments", "OutOfWork",
    "Passages", "Recoded", "ResultAfar", "JudgeAfar", "Spoken", "TooManyKinds", "Whose", "Window", "as_said", "at_home",
    "emptied", "exposed_ends", "make_ladders", "rows_of_tuple",
}  # fmt: skip
VARIABLES = {"each", "found", "gone", "kept", "known", "own", "part", "place", "said", "shown", "told"}
"""Names that say nothing of what a variable holds. Compiled loops still have some; parameters and fields are not looked at."""
ROOMS = {
    "_compiler", "_core", "_job", "_table", "classifications", "extend", "hierarchy", "metrics", "ontology", "privacy", "report",
    "search", "study", "verify",
}  # fmt: skip
"""Where no variable has such a name."""
SAYS_WHAT_IT_HOLDS = {("report/documents", "part")}
"""A part of a document is a `Part`."""
KERNELS = {"Desk"}
"""Names that compiled loops still have."""


def test_no_retired_word_names_anything() -> None:
    wrong = []
    for path in SOURCES.rglob("*.py"):
        if path.stem in MODULES:
            wrong.append(str(path.relative_to(SOURCES)))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name in NAMES - (
                KERNELS if path.stem.endswith("_kernel") else set()
            ):
                wrong.append(f"{path.relative_to(SOURCES)}:{node.lineno} {node.name}")
    assert not wrong, wrong


def test_variables_say_what_they_hold() -> None:
    wrong = []
    for path in (path for room in ROOMS for path in (SOURCES / room).rglob("*.py")):
        if path.stem.endswith("_kernel"):
            continue
        where = path.relative_to(SOURCES)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        fields = {
            id(target)
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            for line in node.body
            for target in ast.walk(line)
            if isinstance(line, ast.AnnAssign | ast.Assign)
        }
        for node in ast.walk(tree):
            stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields
            if stored and node.id in VARIABLES and (str(where.parent), node.id) not in SAYS_WHAT_IT_HOLDS:
                wrong.append(f"{where}:{node.lineno} {node.id}")
    assert not wrong, wrong
