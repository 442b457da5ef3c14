"""The parts of the page that only a release has: promises, loss, suppression, hierarchies, search, manifest, and the
way back. Risk and usefulness are worded by `risk_sections` and `utility_sections`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kanopy.metrics.risk.class_sizes import size_histogram
from kanopy.report.charts import release_charts as charts
from kanopy.report.charts.assessment import columns_chart
from kanopy.report.charts.places import place_map
from kanopy.report.drawings import icicle
from kanopy.report.pages import utility_sections
from kanopy.report.shell import bar, bullets, drawing, explained, fold, pair, part, records, table
from kanopy.report.text import Markup, esc, figure, lines, listed, percent, plural, seconds, sentence, told, whole

if TYPE_CHECKING:
    from kanopy.report.report import ColumnReport, Report

MOST_CHIPS = 10
OPEN_UP_TO_LEVELS, OPEN_UP_TO_VALUES, OPEN_UP_TO_COLUMNS = 7, 150, 12


def promises(report: Report, values: bool) -> str:
    """Each privacy model: what it promises and whether the published table was found to keep it."""
    facts = report.facts
    state = facts.verification.get("verified")
    word = {True: "holds", False: "does not hold"}.get(state if isinstance(state, bool) else None, "not checked")  # type: ignore[arg-type]
    rows = [[m.name, m.said(report.counted) if values else m.promise(report.counted), word] for m in facts.models]
    removed = [name for name, role in facts.roles.items() if role == "identifier" and name not in facts.after.columns]
    if removed:
        rows.append(["identifiers", sentence("release.promises.identifiers", names=listed(removed, 12)), word])
    return part("release.promises", table("Privacy models", ["Model", "In words", "Verified"], rows))


def people(report: Report) -> str:
    """Why people are counted: how many rows each has, and how many people share each published combination."""
    units = report.facts.domain.units
    if units is None:
        return ""
    rows, groups = size_histogram(units.multiplicity), report.sizes_after
    shares = (
        [(b.label, b.classes / (sum(size_bin.classes for size_bin in bins) or 1)) for b in bins[:10]]
        for bins in (rows, groups)
    )
    titles = (
        (f"Share of {units.called}", "Rows each has"),
        ("Share of groups", f"{units.called.capitalize()} in the group"),
    )
    drawn = [columns_chart(share, *title) for share, title in zip(shares, titles, strict=True)]
    words = (f"{units.called.capitalize()} by rows", f"Groups by {units.called}")
    pictures = [drawing(c, f"people{i}", w) for i, (c, w) in enumerate(zip(drawn, words, strict=True))]
    known_of_each = "all rows" if not units.known else plural(units.known, "row")
    numbers = {
        "rows": report.rows, "units": units.count, "called": units.called, "known": known_of_each,
        "most": int(units.multiplicity.max()), "smallest": report.classes.smallest,
    }  # fmt: skip
    return part("release.people", pair(*pictures), **numbers)


def advice(report: Report) -> str:
    """What would help where a column is wiped or most of the detail is gone, with numbers."""
    if not report.lost or not report.facts.advice:
        return ""
    return part("release.advice", records("release.advice", report.facts.advice), lost=report.lost)


def losses(report: Report) -> str:
    """What each column lost, the release under each metric, and how much of the loss may be avoidable."""
    facts = report.facts
    meanings = told("losses")
    rows = [
        [f"{name} (minimized)" if name == facts.metric else name, figure(value), meanings.get(name, "")]
        for name, value in facts.losses.items()
    ]
    measures = table("The release under each measure of loss", ["Measure", "Value", "What it is"], rows, [1])
    utility = report.findings.utility
    if utility is not None:
        return utility_sections.losses(utility, measures) + _bound(report) + _maps(report)
    parts = "; ".join(f"{name}: {percent(loss)}" for name, loss in facts.column_losses.items())
    chart = charts.column_losses(facts.column_losses)
    picture = drawing(chart, "losses", f"Detail lost per column. {parts}", "Greatest first.") if parts else ""
    return part("release.losses", pair(picture, measures), _bound(report), _maps(report))


def _maps(report: Report) -> str:
    """The published cells of each column of places, on a plain map."""
    drawn: list[str] = []
    for column in report.columns:
        chart = place_map(column.published_labels)
        if chart is not None:
            words = f"The {len(column.published_labels):,} published cells of {column.name}"
            drawn.append(
                drawing(chart, f"map-{len(drawn)}", words, f"{words}: longitude to the right, latitude upwards.")
            )
    return "".join(drawn)


def _bound(report: Report) -> str:
    """How far the loss is from what was proved to be the least possible."""
    bound, gap, loss = report.facts.bound, report.gap, report.facts.losses.get("loss")
    if bound is None or gap is None or loss is None:
        return ""
    share = min(1.0, bound.value / loss) if loss > 0 else 1.0
    words = lines("release.bound.lines", {"loss": loss, "bound": bound.value, "passes": bound.passes, "gap": gap})
    unavoidable = bar(share, told("release.bound.unavoidable"), "bar long")
    return f"<h3>How far from the best possible</h3><p>{unavoidable}</p>{explained(words)}"


def manifest(report: Report) -> str:
    """The value-free manifest: parameters, versions, checksums and what was verified."""
    if report.manifest is None:
        return ""
    manifest_data = json.loads(report.manifest)
    job, verified = manifest_data["job"], manifest_data["verified"]
    files = [[role, entry["name"], entry["sha256"]] for role, entry in manifest_data["files"].items()]
    trees = [
        [name, whole(entry["values"]), whole(entry["levels"]), entry["sha256"]]
        for name, entry in manifest_data["hierarchies"].items()
    ]
    algorithm = job["algorithm"]
    settings = {
        **manifest_data,
        "versions": _said(manifest_data["versions"]),
        "algorithm": algorithm if isinstance(algorithm, str) else _said(algorithm),
        "kept": job["suppressed-rows"] == "keep",
        "second_count": _said({key.replace("_", " "): f"{n:,}" for key, n in verified["second_count"].items()}),
        "identifiers": listed(verified["identifiers_absent"], 20) or "none named",
        "pseudonymized": listed(verified["pseudonymized"], 20) or "none",
    }
    return part(
        "release.manifest",
        explained(lines("release.manifest.lines", settings)),
        table("Files", ["Role", "Name", "SHA-256"], files) if files else "",
        table("Hierarchies", ["Column", "Values", "Levels", "SHA-256"], trees, [1, 2]),
        _source("The same for machines", "manifest.json", report.manifest),
    )


def _said(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _source(title: str, name: str, text: str) -> Markup:
    return fold(title, name, f"<pre>{esc(text)}</pre>")


def suppressed(report: Report) -> str:
    """Rows that are not published and why; the policies."""
    facts, suppression = report.facts, report.suppression
    size = "every model" if report.k is None else f"a group of at least {report.k:,}"
    violating = sentence(
        "release.suppressed.violating", size=size, limit_rows=suppression.limit_rows, limit=suppression.limit
    )
    words = (violating, told("release.suppressed.excluded"))
    rows: list[list[object]] = [
        [why, whole(number), percent(number / report.rows if report.rows else 0.0), text]
        for why, number, text in zip(
            told("release.suppressed.reasons"), (suppression.violating, suppression.excluded), words, strict=True
        )
    ]
    total = (Markup(f"<b>{esc(text)}</b>") for text in (whole(suppression.rows), percent(suppression.share)))
    rows.append(["Suppressed in all", *total, ""])
    policies = [
        ("Missing values", _policy(facts.missing_policy, told("missing"), facts.missing_rows)),
        ("Unknown values", _policy(facts.unknown_policy, told("unknown"), facts.unknown_rows)),
    ]
    listing = table("Suppressed rows by reason", ["Reason", "Rows", "Of all rows", "In words"], rows, [1, 2])
    return part("release.suppressed", listing, explained(policies), sensitive=" ".join(facts.about_suppressed))


def _policy(policy: str, words: Mapping[str, str], rows: Mapping[str, int]) -> str:
    counts = [f"{name} in {plural(number, 'row')}" for name, number in rows.items() if number]
    where = f"Found: {', '.join(counts)}." if counts else "None were found."
    return sentence("release.suppressed.policy", policy=policy, words=words.get(policy, ""), where=where)


def hierarchies(report: Report, values: bool) -> str:
    """Every quasi-identifier's hierarchy with what was published marked."""
    parts = "".join(_hierarchy(report, j, values) for j in range(len(report.columns)))
    kind = told("release.hierarchies")["local" if report.facts.solution.levels is None else "global"]
    return part("release.hierarchies", parts, kind=kind)


