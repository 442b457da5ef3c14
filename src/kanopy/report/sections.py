"""The parts of the page below the verdict: groups, risk, loss, suppression, hierarchies, search, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy.errors import MissingDependency
from kanopy.report import charts, icicle
from kanopy.report.render import svg
from kanopy.report.words import (
    LOSS_WORDS,
    MISSING_WORDS,
    UNKNOWN_WORDS,
    esc,
    figure,
    percent,
    plural,
    seconds,
    whole,
)

if TYPE_CHECKING:
    from kanopy.metrics.risk import SizeBin
    from kanopy.report.report import ColumnReport, Report

MOST_CHIPS = 10
OPEN_UP_TO_LEVELS, OPEN_UP_TO_VALUES, OPEN_UP_TO_COLUMNS = 7, 150, 12

_LEGEND = (
    '<span class="legend"><span class="swatch before" aria-hidden="true"></span>before (outlined)</span>'
    '<span class="legend"><span class="swatch" aria-hidden="true"></span>after (solid)</span>'
)


def groups(report: Report) -> str:
    """Classes by size."""
    before, after = report.sizes_before, report.sizes_after
    alone = report.risk_before.unique_rows
    description = (
        "Share of rows by the size of their group, before and after. "
        f"Before, {percent(report.risk_before.unique_share)} of rows were alone; "
        f"after, the smallest group has {plural(report.risk_after.smallest_class, 'row')}."
    )
    lines = []
    for number, each in enumerate(before if len(before) >= len(after) else after):
        cells = "".join(
            f'<td class="n">{whole(own.classes if own else 0)}</td><td class="n">{whole(own.rows if own else 0)}</td>'
            for own in (_at(before, number), _at(after, number))
        )
        lines.append(f'<tr><th scope="row">{each.label}</th>{cells}</tr>')
    table = (
        '<table class="wide"><caption>Groups by size</caption><thead><tr><th scope="col">Rows in the group</th>'
        '<th scope="col" class="n">Groups before</th><th scope="col" class="n">Rows before</th>'
        '<th scope="col" class="n">Groups after</th><th scope="col" class="n">Rows after</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
    return (
        "<h2>How large the groups are</h2><p>Rows that are equal in all published quasi-identifiers form a group; "
        "nobody can tell them apart by what others may know. Before, "
        f"{plural(alone, 'row')} of {whole(report.risk_before.rows)} stood alone.</p>"
        f'<div class="pair">{_figure(charts.class_sizes(before, after), "sizes", description, _LEGEND)}'
        f'<div class="scroll">{table}</div></div>'
    )


def risks(report: Report) -> str:
    """Prosecutor, journalist, marketer and rows above thresholds, before and after."""
    before, after = report.risk_before, report.risk_after
    lines = [
        (
            "Prosecutor, highest",
            percent(before.highest_prosecutor),
            percent(after.highest_prosecutor),
            "Someone knows that a certain person is in the table and looks for that row: the chance of picking the "
            "right one, for the person easiest to find.",
        ),
        (
            "Prosecutor, average",
            percent(before.average_prosecutor),
            percent(after.average_prosecutor),
            "The same, for a person picked at random from the published rows.",
        ),
        (
            "Journalist, highest",
            percent(before.highest_journalist),
            percent(after.highest_journalist),
            "Someone who does not know whether the person is in the table. No population was given, so the table is "
            "taken for the whole population, the worst case: the same number.",
        ),
        (
            "Marketer",
            percent(before.marketer),
            percent(after.marketer),
            "Someone links the whole release to a register: the share of rows expected to be matched correctly.",
        ),
        (
            "Rows that stand alone",
            f"{whole(before.unique_rows)} ({percent(before.unique_share)})",
            f"{whole(after.unique_rows)} ({percent(after.unique_share)})",
            "Rows with a combination of quasi-identifiers that nobody shares.",
        ),
    ]
    body = "".join(
        f'<tr><th scope="row">{esc(name)}</th><td class="n">{esc(was)}</td><td class="n">{esc(now)}</td>'
        f'<td class="words">{esc(words)}</td></tr>'
        for name, was, now, words in lines
    )
    levels = "".join(
        f'<tr><th scope="row">above {esc(percent(threshold))}</th><td>fewer than {round(1 / threshold):,}</td>'
        f'<td class="n">{whole(rows)} ({esc(percent(rows / before.rows if before.rows else 0.0))})</td>'
        f'<td class="n">{whole(left)} ({esc(percent(left / after.rows if after.rows else 0.0))})</td></tr>'
        for (threshold, rows), (_, left) in zip(before.rows_above, after.rows_above, strict=True)
    )
    description = "Share of rows whose risk lies above a threshold, before and after: " + "; ".join(
        f"above {percent(threshold)}: {percent(rows / before.rows if before.rows else 0.0)} before, "
        f"{percent(left / after.rows if after.rows else 0.0)} after"
        for (threshold, rows), (_, left) in zip(before.rows_above, after.rows_above, strict=True)
    )
    return (
        "<h2>How likely someone is to be found again</h2><p>The risk of a row is one over the size of its group. "
        "Suppressed rows publish no quasi-identifiers: they are in no group, and all shares are shares of published "
        "rows. Risks through the sensitive columns themselves are not counted here.</p>"
        '<div class="scroll"><table class="wide"><caption>Three attackers</caption><thead><tr>'
        '<th scope="col">Attack</th><th scope="col" class="n">Before</th><th scope="col" class="n">After</th>'
        f'<th scope="col">In words</th></tr></thead><tbody>{body}</tbody></table></div>'
        f'<div class="pair">{_figure(charts.rows_at_risk(before, after), "risk", description, _LEGEND)}'
        '<div class="scroll"><table class="wide"><caption>Rows at risk</caption><thead><tr>'
        '<th scope="col">Risk of a row</th><th scope="col">Rows in its group</th>'
        '<th scope="col" class="n">Rows before</th><th scope="col" class="n">Rows after</th></tr></thead>'
        f"<tbody>{levels}</tbody></table></div></div>"
    )


def losses(report: Report) -> str:
    """Loss per column, and the release under each metric."""
    facts = report.facts
    drawing = ""
    if facts.column_losses:
        parts = "; ".join(f"{name}: {percent(loss)}" for name, loss in facts.column_losses.items())
        drawing = _figure(
            charts.column_losses(facts.column_losses), "losses", f"Detail lost per column. {parts}", "Greatest first."
        )
    lines = "".join(
        f'<tr><th scope="row">{esc(name)}{" (minimized)" if name == facts.metric else ""}</th>'
        f'<td class="n">{figure(value)}</td><td class="words">{esc(LOSS_WORDS.get(name, ""))}</td></tr>'
        for name, value in facts.losses.items()
    )
    table = (
        '<div class="scroll"><table class="wide"><caption>The release under each measure of loss</caption><thead><tr>'
        '<th scope="col">Measure</th><th scope="col" class="n">Value</th><th scope="col">What it is</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )
    return (
        "<h2>What was lost</h2><p>The detail of a column is how far a published value still narrows down the original "
        "one: 0% is as exact as before, 100% says nothing. A suppressed row counts as 100%.</p>"
        f'<div class="pair">{drawing}{table}</div>'
    )


def suppressed(report: Report) -> str:
    """Rows that are not published and why; the policies."""
    facts, gone = report.facts, report.suppression
    size = "every model" if report.k is None else f"a group of at least {report.k:,}"
    reasons = [
        (
            "Their group would be too small",
            gone.violating,
            f"Even after generalizing they do not reach {size}. Allowed were {whole(gone.limit_rows)} rows "
            f"({percent(gone.limit)}).",
        ),
        (
            "Missing or unknown values",
            gone.excluded,
            "Left out from the start, by the policies stated below.",
        ),
    ]
    body = "".join(
        f'<tr><th scope="row">{esc(why)}</th><td class="n">{whole(rows)}</td>'
        f'<td class="n">{percent(rows / report.rows if report.rows else 0.0)}</td>'
        f'<td class="words">{esc(words)}</td></tr>'
        for why, rows, words in reasons
    )
    total = (
        f'<tr><th scope="row">Suppressed in all</th><td class="n"><b>{whole(gone.rows)}</b></td>'
        f'<td class="n"><b>{percent(gone.share)}</b></td><td class="words"></td></tr>'
    )
    return (
        "<h2>What was suppressed, and why</h2><p>For a suppressed row no quasi-identifier is published.</p>"
        '<div class="scroll"><table class="wide"><caption>Suppressed rows by reason</caption><thead><tr>'
        '<th scope="col">Reason</th><th scope="col" class="n">Rows</th><th scope="col" class="n">Of all rows</th>'
        f'<th scope="col">In words</th></tr></thead><tbody>{body}{total}</tbody></table></div>'
        f'<dl class="facts">{_policy("Missing values", facts.missing_policy, MISSING_WORDS, facts.missing_rows)}'
        f"{_policy('Unknown values', facts.unknown_policy, UNKNOWN_WORDS, facts.unknown_rows)}</dl>"
    )


def _policy(title: str, policy: str, words: dict[str, str], rows: dict[str, int]) -> str:
    found = [f"{esc(name)} in {plural(number, 'row')}" for name, number in rows.items() if number]
    where = f" Found: {', '.join(found)}." if found else " None were found."
    return f"<dt>{title}</dt><dd><b>{esc(policy)}</b>: {words.get(policy, '')}{where}</dd>"


def hierarchies(report: Report, values: bool) -> str:
    """Every quasi-identifier's hierarchy with what was published marked."""
    parts = "".join(_hierarchy(report, j, values) for j in range(len(report.columns)))
    kind = (
        "The outlined band is the level at which the column is published."
        if report.facts.solution.levels is not None
        else "Groups were recoded one by one, so several levels are in use; outlined are the values that are published."
    )
    return (
        "<h2>The hierarchies, and where the release stands in them</h2><p>Each band is a level: original values at the "
        f"bottom, ever broader ones above. {kind}</p>{parts}"
    )


