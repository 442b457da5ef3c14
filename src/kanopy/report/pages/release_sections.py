"""The parts of the page that only a release has: promises, loss, suppression, hierarchies, search, manifest, and the
way back. Risk and usefulness are worded by `risk_sections` and `utility_sections`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kanopy.report.charts import release as charts
from kanopy.report.drawings import icicle
from kanopy.report.pages import utility_sections
from kanopy.report.shell import bar, bullets, drawing, explained, fold, pair, section, table
from kanopy.report.words import (
    LOSS_WORDS,
    MISSING_WORDS,
    UNKNOWN_WORDS,
    Markup,
    esc,
    figure,
    listed,
    percent,
    plural,
    seconds,
    whole,
)

if TYPE_CHECKING:
    from kanopy.privacy.models import Model
    from kanopy.report.report import ColumnReport, Report

MOST_CHIPS = 10
OPEN_UP_TO_LEVELS, OPEN_UP_TO_VALUES, OPEN_UP_TO_COLUMNS = 7, 150, 12


def promises(report: Report, values: bool) -> str:
    """Each privacy model: what it promises and whether the published table was found to keep it."""
    facts = report.facts
    state = facts.verification.get("verified")
    word = {True: "holds", False: "does not hold"}.get(state if isinstance(state, bool) else None, "not checked")  # type: ignore[arg-type]
    rows = [[model.name, model.explain() if values else value_free(model), word] for model in facts.models]
    gone = [name for name, role in facts.roles.items() if role == "identifier" and name not in facts.after.columns]
    if gone:
        rows.append(["identifiers", f"Columns that name people directly are not published: {listed(gone, 12)}.", word])
    return section(
        "What is promised, and was it checked",
        "A privacy model says what “safe” means. All of these must hold together. They were checked on the published "
        "labels by other code than the one that found the release; had one failed, nothing would have been written.",
        table("Privacy models", ["Model", "In words", "Verified"], rows),
    )


def value_free(model: Model) -> str:
    """What a model promises, without values of the table that it may name.

    >>> from kanopy.privacy.models import KAnonymity
    >>> value_free(KAnonymity(3))
    'Every published combination of quasi-identifiers is shared by at least 3 rows.'
    """
    named = any(isinstance(value, (dict, list)) for value in model.to_dict().values())
    return model.summary if named else model.explain()


def losses(report: Report) -> str:
    """What each column lost, the release under each metric, and how much of the loss may be avoidable."""
    facts = report.facts
    rows = [
        [f"{name} (minimized)" if name == facts.metric else name, figure(value), LOSS_WORDS.get(name, "")]
        for name, value in facts.losses.items()
    ]
    measures = table("The release under each measure of loss", ["Measure", "Value", "What it is"], rows, [1])
    found = report.findings.utility
    if found is not None:
        return utility_sections.losses(found, measures) + _bound(report)
    parts = "; ".join(f"{name}: {percent(loss)}" for name, loss in facts.column_losses.items())
    chart = charts.column_losses(facts.column_losses)
    picture = drawing(chart, "losses", f"Detail lost per column. {parts}", "Greatest first.") if parts else ""
    return section(
        "What was lost",
        "The detail of a column is how far a published value still narrows down the original one: 0% is as exact as "
        "before, 100% says nothing. A suppressed row counts as 100%.",
        pair(picture, measures),
        _bound(report),
    )


def _bound(report: Report) -> str:
    """How far the loss is from what was proved to be the least possible."""
    bound, gap, loss = report.facts.bound, report.gap, report.facts.losses.get("loss")
    if bound is None or gap is None or loss is None:
        return ""
    share = min(1.0, bound.value / loss) if loss > 0 else 1.0
    proof = f"no release under this job can lose less: proved in {plural(bound.passes, 'pass', 'passes')}"
    words = [
        ("Loss", figure(loss), "what this release loses"),
        ("Bound", figure(bound.value), proof),
        ("Gap", percent(gap), "at most this share of the loss may be avoidable; 0% would be proved the best possible"),
    ]
    return (
        "<h3>How far from the best possible</h3>"
        f"<p>{bar(share, 'The filled part of the loss is unavoidable, the rest may or may not be.', 'bar long')}</p>"
        + explained((name, Markup(f"<b>{esc(value)}</b>: {esc(text)}")) for name, value, text in words)
    )


def manifest(report: Report) -> str:
    """The value-free manifest: parameters, versions, checksums and what was verified."""
    if report.manifest is None:
        return ""
    found = json.loads(report.manifest)
    job, verified = found["job"], found["verified"]
    files = [[role, each["name"], each["sha256"]] for role, each in found["files"].items()]
    trees = [
        [name, whole(each["values"]), whole(each["levels"]), each["sha256"]]
        for name, each in found["hierarchies"].items()
    ]
    algorithm = job["algorithm"]
    settings = [
        ("Made", found["made"]),
        ("Versions", ", ".join(f"{name} {number}" for name, number in found["versions"].items())),
        ("k", whole(job["k"])),
        ("Suppression allowed", percent(job["suppress"])),
        ("Minimized", str(job["metric"])),
        ("Algorithm", algorithm if isinstance(algorithm, str) else ", ".join(f"{k} {v}" for k, v in algorithm.items())),
        ("Missing, unknown", f"{job['missing']}, {job['unknown']}"),
        ("Suppressed rows", {"keep": "kept, with * in every quasi-identifier"}.get(job["suppressed-rows"], "left out")),
        ("Second count", ", ".join(f"{key.replace('_', ' ')} {n:,}" for key, n in verified["second_count"].items())),
        ("Identifiers absent", listed(verified["identifiers_absent"], 20) or "none named"),
        ("Pseudonymized", listed(verified["pseudonymized"], 20) or "none"),
        ("Proved optimal", "yes" if found["proved_optimal"] else "no"),
    ]
    return section(
        "The manifest",
        "What was done, with which parameters and versions, and what was verified, without any value of the table. "
        "Whoever has the files can recompute the checksums (SHA-256) and see that these are the files meant.",
        explained(settings),
        table("Files", ["Role", "Name", "SHA-256"], files) if files else "",
        table("Hierarchies", ["Column", "Values", "Levels", "SHA-256"], trees, [1, 2]),
        _source("The same for machines", "manifest.json", report.manifest),
    )


def _source(title: str, name: str, text: str) -> Markup:
    return fold(title, name, f"<pre>{esc(text)}</pre>")


def suppressed(report: Report) -> str:
    """Rows that are not published and why; the policies."""
    facts, gone = report.facts, report.suppression
    size = "every model" if report.k is None else f"a group of at least {report.k:,}"
    limit = f"Allowed were {plural(gone.limit_rows, 'row')} ({percent(gone.limit)})."
    reasons = [
        (
            "Their group would be too small",
            gone.violating,
            f"Even after generalizing they do not reach {size}. {limit}",
        ),
        ("Missing or unknown values", gone.excluded, "Left out from the start, by the policies stated below."),
    ]
    rows: list[list[object]] = [
        [why, whole(number), percent(number / report.rows if report.rows else 0.0), words]
        for why, number, words in reasons
    ]
    total = (Markup(f"<b>{esc(text)}</b>") for text in (whole(gone.rows), percent(gone.share)))
    rows.append(["Suppressed in all", *total, ""])
    return section(
        "What was suppressed, and why",
        "For a suppressed row no quasi-identifier is published.",
        table("Suppressed rows by reason", ["Reason", "Rows", "Of all rows", "In words"], rows, [1, 2]),
        explained(
            [
                ("Missing values", _policy(facts.missing_policy, MISSING_WORDS, facts.missing_rows)),
                ("Unknown values", _policy(facts.unknown_policy, UNKNOWN_WORDS, facts.unknown_rows)),
            ]
        ),
    )


def _policy(policy: str, words: dict[str, str], rows: dict[str, int]) -> Markup:
    found = [f"{name} in {plural(number, 'row')}" for name, number in rows.items() if number]
    where = f" Found: {', '.join(found)}." if found else " None were found."
    return Markup(f"<b>{esc(policy)}</b>: {esc(words.get(policy, '') + where)}")


def hierarchies(report: Report, values: bool) -> str:
    """Every quasi-identifier's hierarchy with what was published marked."""
    parts = "".join(_hierarchy(report, j, values) for j in range(len(report.columns)))
    kind = (
        "The outlined band is the level at which the column is published."
        if report.facts.solution.levels is not None
        else "Groups were recoded one by one, so several levels are in use; outlined are the values that are published."
    )
    return section(
        "The hierarchies, and where the release stands in them",
        f"Each band is a level: original values at the bottom, ever broader ones above. {kind}",
        parts,
    )


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
            hierarchy.renamed(column.name),
            published,
            notes,
            level=column.level,
            named=None if values else published,
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
    shown = range(len(sizes)) if len(sizes) <= 40 else sorted({0, len(sizes) - 1, *notes})
    rows: list[list[object]] = []
    kinds = []
    for level in reversed(list(shown)):
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
    best = (
        "Proved: no other choice of levels satisfies the job and loses less."
        if solution.optimal
        else "Not proved: a better release may exist."
    )
    entries = [("Algorithm", solution.algorithm), ("Best possible", best)]
    entries.append(("Minimized", f"{facts.metric}, {figure(report.score)}"))
    if solution.candidates:
        rest = solution.candidates - solution.judged
        fate = "ruled out by bounds that cannot err" if solution.optimal else "ruled out or not looked at"
        judged = f"{whole(solution.judged)} judged, {whole(max(rest, 0))} {fate}"
        entries.append(("Candidates", f"{whole(solution.candidates)}: {judged}"))
    entries.append(("Suppression allowed", f"{percent(facts.suppression_limit)} of rows"))
    checks = [
        [str(name).replace("_", " "), _word(value)]
        for name, value in facts.verification.items()
        if isinstance(value, (bool, int, float, np.number)) or (values and isinstance(value, str))
    ]
    again = Markup(
        'Second opinion <span class="muted">– the published labels grouped anew, without codes or search</span>'
    )
    times = [[name, seconds(value)] for name, value in facts.seconds.items()]
    return section(
        "How it was found and checked",
        "",
        explained(entries),
        bullets(report.notes),
        pair(table(again, ["", ""], checks or [["none", ""]]), table("Time", ["", ""], times, [1])),
    )


def again(report: Report) -> str:
    """The job file and the script."""
    return section(
        "Run it again",
        "The same table, the same job and the same version give the same release.",
        _source("The job", "job.toml", report.facts.job_toml),
        _source("The script", "reproduce.py", report.to_script()),
    )


def _word(value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return whole(int(value))
    if isinstance(value, (float, np.floating)):
        return figure(float(value))
    return str(value)
