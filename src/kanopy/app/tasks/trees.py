"""Hierarchies: suggested ones ranked, a tree ready to be drawn, the scores of an edited one, and what words mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kanopy._errors import KanopyError, OntologyError
from kanopy._progress import Callback, Progress
from kanopy.app.tasks.worker_state import WorkerState, job_of
from kanopy.hierarchy.files.json_format import hierarchy_json, parse_json
from kanopy.hierarchy.suggest import (
    choose_hierarchy,
    loss_at,
    node_facts,
    official_suggestions,
    readable,
    suggest_hierarchies,
)
from kanopy.report.report import node_levels

if TYPE_CHECKING:
    from kanopy.hierarchy.builders.base import Builder
    from kanopy.hierarchy.builders.semantic.builders import Proposal
    from kanopy.hierarchy.column import Column
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.ontology.senses.senses import Senses

MOST_TRIED = 3_000
"""Columns with more different values are not given to every method unasked: some take minutes on them."""
MOST_NODES = 2_500
MOST_CHILDREN = 80
SHOWN_LABELS = 4
MOST_WORDS = 2_000


def suggestions(
    state: WorkerState,
    notify: Callback,
    *,
    source: str,
    job: str,
    project_folder: str,
    column: str,
    everything: bool = False,
) -> dict[str, Any]:
    """The hierarchies that fit a column, best first, with what each loses and whether it reads well."""
    wanted = job_of(job, project_folder)
    values = state.column(source, column, wanted)
    k = min(max(wanted.k, 2), max(values.rows, 1))
    Progress(notify)("trying methods")
    if values.size > MOST_TRIED and not everything:
        # Official levels take no longer where there are many codes.
        tried = [*official_suggestions(values, k=k), choose_hierarchy(values, k=k)]
        ranked, rest = sorted(tried, key=lambda suggestion: suggestion.loss), True
    else:
        ranked, rest = suggest_hierarchies(values, k=k), False
    plain = readable(values.inferred(), k)
    return {
        "more": rest,
        "words": values.inferred().kind == "text" and values.size <= MOST_WORDS,
        "ranked": [
            {
                "method": _called(suggestion.builder), "loss": suggestion.loss, "typical": suggestion.typical_loss,
                "groups": suggestion.groups, "levels": suggestion.hierarchy.height + 1,
                "readable": suggestion.reads_well or any(type(suggestion.builder) is type(one) for one in plain),
                "labels": _sample(suggestion.hierarchy),
                "hierarchy": hierarchy_json(suggestion.hierarchy.rooted()),
            }
            for suggestion in ranked
        ],
    }  # fmt: skip


def _called(builder: Builder) -> str:
    """The method, with the parameters that somebody chose."""
    changed = [
        f"{field.name} {getattr(builder, field.name)}"
        for field in dataclasses.fields(builder)
        if getattr(builder, field.name) not in (field.default, None, "", ()) and field.name != "k"
    ]
    return builder.method + (f" ({', '.join(changed)})" if changed else "")


def _sample(hierarchy: Hierarchy) -> str:
    """Some labels of the first level above the values."""
    level = min(1, hierarchy.height)
    labels = hierarchy.labels_at(level)
    return ", ".join(labels[:SHOWN_LABELS]) + (" …" if len(labels) > SHOWN_LABELS else "")


def tree(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, column: str, hierarchy: str
) -> dict[str, Any]:
    """A hierarchy ready to be drawn: per node its rows, or people, and its loss; and its scores at the job's k."""
    from kanopy._table.roles import called
    from kanopy.study.column_profiles import people_under

    wanted = job_of(job, project_folder)
    tree = parse_json(hierarchy, column, name=column)
    values = state.column(source, column, wanted)
    answer: dict[str, Any] = {"scores": None, "problem": ""}
    rows: Any = None
    losses = None
    try:
        k = min(max(wanted.k, 2), max(values.rows, 1))
        loss, groups = loss_at(tree, values, k)
        answer["scores"] = {"loss": loss, "groups": groups, "levels": tree.height + 1, "values": tree.size, "k": k}
        rows, losses = node_facts(tree, values)
        if wanted.unit and tree.nested:
            people = people_under(state.frame(source, wanted), column, tree, wanted)
            levels = node_levels(tree)
            rows = [people.get((int(levels[node]), tree.label(node)), 0) for node in range(tree.node_count)]
    except KanopyError as error:
        answer["problem"] = str(error)
    return {**answer, **_nodes(tree, rows, losses), "level_sizes": tree.level_sizes,
            "counted": called(wanted.unit) if wanted.unit else "rows"}  # fmt: skip