def _hierarchy(report: Report, j: int, values: bool) -> str:
    column = report.columns[j]
    hierarchy = column.hierarchy
    height = hierarchy.height
    if column.level is not None:
        where = f"level {column.level} of {height}" if column.level else "as it is"
        notes = {column.level: "published"}
    else:
        where = "levels " + ", ".join(str(use.level) for use in column.level_uses if use.level >= 0)
        if all(use.level < 0 for use in column.level_uses):
            where = "ranges, without a hierarchy"
        notes = {use.level: f"{percent(use.share)} of rows" for use in column.level_uses if use.level >= 0}
    became = f"{plural(hierarchy.size, 'value')}, {plural(len(column.published_labels), 'published label')}"
    published = _published_nodes(report, j)
    picture = ""
    if icicle.can_draw(hierarchy):
        picture = icicle.icicle_svg(
            hierarchy.renamed(column.name), published, notes, level=column.level, named=None if values else published
        )
        picture = f'<div class="scroll">{picture}</div>'
    small = height < OPEN_UP_TO_LEVELS and hierarchy.size <= OPEN_UP_TO_VALUES
    listing = _levels_table(column, notes, published, values)
    if picture:
        listing = fold("The same as a table", "", listing)
    opened = small and len(report.columns) <= OPEN_UP_TO_COLUMNS
    return fold(column.name, f"{where} · {became}", picture + listing, opened=opened)


