"""What a notebook shows of an object: its numbers, its tree or its picture, without scripts and in a few kilobytes.

Everything from data is escaped, and only published rows are shown; the pages (`to_html`) say the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanopy.hierarchy.builders.semantic.builders import Proposal
from kanopy.hierarchy.compare import Comparison
from kanopy.hierarchy.edit import Editor
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.improve import Improvement
from kanopy.hierarchy.quality.semantic_quality import SemanticQuality
from kanopy.hierarchy.suggest import Suggestion
from kanopy.report.charts.compare import loss_bars
from kanopy.report.charts.marks import short
from kanopy.report.drawings.tree import tree_svg
from kanopy.report.pages import risk_page as risk
from kanopy.report.pages import utility_page as utility
from kanopy.report.pages.explore import map_drawing, points_table
from kanopy.report.pages.masking import tiles as masking_tiles
from kanopy.report.pages.release_page import preview
from kanopy.report.pages.release_page import tiles as release_tiles
from kanopy.report.pages.semantic import faults_list, levels_table
from kanopy.report.report import Report
from kanopy.report.shell import bullets, drawing, fold, records, snippet, table, tile_row
from kanopy.report.text import Markup, counting, figure, lines, listed, of_counted, percent, plural, whole

MOST_LABELS, MOST_LINES, MOST_COLUMNS, LONGEST_TEXT = 12, 30, 10, 200
LEAVES = 20


def drawn(thing: Any) -> str:
    """What a notebook shows of an object of the room of hierarchies.

    >>> drawn(Hierarchy.from_rows([["Lyon", "France"], ["Rome", "Italy"]])).count("<text")
    4
    """
    if isinstance(thing, Editor):
        thing = thing.hierarchy
    if isinstance(thing, Hierarchy):
        return snippet(*_named(thing), tree(thing))
    if isinstance(thing, Comparison):
        return _compared(thing)
    if isinstance(thing, SemanticQuality):
        note = f"VghGSL {thing.score:.4f}, {thing.measure}, {thing.ontology}"
        return snippet(_cut(thing.name or "Semantic quality"), note, levels_table(thing), faults_list(thing))
    if isinstance(thing, Suggestion):
        note = f"loss {figure(thing.loss)}, {plural(thing.groups, 'group')}: {thing.reason}"
        return snippet(thing.method, _cut(note), tree(thing.hierarchy))
    if isinstance(thing, Improvement):
        note = f"VghGSL {figure(thing.before)}, now {figure(thing.after)}; {plural(len(thing.edits), 'edit')}"
        edits = bullets(_cut(edit.message) for edit in thing.edits[:MOST_LINES])
        return snippet("Improved hierarchy", note, edits, tree(thing.hierarchy))
    assert isinstance(thing, Proposal), type(thing)
    note = f"VghGSL {figure(thing.score)}"
    return snippet("Proposed hierarchy", note, bullets(map(_cut, thing.notes[:MOST_LINES])), tree(thing.hierarchy))


def job(settings: Mapping[str, Any]) -> str:
    """A job, as plain data: what it promises, the role and levels of each column, and every other setting it says."""
    columns, models = dict(settings["columns"]), list(settings.get("models", []))
    keys = [key for key in ("hierarchy", "min-level", "max-level", "weight", "missing-tokens", "decimal", "separator")
            if any(key in column for column in columns.values())]  # fmt: skip
    rows = [[_cut(name), column.get("role", ""), *(_value(column.get(key, "")) for key in keys)]
            for name, column in list(columns.items())[:MOST_LINES]]  # fmt: skip
    limit = f", at most {percent(settings['suppress'])} of rows suppressed" if "suppress" in settings else ""
    shown_above = ("k", "suppress", "columns", "models")
    rest = [f"{key}: {_value(value)}" for key, value in settings.items() if key not in shown_above]
    note = plural(len(columns), "column")
    heads = ["Column", "Role", *(key.replace("-", " ").capitalize() for key in keys)]
    return snippet(
        f"Job: k = {settings['k']}{limit}", note,
        table("Columns", heads, rows) if rows else "",
        _more(len(columns)),
        bullets(_cut(_value(model)) for model in models[:MOST_LINES]),
        fold("Other settings", "", bullets(map(_cut, rest))) if rest else "",
    )  # fmt: skip


def guessed_job(guessed: Sequence[Mapping[str, Any]], decide: Sequence[str]) -> str:
    """A guessed job: what is left to decide, and each column with the reason for its role, undecided ones first."""
    columns = sorted(guessed, key=lambda guess: guess["role"] != "undecided")
    keys = ("column", "role", "hierarchy", "certainty", "reason")
    rows = [[_cut(str(guess[key] or "")) for key in keys] for guess in columns[:MOST_LINES]]
    note = f"{plural(len(columns), 'column')}; {plural(len(decide), 'open decision')}"
    heads = [key.capitalize() for key in keys]
    return snippet("Guessed job", note, bullets(map(_cut, decide)), table("Columns", heads, rows), _more(len(columns)))


def _more(columns: int) -> str:
    left = columns - MOST_LINES
    return bullets([f"{plural(left, 'more column')}"]) if left > 0 else ""


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _cut(text: str) -> str:
    return short(text, LONGEST_TEXT)


def _named(h: Hierarchy) -> tuple[str, str]:
    levels = " – ".join(whole(size) for size in h.level_sizes[:MOST_LABELS]) if h.height < MOST_LINES else ""
    note = f"{plural(h.size, 'value')}, {plural(h.height + 1, 'level')}" + (f": {levels}" if levels else "")
    return _cut(h.name or "Hierarchy"), note


def tree(h: Hierarchy) -> Markup:
    """The tree as a picture, folded where it is large; levels as a table where it does not nest."""
    if h.nested:
        return Markup(f'<div class="scroll">{tree_svg(h, leaves=LEAVES)}</div>')
    rows = [
        [str(level), whole(len(labels)), listed([short(label) for label in labels[:MOST_LABELS]], MOST_LABELS)]
        for level, labels in ((level, h.labels_at(level)) for level in range(min(h.height + 1, MOST_LINES)))
    ]
    return table("It does not nest; its levels are", ["Level", "Values", "Such as"], rows, [1])


def _compared(compared: Comparison) -> str:
    rows = [
        {
            **vars(outline),
            "name": _cut(outline.name or f"hierarchy {number + 1}"),
            "levels": outline.height + 1,
            "groups": compared.groups[number],
            "shared": ", ".join(map(whole, compared.shared_groups[number])),
        }
        for number, outline in enumerate(compared.outlines[:MOST_LINES])
    ]
    note = "the same" if compared.same else f"different; {plural(compared.common_values, 'value')} in common"
    title = plural(len(compared.outlines), "hierarchy", "hierarchies")
    return snippet(title, note, records("outlines", rows))


def release(report: Report) -> str:
    """A release: the verdict, its numbers and the first published rows."""
    facts = report.facts
    roles = {"quasi-identifier", "sensitive"}
    columns = [name for name in facts.after.columns if facts.roles.get(name) in roles][:MOST_COLUMNS]
    cut = tuple(tuple(None if cell is None else _cut(cell) for cell in row) for row in facts.after.rows)
    rows = preview(report, replace(facts.after, rows=cut), columns, "Published", None) if columns and cut else ""
    with counting(report.counted):
        numbers = tile_row(release_tiles(report, report.sizes_alone))
    checked = "verified" if report.verified else "not verified"
    return snippet(report.sentence, f"{facts.solution.algorithm}, {checked}", numbers, rows)


def masking(result: Any) -> str:
    """A masking (`MaskResult`): its numbers."""
    summary = result.summary()
    note = f"{summary['algorithm']}, k = {summary['k']}, {plural(summary['rows'], 'record')}"
    return snippet("Masked release", note, tile_row(masking_tiles(result)))


def comparison(results: Mapping[str, Any]) -> str:
    """Algorithms on one table, from `Comparison.to_dict`: bars and times, and why some made no release."""
    metric = results["metric"]
    solved = [entry for entry in results["entries"] if metric in entry["losses"]][:MOST_LINES]
    rows = [{**entry, "loss": entry["losses"][metric]} for entry in solved]
    refused = [[entry["name"], _cut(entry["reason"])] for entry in results["entries"] if entry["reason"] is not None]
    note = f"{plural(results['rows'], 'row')}, k = {results['k']}, best first"
    return snippet(
        plural(len(results["entries"]), "algorithm"),
        note,
        drawing(loss_bars(solved, metric), "kanopy", f"{metric} of each algorithm as a bar.") if solved else "",
        records("compare.notebook", rows, metric=metric) if solved else "",
        table("No release", ["algorithm", "reason"], refused[:MOST_LINES]) if refused else "",
    )


def exploration(results: Mapping[str, Any]) -> str:
    """The map of risk and utility, from `Exploration.to_dict`, and the releases that no other beats."""
    points, metric = results["points"], results["metric"]
    best = [point for point in points if point["best"]]
    points_shown = best + [point for point in points if point["loss"] is not None and not point["best"]]
    return snippet(
        plural(len(points), "release"),
        f"{plural(results['rows'], 'row')}; {plural(len(best), 'release')} that no other beats",
        map_drawing(points_shown[:500], metric) if points_shown else "",
        points_table((best or points)[:MOST_LINES], metric),
    )


def risk_assessment(results: Mapping[str, Any]) -> str:
    """The risk of a table, from `RiskAssessment.to_dict`."""
    limit = results["threshold"]
    with counting(results.get("counted", "rows")):
        verdict = of_counted(f"{percent(limit['share'])} of rows are above a risk of {percent(limit['above'])}")
        return snippet(verdict, f"by {listed(results['quasi_identifiers'], 8)}", tile_row(risk.tiles(results)))


def assessment(results: Mapping[str, Any]) -> str:
    """What a release is still good for, from `Assessment.to_dict`."""
    columns = records("utility.notebook", results["columns"][:MOST_LINES])
    note = f"{whole(results['released_rows'])} of {plural(results['rows'], 'row')}"
    return snippet(f"{percent(results['loss'])} of the detail lost", note, tile_row(utility.tiles(results)), columns)


def check(results: Mapping[str, Any]) -> str:
    """How rows group and whether models hold, from `Check.to_dict`."""
    models = records("check", results["models"]) if results["models"] else ""
    note = ("every model holds" if results["holds"] else "a model does not hold") if models else ""
    heading = f"{plural(results['rows'], 'row')} in {plural(results['classes'], 'group')}"
    members = results["rows"] if results.get("units") is None else results["units"]
    with counting(results.get("counted", "rows")):
        return snippet(heading, note, tile_row(lines("check.tiles", {**results, "members": members})), models)