def _nodes(tree: Hierarchy, rows: Any, losses: Any) -> dict[str, Any]:
    """Nodes from the top down, as many as can be looked at; children that are left out are counted."""
    if not tree.nested:
        return {"nodes": [], "shown": False}
    levels = node_levels(tree)
    nodes: list[dict[str, Any]] = []
    line = [(int(root), -1) for root in tree.roots]
    while line and len(nodes) < MOST_NODES:
        following = []
        for node, parent in line:
            children = tree.children(node) if node >= tree.size else []
            low = tree.low
            if low is not None:
                children.sort(key=lambda child: float(low[child]))
            elif rows is not None and not all(tree.label(child).isdigit() for child in children):
                children.sort(key=lambda child: -int(rows[child]))
            nodes.append({
                "id": node, "parent": parent, "label": tree.label(node)[:120], "level": int(levels[node]),
                "rows": None if rows is None else int(rows[node]),
                "loss": None if losses is None else round(float(losses[node]), 4),
                "children": len(children), "leaf": node < tree.size,
            })  # fmt: skip
            following += [(child, node) for child in children[:MOST_CHILDREN]]
        line = following
    return {"nodes": nodes, "shown": True, "whole": len(nodes) == tree.node_count}


def meaning(
    state: WorkerState,
    notify: Callback,
    *,
    source: str,
    job: str,
    project_folder: str,
    column: str,
    chosen: Mapping[str, str],
) -> dict[str, Any]:
    """Hierarchies by what the words of a column mean, how much meaning each loses, and which words are unsure."""
    from kanopy.hierarchy.builders.registry import make_builder
    from kanopy.ontology.load import load_ontology

    wanted, progress = job_of(job, project_folder), Progress(notify)
    values = state.column(source, column, wanted)
    synonyms = dict(chosen) or None
    progress("looking words up")
    load_ontology("wordnet")
    offers: list[dict[str, Any]] = []
    senses: Senses | None = None
    notes: list[str] = []
    for words, parameters in (("near in meaning", {}), ("of one kind", {"style": "taxonomy"})):
        progress(f"grouping words that are {words}")
        builder: Any = make_builder("ontology", synonyms=synonyms, **parameters)
        try:
            proposal: Proposal = builder.propose_column(values)
        except KanopyError as error:
            notes.append(str(error))
            continue
        loss, groups = loss_at(proposal.hierarchy, values, min(max(wanted.k, 2), values.rows))
        offers.append({
            "method": f"ontology: {words}", "loss": loss, "typical": None, "groups": groups, "meaning": proposal.score,
            "levels": proposal.hierarchy.height + 1, "readable": True, "labels": _sample(proposal.hierarchy),
            "hierarchy": hierarchy_json(proposal.hierarchy.rooted()),
        })  # fmt: skip
        senses = proposal.senses
    return {"offers": offers, "unsure": [] if senses is None else _unsure(senses, values), "notes": notes}


def _unsure(senses: Senses, column: Column) -> list[dict[str, Any]]:
    """Words with several senses that fit as well, each sense with what it is about."""
    unsure = []
    for choice in senses.ambiguous:
        names = [senses.name(choice.label) or "", *senses.others(choice.label)]
        unsure.append({
            "label": choice.label, "reason": choice.reason,
            "senses": [{"name": name, "about": _about(senses, name)} for name in names],
        })  # fmt: skip
    return unsure


def _about(senses: Senses, name: str) -> str:
    """What a sense is: its definition where one is installed, else the words above it."""
    from kanopy.ontology.readers.glosses import find_glosses
    from kanopy.ontology.senses.labels import named_concepts

    taxonomy = senses.taxonomy
    concept = named_concepts(taxonomy, name, "The sense")[0]
    try:
        return find_glosses(taxonomy).texts[concept]
    except (OntologyError, AttributeError):
        above = [concept, *(ancestor for ancestor in taxonomy.ancestors_of(concept) if ancestor != concept)][1:4]
        return "a kind of " + ", ".join(taxonomy.label(ancestor) for ancestor in above) if above else ""


def meanings(
    state: WorkerState,
    notify: Callback,
    *,
    source: str,
    job: str,
    project_folder: str,
    column: str,
    hierarchies: list[str],
) -> list[float | None]:
    """How much meaning each of some hierarchies of words loses; `None` where too few of its words are known."""
    from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
    from kanopy.ontology.load import load_ontology

    scores: list[float | None] = []
    for text in hierarchies:
        try:
            tree = parse_json(text, column, name=column)
            scores.append(float(evaluate_hierarchy(tree, load_ontology("wordnet")).score))
        except KanopyError:
            scores.append(None)
    return scores


def compared(state: WorkerState, notify: Callback, *, one: str, other: str, column: str) -> dict[str, Any]:
    """Two hierarchies side by side: how many groups of values they share."""
    from kanopy.hierarchy.compare import compare_hierarchies

    comparison = compare_hierarchies(
        [parse_json(one, column, name="this"), parse_json(other, column, name="the other")]
    )
    return {"groups": list(comparison.groups), "shared": comparison.shared_groups[0][1], "same": comparison.same}
