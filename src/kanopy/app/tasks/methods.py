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
    entries = []
    bundled = [name for name, source in SOURCES.items() if source.kind == BUNDLED]
    hits = find_codes(words, bundled)[:MOST_FOUND] if sought else []
    codes = {hit_of_name["classification"]: hit_of_name for hit_of_name in reversed(hits)}
    for name, source_known in SOURCES.items():
        versions = source_known.files or (name,)
        hit = next((codes[version] for version in (*versions, name) if version in codes), None)
        if sought and hit is None and not all(word in f"{name} {source_known.title}".casefold() for word in sought):
            continue
        entry: dict[str, Any] = {
            "name": name, "title": source_known.title, "versions": list(source_known.files),
            "needs": source_known.where, "levels": [],
            "rate": None, "unmatched": [], "languages": [], "licence": "",
            "hit": "" if hit is None else f"{hit['code']} {hit['label']}",
        }  # fmt: skip
        if source_known.kind == BUNDLED:
            loaded = load_classification(name)
            matches = match_values(loaded, values)
            entry |= {
                "levels": [f"{level} ({count:,})" for level, count in loaded.counts().items()],
                "rate": matches.rate, "unmatched": matches.unmatched[:SHOWN_VALUES],
                "languages": list(loaded.languages), "licence": loaded.about.licence,
            }  # fmt: skip
        entries.append(entry)
    return sorted(entries, key=lambda entry_of_name: -(entry_of_name["rate"] or 0))


def codes_of(state: WorkerState, notify: Callback, *, classification: str, code: str, language: str) -> dict[str, Any]:
    """A classification, or one code of it: what lies above, and what directly below.

    >>> found = codes_of(WorkerState(), lambda step: True, classification="countries", code="", language="")
    >>> found["below"][0]["label"], found["above"]
    ('Africa', [])
    """
    from kanopy.classifications.registry import load_classification

    loaded = load_classification(classification)
    labels = loaded.labels(language)
    at = loaded.find(code) if code else -1

    def entry(node: int) -> dict[str, Any]:
        level = loaded.levels[int(loaded.rank[node])]
        return {"code": loaded.codes[node], "label": labels[node], "level": level,
                "below": len(loaded.children.get(node, []))}  # fmt: skip

    below = loaded.children.get(at, [])
    return {
        "title": f"{loaded.about.title or loaded.name}, {loaded.about.version}", "licence": loaded.about.licence,
        "above": [] if at < 0 else [entry(ancestor) for ancestor in reversed(loaded.chain(at))],
        "below": [entry(child) for child in below[:MOST_CODES]], "more": max(len(below) - MOST_CODES, 0),
    }  # fmt: skip