def _hierarchy(report: Report, j: int, values: bool) -> str:
    column = report.columns[j]
    hierarchy, name = column.hierarchy, esc(column.name)
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
    drawing = ""
    if icicle.can_draw(hierarchy):
        drawing = icicle.icicle_svg(
            hierarchy.renamed(column.name),
            published,
            notes,
            level=column.level,
            named=None if values else published,
        )
        drawing = f'<div class="scroll">{drawing}</div>'
    small = height < OPEN_UP_TO_LEVELS and hierarchy.size <= OPEN_UP_TO_VALUES
    opened = ' open="open"' if small and len(report.columns) <= OPEN_UP_TO_COLUMNS else ""
    table = _levels_table(column, notes, published, values)
    if drawing:
        table = f'<details class="inline"><summary class="small">The same as a table</summary>{table}</details>'
    return (
        f'<details{opened}><summary><b>{name}</b> <span class="muted">· {where} · {became}</span></summary>'
        f'<div class="in">{drawing}{table}</div></details>'
    )


def _published_nodes(report: Report, j: int) -> set[int]:
    recoding = report.facts.solution.recoding
    if not recoding.nodes:
        return set()
    codes = np.unique(recoding.codes[recoding.group_sizes > 0, j])
    return {int(node) for node in recoding.nodes[j][codes] if node >= 0}