def _published_nodes(report: Report, j: int) -> set[int]:
    recoding = report.facts.solution.recoding
    if not recoding.nodes:
        return set()
    codes = np.unique(recoding.codes[recoding.group_sizes > 0, j])
    return {int(node) for node in recoding.nodes[j][codes] if node >= 0}


def _levels_table(column: ColumnReport, notes: dict[int, str], published: set[int], values: bool) -> Markup:
    from kanopy.report.report import level_sizes

    hierarchy = column.hierarchy
    sizes = level_sizes(hierarchy)
    # A tree of hundreds of levels has no readable table: show the levels in use, the top and the bottom.
    levels_shown = range(len(sizes)) if len(sizes) <= 40 else sorted({0, len(sizes) - 1, *notes})
    rows: list[list[object]] = []
    kinds = []
    for level in reversed(list(levels_shown)):
        labels: Sequence[str] = ()
        if len(sizes) <= 40:
            nodes = hierarchy.level(level).nodes
            nodes = nodes if values else nodes[np.isin(nodes, list(published))]
            labels = [hierarchy.label(int(node)) for node in nodes[:MOST_CHIPS]]
        chips = "".join(f'<span class="chip">{esc(label)}</span>' for label in labels)
        more = sizes[level] - len(labels)
        chips += f' <span class="muted">and {whole(more)} more</span>' if labels and more > 0 else ""
        note = f"◀ {notes[level]}" if level in notes else ""
        rows.append([str(level), whole(sizes[level]), Markup(chips), note])
        kinds.append("on" if level in notes else "off")
    heads = ["Level", "Values", "Such as", "Published"]
    return table(f"Levels of {column.name}", heads, rows, [1], kinds=kinds, look="levels")


def search(report: Report, values: bool) -> str:
    """How the release was found, how it was checked, and how long it took."""
    facts, solution = report.facts, report.facts.solution
    best = told("release.search.proved" if solution.optimal else "release.search.unproved")
    if solution.floor and not solution.optimal:
        best += " " + sentence("release.search.gap", **solution.proved())
    entries = [("Algorithm", solution.algorithm), ("Best possible", best)]
    entries.append(("Minimized", f"{facts.metric}, {figure(report.score)}"))
    if solution.candidates:
        judged = {
            "candidates": solution.candidates,
            "judged": solution.judged,
            "rest": max(solution.candidates - solution.judged, 0),
            "optimal": solution.optimal,
        }
        entries.append(("Candidates", sentence("release.search.candidates", **judged)))
    entries.append(("Suppression allowed", f"{percent(facts.suppression_limit)} of rows"))
    checks = [
        [str(name).replace("_", " "), _word(value)]
        for name, value in facts.verification.items()
        if isinstance(value, (bool, int, float, np.number)) or (values and isinstance(value, str))
    ]
    again = sentence("release.search.again")
    notes = [*report.notes, *(facts.private_notes if values else ())]
    if facts.private_notes and not values:
        notes.append(sentence("release.search.private", count=len(facts.private_notes)))
    times = [[name, seconds(value)] for name, value in facts.seconds.items()]
    tables = pair(table(again, ["", ""], checks or [["none", ""]]), table("Time", ["", ""], times, [1]))
    return part("release.search", explained(entries), bullets(notes), tables)


def again(report: Report) -> str:
    """The job file and the script."""
    job = _source("The job", "job.toml", report.facts.job_toml)
    return part("release.again", job, _source("The script", "reproduce.py", report.to_script()))


def _word(value: object) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, int):
        return whole(plain)
    return figure(plain) if isinstance(plain, float) else str(plain)
