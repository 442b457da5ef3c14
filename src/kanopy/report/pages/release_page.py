"""The page a data steward reads and hands on. It only words what `Report` holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import MISSING_LABEL, SUPPRESSED_LABEL
from kanopy.report.documents.attacks import held_back
from kanopy.report.pages import release_sections as sections
from kanopy.report.pages import risk_sections as risks
from kanopy.report.pages import utility_sections as words_of
from kanopy.report.pages.treated import treated_section
from kanopy.report.shell import Chapter, Tile, bar, bullets, explained, part, section, shell, table
from kanopy.report.text import Markup, esc, lines, listed, methods_of, percent, plural, sentence, told, whole

if TYPE_CHECKING:
    from kanopy.report.report import ColumnReport, Findings, Preview, Report

MOST_PREVIEW_COLUMNS, MOST_PREVIEW_ROWS = 10, 10
SIDE_BY_SIDE_COLUMNS = 6
MOST_STEPS = 9
MOST_DRAWN = 6


def page(report: Report, *, values: bool = False) -> str:
    """The whole page, to hand on. `values=True` adds original rows, every label of the hierarchies and the job."""
    findings = report.findings
    before, after, utility = findings.before, findings.after, findings.utility
    useful: list[tuple[str, str]] = [("loss", sections.losses(report))]
    if utility is not None:
        useful += [
            ("distributions", words_of.distributions(utility, findings.distributions, findings.least_rows, MOST_DRAWN)),
            ("associations", words_of.pairs(utility)),
            ("counts", words_of.queries(utility)),
            ("learning", words_of.learning(utility)),
            ("statistics", words_of.bounds(utility, methods_of(report.facts.treatments))),
        ]
    if findings.notes:
        useful.append(("limits-of-this-page", section("What was not measured", "", bullets(findings.notes))))
    chapters = [
        ("promise", "Promise", Chapter("", [
            ("advice", sections.advice(report)),
            ("promises", sections.promises(report, values)),
            ("people", sections.people(report)),
            ("columns", _columns(report, values)),
            ("rows", _before_after(report, values)),
            ("suppressed", sections.suppressed(report)),
        ])),
        ("risk", "Risk", Chapter("Risk, before and after", [
            ("groups", risks.groups(before, after)),
            ("attackers", risks.attackers(before, after)),
            ("population", risks.population(before, after)),
            ("linkage", risks.attacks(after)),
            ("disclosure", risks.disclosure(before, after)),
            ("identifying", risks.columns(before)),
        ])),
        ("attacks", "Attacks", Chapter("Attacks beside a control group", _attacks(report))),
        ("utility", "Usefulness", Chapter("What the release is still good for", useful)),
        ("treated", "Treated columns", Chapter("", [
            ("treatments", treated_section(report.facts.treatments, report.facts.treated_studies)),
        ])),
        ("made", "How it was made", Chapter("How it was made", [
            ("hierarchies", sections.hierarchies(report, values)),
            ("search", sections.search(report, values)),
        ])),
        ("record", "Manifest", Chapter("For the record", [
            ("manifest", sections.manifest(report)),
            ("again", sections.again(report) if values else ""),
        ])),
    ]  # fmt: skip
    return shell(
        "Privacy report",
        report.facts.source if values else source_name(report.facts.source),
        version=report.facts.version,
        good=report.holds,
        verdict=report.sentence,
        sentences=_sentences(report),
        warning=_warning(report, values),
        tiles=tiles(report, findings),
        parts=chapters,
        footer=told("release.footer"),
    )


def _attacks(report: Report) -> list[tuple[str, str]]:
    """What attacks on the release found, where it was attacked: the sections of their document."""
    from kanopy.report.documents.attacks import sections as attack_sections
    from kanopy.report.documents.page import content

    attack_report = report.facts.attacks
    if not attack_report:
        return []
    verdict_lines = (attack_report["verdict"], *([held_back(attack_report)] if attack_report.get("held_back") else []))
    chapter_sections: list[tuple[str, str]] = [
        ("attack-verdict", section("What was measured", "", bullets(verdict_lines)))
    ]
    return chapter_sections + [
        (f"attack-{number}", content(attack_section))
        for number, attack_section in enumerate(attack_sections(attack_report), 1)
    ]


def source_name(source: str) -> str:
    """What a source is called without saying where it lies (folders, servers, passwords).

    >>> source_name("postgresql://me:secret@host/people"), source_name("/home/me/people.csv"), source_name("a table")
    ('people', 'people.csv', 'a table')
    """
    return re.split(r"[/\\]", source.split("?")[0].split("@")[-1].rstrip("/\\"))[-1] or "a table"


def _sentences(report: Report) -> list[str]:
    """Below the verdict: whether it was checked, what is published, what was done."""
    if report.verified:
        smallest = report.facts.verification.get("smallest_class", report.classes.smallest)
        checked = sentence("release.checked", smallest=int(smallest))
    else:
        disagreed = report.facts.verification.get("verified") is False
        checked = sentence("release.disagreed" if disagreed else "release.unchecked")
    loss = report.facts.losses.get("loss")
    lost = "" if loss is None else sentence("release.lost", loss=loss)
    published_sentence = sentence(
        "release.published", share=_published_share(report), counts=_published(report), loss=lost
    )
    names = listed(report.untouched, 12)
    untouched = sentence("release.untouched", names=names) if names else ""
    return [words for words in (report.lost, checked, published_sentence, _done(report), untouched) if words]


def _published_share(report: Report) -> str:
    return percent(report.published_rows / report.rows) if report.rows else "0%"


def _published(report: Report) -> str:
    return f"{whole(report.published_rows)} of {whole(report.rows)}"


def _done(report: Report) -> str:
    """What was done, in a sentence."""
    changed = [column.name for column in report.columns if not column.unchanged]
    unchanged = len(report.columns) - len(changed)
    identifiers = [name for name, role in report.facts.roles.items() if role == "identifier"]
    hashed = [name for name in identifiers if name in report.facts.after.columns]
    removed = len(identifiers) - len(hashed)
    parts = [f"{plural(len(changed), 'column')} that an attacker may know became broader ({listed(changed, 6)})"]
    if not changed:
        parts = ["No column had to become broader"]
    elif unchanged:
        parts.append(f"{unchanged} stayed as {'it was' if unchanged == 1 else 'they were'}")
    if removed:
        parts.append(f"{plural(removed, 'identifying column was', 'identifying columns were')} removed")
    if left := sum(role == "undecided" for role in report.facts.roles.values()):
        parts.append(f"{plural(left, 'column without a decision was', 'columns without a decision were')} left out")
    if hashed:
        parts.append(f"{plural(len(hashed), 'identifier')} replaced by keyed pseudonyms")
    parts.append(f"{plural(report.suppression.rows, 'row')} suppressed")
    return "What was done: " + "; ".join(parts) + "."


def _warning(report: Report, values: bool) -> str:
    least = report.k or report.findings.least_rows
    return sentence("release.warning_values") if values else sentence("release.warning", rows=least)


def tiles(report: Report, findings: Findings) -> list[Tile]:
    """The numbers that matter most."""
    after, loss = findings.after, report.facts.losses.get("loss")
    unchanged = [column.name for column in report.columns if column.unchanged]
    numbers = {
        "before": findings.before, "after": after, "over": risks.over(after), "loss": loss,
        "metric": report.facts.metric,
        "share": _published_share(report) if report.rows else "–", "counts": _published(report),
        "suppressed": report.suppression.rows, "score": report.facts.solution.score,
        "wanted": f"k = {report.k} was asked for; " if report.k is not None else "",
        "average": report.classes.rows / after["classes"] if after["classes"] else 0.0,
        "unchanged": len(unchanged), "columns": len(report.columns),
        "names": listed(unchanged) if unchanged else told("release.columns.every"),
    }  # fmt: skip
    units = report.facts.domain.units
    if units is not None and units.count:
        # The tile then speaks of people: those of whom some row is published.
        published = len(np.unique(units.of_row[report.facts.solution.recoding.group_of_row >= 0]))
        numbers |= {"share": percent(published / units.count), "suppressed": units.count - published}
        numbers["counts"] = f"{whole(published)} of {whole(units.count)}"
    tile_names = ("tiles", "tiles_score" if loss is None else "tiles_loss", "tiles_unchanged")
    return [tile for name in tile_names for tile in lines(f"release.{name}", numbers)]


def _columns(report: Report, values: bool) -> str:
    weighted = len({column.weight for column in report.columns}) > 1
    rows = [
        [
            column.name,
            _level(column),
            _example(report, column, values),
            *([f"{column.weight:g}"] if weighted else []),
            "–" if column.loss is None else bar(column.loss, percent(column.loss)),
        ]
        for column in report.columns
    ]
    heads = ["Column", "Published", "For example", *(["Weight"] if weighted else []), "Detail lost"]
    others = [
        (f"{role.capitalize()} ({words})", _fate(report, role))
        for role, words in told("roles").items()
        if role != "quasi-identifier" and role in report.facts.roles.values()
    ]
    listing = table("Quasi-identifiers", heads, rows, range(3, len(heads)))
    return part("release.columns", listing, explained(others), optimal=report.facts.solution.optimal)


def _fate(report: Report, role: str) -> str:
    """The other columns of a role: published as they are, or removed."""
    published = set(report.facts.after.columns)
    names = [name for name, column_role in report.facts.roles.items() if column_role == role]
    published_names = [name for name in names if name in published]
    removed = [name for name in names if name not in published]
    methods = methods_of(report.facts.treatments)
    plain = [name for name in published_names if name not in methods]
    parts = [f"{listed(plain, shown=12)}: published as {'it is' if len(plain) == 1 else 'they are'}"] if plain else []
    parts += [f"{name}: treated ({methods[name]})" for name in published_names if name in methods]
    if role == "sensitive" and published_names:
        parts += [
            f"{name}: guarded by {listed(report.guards(name))}" for name in published_names if report.guards(name)
        ]
        bare = [name for name in plain if not report.guards(name)]
        parts += [f"{listed(bare, shown=12)}: no model guards {'it' if len(bare) == 1 else 'them'}"] if bare else []
    parts += [f"{listed(removed, shown=12)}: removed"] if removed else []
    return "; ".join(parts)


def _level(column: ColumnReport) -> str:
    height = column.hierarchy.height
    if column.level is None:
        used = [use for use in column.level_uses if use.level >= 0]
        if not used:
            return "ranges, without a hierarchy"
        as_is = sum(use.share for use in used if use.level == 0)
        high = max(use.level for use in used)
        return f"levels {min(use.level for use in used)} to {high} of {height}; original in {percent(as_is)} of rows"
    words = f"level {column.level} of {height}"
    if column.level == 0:
        words = "as it is"
    elif column.level == height and len(column.published_labels) <= 1:
        words += ": nothing left"
    steps = min(height, MOST_STEPS)
    on = round(column.level * steps / height) if height else 0
    meter = "".join(f'<i class="{"on" if step < on else "off"}"></i>' for step in range(steps))
    return Markup(f'<span class="meter" aria-hidden="true">{meter}</span>{words}')


def _example(report: Report, column: ColumnReport, values: bool) -> str:
    """The commonest value that changed and what became of it."""
    if column.level is None:
        became = f"{plural(column.hierarchy.size, 'value')}, {plural(len(column.published_labels), 'published label')}"
        return Markup(f'<span class="muted">{became}</span>')
    j = report.facts.domain.names.index(column.name)
    marginal = report.facts.domain.marginals[j]
    if not marginal.any():
        return ""
    row = column.hierarchy.table[column.level]
    labels = column.hierarchy.labels
    # A value of a few rows may be one person's: only the steward's own page names it.
    rarest = 1 if values else max(2, report.k or 0, report.findings.least_rows)
    commonest = [int(leaf) for leaf in np.argsort(-marginal, kind="stable")[:50] if marginal[leaf] >= rarest]
    if not commonest:
        return Markup('<span class="muted">every value is rare</span>')
    leaf = next((leaf for leaf in commonest if labels[leaf] != labels[row[leaf]] and marginal[leaf]), commonest[0])
    original, label = esc(labels[leaf]), esc(labels[row[leaf]])
    if original == label:
        return original
    return Markup(f'{original}<span class="arrow" aria-label="became"> → </span>{label}')


def _before_after(report: Report, values: bool) -> str:
    facts = report.facts
    before, after = facts.before, facts.after
    if not (before if values else after).rows:
        return ""
    hidden = [name for name, role in facts.roles.items() if role == "identifier"]
    rank = {"quasi-identifier": 0, "sensitive": 1}
    columns = [name for name in before.columns if facts.roles.get(name) in rank]
    columns.sort(key=lambda name: rank[facts.roles[name]])
    columns = columns[:MOST_PREVIEW_COLUMNS]
    left_out = [name for name in before.columns if name not in columns and name not in hidden]
    omitted = [f"Identifiers are never shown here ({listed(hidden)})."] if hidden else []
    omitted += [f"Not shown: {listed(left_out, shown=8)}."] if left_out else []
    small = f'<p class="small muted">{esc(" ".join(omitted))}</p>' if omitted else ""
    published = preview(report, after, columns, "After" if values else "Published", before)
    if not values:
        return part("release.rows", f'<div class="stacked">{published}</div>', small)
    layout = "pair" if len(columns) <= SIDE_BY_SIDE_COLUMNS else "stacked"
    both = f'<div class="{layout}">{preview(report, before, columns, "Before", None)}{published}</div>'
    return part("release.rows_values", both, small)


def preview(report: Report, own_preview: Preview, columns: list[str], title: str, original: Preview | None) -> str:
    """The first rows; where the `original` is given, what changed is marked."""
    roles = report.facts.roles
    heads = "".join(
        f'<th scope="col">{esc(name)}{"<span>sensitive</span>" if roles.get(name) == "sensitive" else ""}</th>'
        for name in columns
    )
    at = {name: position for position, name in enumerate(own_preview.columns)}
    rows = dict(zip(own_preview.row_numbers(), own_preview.rows, strict=True))
    first = original or own_preview
    before = dict(zip(first.row_numbers(), first.rows, strict=True))
    before_at = {name: position for position, name in enumerate(first.columns)}
    quasi = report.facts.domain.names
    group_of_row = report.facts.solution.recoding.group_of_row
    body = []
    for index, number in enumerate(list(before if original is not None else rows)[:MOST_PREVIEW_ROWS]):
        row = rows.get(number)
        suppressed = original is not None and number < len(group_of_row) and bool(group_of_row[number] < 0)
        if suppressed and row is not None:  # unless the preview left suppressed rows out before numbering
            suppressed = all(row[at[name]] in (SUPPRESSED_LABEL, None) for name in quasi if name in at)
        row_shown = index + 1 if report.facts.shuffled else number + 1
        head = f'<tr class="{"suppressed" if suppressed else "kept"}"><th scope="row">{row_shown}</th>'
        if row is None:
            body.append(f'{head}<td colspan="{len(columns)}">suppressed: not in the release</td></tr>')
            continue
        cells = []
        for name in columns:
            if name not in at:
                cells.append('<td class="gone">removed</td>')
                continue
            cell = _text(row[at[name]])
            was = _text(before[number][before_at[name]]) if name in before_at else cell
            changed = original is not None and not suppressed and cell != was
            kind = "changed" if changed else "hid" if suppressed and name in quasi else "same"
            cells.append(f'<td class="{kind}">{esc(cell)}</td>')
        body.append(head + "".join(cells) + "</tr>")
    return (
        f'<div class="scroll"><table class="preview"><caption>{title}</caption>'
        f'<thead><tr><th scope="col">Row</th>{heads}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
    )


def _text(cell: str | None) -> str:
    return MISSING_LABEL if cell is None else cell