def _levels_table(column: ColumnReport, notes: dict[int, str], published: set[int], values: bool) -> str:
    from kanopy.report.report import level_sizes

    hierarchy = column.hierarchy
    sizes = level_sizes(hierarchy)
    # A tree of hundreds of levels has no readable table: show the levels in use, the top and the bottom.
    shown = range(len(sizes)) if len(sizes) <= 40 else sorted({0, len(sizes) - 1, *notes})
    lines = []
    for level in reversed(list(shown)):
        labels: Sequence[str] = ()
        if len(sizes) <= 40:
            nodes = hierarchy.level(level).nodes
            nodes = nodes if values else nodes[np.isin(nodes, list(published))]
            labels = [hierarchy.label(int(node)) for node in nodes[:MOST_CHIPS]]
        chips = "".join(f'<span class="chip">{esc(label)}</span>' for label in labels)
        more = sizes[level] - len(labels)
        chips += f' <span class="muted">and {whole(more)} more</span>' if labels and more > 0 else ""
        note = f"◀ {esc(notes[level])}" if level in notes else ""
        lines.append(
            f'<tr class="{"on" if level in notes else "off"}"><th scope="row">{level}</th>'
            f'<td class="n">{whole(sizes[level])}</td><td>{chips}</td><td>{note}</td></tr>'
        )
    return (
        f'<div class="scroll"><table class="wide levels"><caption>Levels of {esc(column.name)}</caption><thead><tr>'
        '<th scope="col">Level</th><th scope="col" class="n">Values</th><th scope="col">Such as</th>'
        f'<th scope="col">Published</th></tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def search(report: Report, values: bool) -> str:
    """How the release was found, how it was checked, and how long it took."""
    facts, solution = report.facts, report.facts.solution
    best = (
        "Proved: no other choice of levels satisfies the job and loses less."
        if solution.optimal
        else "Not proved: a better release may exist."
    )
    entries = [("Algorithm", esc(solution.algorithm)), ("Best possible", best)]
    entries.append(("Minimized", f"{esc(facts.metric)}, {figure(report.score)}"))
    if solution.candidates:
        rest = solution.candidates - solution.judged
        fate = "ruled out by bounds that cannot err" if solution.optimal else "ruled out or not looked at"
        entries.append(
            (
                "Candidates",
                f"{whole(solution.candidates)}: {whole(solution.judged)} judged, {whole(max(rest, 0))} {fate}",
            )
        )
    entries += [("Promise", esc(model.explain())) for model in facts.models]
    entries.append(("Suppression allowed", f"{percent(facts.suppression_limit)} of rows"))
    listing = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in entries)
    notes = "".join(f"<li>{esc(note)}</li>" for note in report.notes)
    checks = "".join(
        f'<tr><th scope="row">{esc(str(name).replace("_", " "))}</th><td>{esc(_word(value))}</td></tr>'
        for name, value in facts.verification.items()
        if isinstance(value, (bool, int, float, np.number)) or (values and isinstance(value, str))
    )
    times = "".join(
        f'<tr><th scope="row">{esc(name)}</th><td class="n">{seconds(value)}</td></tr>'
        for name, value in facts.seconds.items()
    )
    return (
        "<h2>How it was found and checked</h2>"
        f'<dl class="facts">{listing}</dl>'
        + (f'<ul class="notes">{notes}</ul>' if notes else "")
        + '<div class="pair">'
        '<div><table class="wide"><caption>Second opinion <span class="muted">– the published labels grouped '
        "anew, without codes or search</span></caption>"
        f"<tbody>{checks or '<tr><td>none</td></tr>'}</tbody></table></div>"
        f'<div><table class="wide"><caption>Time</caption><tbody>{times}</tbody></table></div></div>'
    )


def again(report: Report) -> str:
    """The job file and the script."""
    return (
        "<h2>Run it again</h2><p>The same table, the same job and the same version give the same release.</p>"
        f"<details><summary><b>The job</b> <span class='muted'>· job.toml</span></summary>"
        f'<div class="in"><pre>{esc(report.facts.job_toml)}</pre></div></details>'
        f"<details><summary><b>The script</b> <span class='muted'>· reproduce.py</span></summary>"
        f'<div class="in"><pre>{esc(report.to_script())}</pre></div></details>'
    )


def _figure(chart: dict[str, Any], name: str, description: str, caption: str) -> str:
    """A drawn chart; where the plotting library is absent the page says so and its tables remain."""
    try:
        drawing = svg(chart, name, description)
    except MissingDependency as error:
        drawing = f"<p>{esc(error)}</p>"
    return f'<figure><figcaption>{caption}</figcaption><div class="scroll">{drawing}</div></figure>'


def _at(bins: tuple[SizeBin, ...], number: int) -> SizeBin | None:
    return bins[number] if number < len(bins) else None


def _word(value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return whole(int(value))
    if isinstance(value, (float, np.floating)):
        return figure(float(value))
    return str(value)
