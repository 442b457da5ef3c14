"""Hierarchies by a method and its parameters, and classifications to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy._errors import KanopyError
from kanopy._progress import Callback, Progress
from kanopy.app.tasks.worker_state import WorkerState, job_of
from kanopy.hierarchy.files.json_format import hierarchy_json

MOST_FOUND = 40
MOST_CODES = 200
SHOWN_VALUES = 5


def methods_for(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, column: str
) -> dict[str, Any]:
    """The methods that fit a column, and some facts about its values for their fields."""
    from kanopy.hierarchy.builders.registry import BUILDERS

    values = state.column(source, column, job_of(job, project_folder)).inferred()
    fitting = [name for name, kind in BUILDERS.items() if values.kind in kind.fits]
    return {"fitting": fitting, "kind": values.kind, "values": [str(label) for label in values.labels()[:MOST_CODES]]}


def build(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, column: str, method: str,
    parameters: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The hierarchy of a column by a method, as the text of a file, or what is wrong with its parameters."""
    from kanopy.hierarchy.builders.registry import make_builder

    wanted = job_of(job, project_folder)
    Progress(notify)("building the hierarchy")
    try:
        values = state.column(source, column, wanted)
        tree = make_builder(method, **dict(parameters)).build_column(values.inferred())
        return {"hierarchy": hierarchy_json(tree.rooted()), "wrong": ""}
    except KanopyError as error:
        return {"hierarchy": "", "wrong": str(error)}


def flat(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, column: str
) -> dict[str, Any]:
    """The flat list of a column's values below `*`, from which groups are made by hand."""
    from kanopy.hierarchy.hierarchy import Hierarchy

    values = state.column(source, column, job_of(job, project_folder))
    return {"hierarchy": hierarchy_json(Hierarchy.flat(list(values.labels()), name=column)), "wrong": ""}


def classifications(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, column: str, words: str
) -> list[dict[str, Any]]:
    """Every classification whose name, title or codes hold some words, with how much of the column it knows.

    Those that the column matches come first.
    """
    from kanopy.classifications.matching import match_values
    from kanopy.classifications.registry import BUNDLED, SOURCES, load_classification
    from kanopy.classifications.search import find_codes

    values = [str(label) for label in state.column(source, column, job_of(job, project_folder)).labels()]
    sought = words.casefold().split()
    found = []
    bundled = [name for name, each in SOURCES.items() if each.kind == BUNDLED]
    hits = find_codes(words, bundled)[:MOST_FOUND] if sought else []
    codes = {each["classification"]: each for each in reversed(hits)}
    for name, each in SOURCES.items():
        versions = each.files or (name,)
        hit = next((codes[version] for version in (*versions, name) if version in codes), None)
        if sought and hit is None and not all(word in f"{name} {each.title}".casefold() for word in sought):
            continue
        entry: dict[str, Any] = {
            "name": name, "title": each.title, "versions": list(each.files), "needs": each.where, "levels": [],
            "rate": None, "unmatched": [], "languages": [], "licence": "",
            "hit": "" if hit is None else f"{hit['code']} {hit['label']}",
        }  # fmt: skip
        if each.kind == BUNDLED:
            known = load_classification(name)
            matches = match_values(known, values)
            entry |= {
                "levels": [f"{level} ({count:,})" for level, count in known.counts().items()],
                "rate": matches.rate, "unmatched": matches.unmatched[:SHOWN_VALUES],
                "languages": list(known.languages), "licence": known.about.licence,
            }  # fmt: skip
        found.append(entry)
    return sorted(found, key=lambda each: -(each["rate"] or 0))


def codes_of(state: WorkerState, notify: Callback, *, classification: str, code: str, language: str) -> dict[str, Any]:
    """A classification, or one code of it: what lies above, and what directly below.

    >>> found = codes_of(WorkerState(), lambda step: True, classification="countries", code="", language="")
    >>> found["below"][0]["label"], found["above"]
    ('Africa', [])
    """
    from kanopy.classifications.registry import load_classification

    known = load_classification(classification)
    labels = known.labels(language)
    at = known.find(code) if code else -1

    def entry(place: int) -> dict[str, Any]:
        level = known.levels[int(known.rank[place])]
        return {"code": known.codes[place], "label": labels[place], "level": level,
                "below": len(known.children.get(place, []))}  # fmt: skip

    below = known.children.get(at, [])
    return {
        "title": f"{known.about.title or known.name}, {known.about.version}", "licence": known.about.licence,
        "above": [] if at < 0 else [entry(each) for each in reversed(known.chain(at))],
        "below": [entry(each) for each in below[:MOST_CODES]], "more": max(len(below) - MOST_CODES, 0),
    }  # fmt: skip
