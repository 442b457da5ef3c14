"""The page about a masking: what was substituted, the groups, the curves over k, and what an analyst would find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import MISSING_LABEL
from kanopy._errors import MissingDependency
from kanopy.masking.evaluation import CLUSTERS, Evaluation
from kanopy.report.charts.release import AFTER, BEFORE, WIDTH, _chart
from kanopy.report.drawings.dendrogram import dendrogram_svg
from kanopy.report.render import svg
from kanopy.report.shell import GOOD, LEAF, POLICY
from kanopy.report.style import CSS
from kanopy.report.words import esc, figure, percent, plural, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_SUBSTITUTIONS = 300
MOST_GROUPS = 100
CUTS = (3, 5, CLUSTERS)
CURVES = (
    ("semantic_quality", "Semantic quality", "mean similarity of original and published values"),
    ("record_linkage_percent", "Record linkage (%)", "records found by matching the published text"),
    ("groups", "Groups", "published combinations of answers"),
    ("dm", "Discernibility", "sum of squared group sizes"),
)


@dataclass(frozen=True, eq=False)
class MaskingFacts:
    """What the page is made from."""

    source: str
    names: tuple[str, ...]
    texts: tuple[str, ...]
    summary: dict[str, Any]
    settings: dict[str, str]
    evaluation: Evaluation
    unknown: list[dict[str, Any]]
    notes: tuple[str, ...]
    curves: list[dict[str, Any]]
    version: str

    @classmethod
    def of(cls, result: Any, curves: list[dict[str, Any]]) -> MaskingFacts:
        """From a `MaskResult`."""
        from kanopy import __version__

        job = result.job
        ontology = job.ontology if isinstance(job.ontology, str) else getattr(job.ontology, "name", "") or "given"
        settings = {
            "Columns": ", ".join(job.columns),
            "Algorithm": f"{job.algorithm}" + (f", {job.search} search" if job.algorithm == "fusion" else ""),
            "Guide": job.guide,
            "Quality stated in": job.quality_measure,
            "Heuristics": ", ".join(f"H{each}" for each in job.heuristics) or "none",
            "Ontology": str(ontology),
            "Unknown values": job.unknown,
            "Seed": str(job.seed),
        }
        return cls(
            result.source, job.columns, job.text, result.summary(), settings, result.evaluation, result.unknown,
            result.notes, curves, __version__,
        )  # fmt: skip


def page(facts: MaskingFacts) -> str:
    """One self-contained HTML page without scripts."""
    parts = [
        ("substitutions", "Substitutions", _substitutions(facts)),
        ("groups", "Groups", _groups(facts)),
        ("curves", "Curves over k", _curves(facts)),
        ("analysis", "Analysis", _analysis(facts)),
        ("unknown", "Unknown values", _unknown(facts)),
        ("how", "How it was made", _how(facts)),
    ]
    shown = [part for part in parts if part[2]]
    links = "".join(f'<a href="#{name}">{title}</a>' for name, title, _ in shown)
    body = "".join(f'<section id="{name}">{content}</section>\n' for name, _, content in shown)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="referrer" content="no-referrer"/>
<title>Masking report: {esc(facts.source)}</title>
<style>{CSS}</style>
</head>
<body>
<a class="skip" href="#verdict">To the verdict</a>
<header class="top"><div class="brand">{LEAF}<span>Masking report</span></div>
<div class="muted">{esc(facts.source)}</div><nav aria-label="Sections">{links}</nav></header>
<main>
{_hero(facts)}
<div class="confidential"><span aria-hidden="true">⚠</span><p><b>Keep this page as safe as the original table.</b>
It shows original answers so that you can judge the release. It is not part of it.</p></div>
{_tiles(facts)}
{body}</main>
<footer><p>Made by Kanopy {esc(facts.version)}.</p></footer>
</body>
</html>
"""


def _hero(facts: MaskingFacts) -> str:
    found = facts.summary
    if found["guarantees_k"]:
        sentence = (
            f"Every published combination of {esc(', '.join(facts.names))} is shared by at least "
            f"{plural(found['smallest_group'], 'person', 'people')}."
        )
        checked = (
            "This was checked a second time, independently of the masking: the published values were grouped anew. "
            f"k = {found['k']} was asked for."
        )
    else:
        sentence = "Answers were swapped; no number of equal records is promised."
        checked = "Every column keeps its values, and everybody in a small group publishes another person's answers."
    return (
        f'<div class="hero" id="verdict">{GOOD}<div><h1>{sentence}</h1><p>{checked}</p>'
        f"<p>{whole(found['changed_records'])} of {plural(found['rows'], 'record')} publish other answers than they "
        "had.</p></div></div>"
    )


def _tiles(facts: MaskingFacts) -> str:
    found = facts.summary
    rows = facts.evaluation.table.rows
    before = 100.0 * len(facts.evaluation.table.tuples) / rows
    tiles = [
        ("Semantic quality", figure(found["semantic_quality"]), f"{esc(found['measure'])}, mean over all answers"),
        ("… of changed records", figure(found["semantic_quality_of_changes"]), "mean over substituted records only"),
        ("Groups", whole(found["groups"]), f"were {whole(len(facts.evaluation.table.tuples))} combinations"),
        ("Record linkage", f"{found['record_linkage_percent']:.2f}%", f"was {before:.2f}%; exact text match"),
        ("Semantic linkage", f"{found['semantic_linkage_percent']:.2f}%", "link to the most similar original"),
        ("Information content lost", figure(found["ic_loss"]), "mean of −ln p before minus after"),
        ("Discernibility", whole(found["dm"]), f"C<sub>AVG</sub> {found['c_avg']:.2f}"),
        ("LM", figure(found["lm"]), f"NCP {figure(found['ncp'])}; original values hidden behind a published one"),
    ]
    cells = "".join(
        f'<dl class="tile"><dt>{name}</dt><dd class="number">{number}</dd><dd class="note">{note}</dd></dl>'
        for name, number, note in tiles
    )
    return f'<div class="tiles">{cells}</div>'


def _answer(values: Sequence[str | None]) -> str:
    return " · ".join(f"<i>{MISSING_LABEL}</i>" if value is None else esc(_cut(value)) for value in values)


def _cut(text: str, longest: int = 90) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _bar(share: float) -> str:
    width = max(0.0, min(1.0, share)) * 100
    return f'<span class="bar"><i style="width:{width:.0f}%"></i></span>{share:.3f}'


def _substitutions(facts: MaskingFacts) -> str:
    found = facts.evaluation.substitutions()
    if not found:
        return "<h2>What was substituted</h2><p>Nothing: every combination was frequent enough as it was.</p>"
    rows = "".join(
        f'<tr><td>{_answer(each.before)}</td><td>{_answer(each.after)}</td><td class="n">{whole(each.people)}</td>'
        f"<td>{_bar(each.similarity)}</td></tr>"
        for each in found[:MOST_SUBSTITUTIONS]
    )
    more = len(found) - MOST_SUBSTITUTIONS
    rest = f"<p>{plural(more, 'further substitution')} not shown.</p>" if more > 0 else ""
    return (
        "<h2>What was substituted</h2><p>From what people answered to what is published for them, most people first. "
        "The similarity is the mean over the columns.</p>"
        '<div class="scroll"><table class="wide"><thead><tr><th scope="col">From</th><th scope="col">To</th>'
        '<th scope="col" class="n">People</th><th scope="col">Similarity</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{rest}"
    )


def _groups(facts: MaskingFacts) -> str:
    found = facts.evaluation.groups()
    rows = "".join(
        f'<tr><td>{_answer(each["values"])}</td><td class="n">{whole(each["people"])}</td>'
        f'<td class="n">{whole(each["answers"])}</td><td>{_bar(each["similarity"])}</td></tr>'
        for each in found[:MOST_GROUPS]
    )
    more = len(found) - MOST_GROUPS
    rest = f"<p>{plural(more, 'smaller group')} not shown.</p>" if more > 0 else ""
    return (
        "<h2>The groups</h2><p>What is published, how many people share it, and how many different original "
        "combinations stand behind it.</p>"
        '<div class="scroll"><table class="wide"><thead><tr><th scope="col">Published</th>'
        '<th scope="col" class="n">People</th><th scope="col" class="n">Original combinations</th>'
        f'<th scope="col">Similarity</th></tr></thead><tbody>{rows}</tbody></table></div>{rest}'
    )


def curve_chart(curves: list[dict[str, Any]], name: str, title: str, k: int) -> dict[str, Any]:
    """One number over k as a line, the chosen k marked.

    >>> curve_chart([{"k": 2, "dm": 10}, {"k": 3, "dm": 20}], "dm", "Discernibility", 2)["data"]["values"][0]["value"]
    10
    """
    values = [{"k": each["k"], "value": each[name], "chosen": each["k"] == k} for each in curves]
    x = {"field": "k", "type": "quantitative", "axis": {"title": "k", "tickMinStep": 1, "grid": False},
         "scale": {"zero": False, "nice": False, "padding": 8}}  # fmt: skip
    y = {"field": "value", "type": "quantitative", "axis": {"title": title}, "scale": {"zero": False}}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "line", "color": AFTER, "strokeWidth": 2, "point": {"size": 34, "color": AFTER}},
         "encoding": {"x": x, "y": y}},
        {"transform": [{"filter": "datum.chosen"}],
         "mark": {"type": "point", "color": BEFORE, "size": 150, "strokeWidth": 2.5}, "encoding": {"x": x, "y": y}},
    ]  # fmt: skip
    return _chart(values, layers, width=WIDTH - 150, height=190)


def _curves(facts: MaskingFacts) -> str:
    if len(facts.curves) < 2:
        return ""
    figures = []
    for name, title, words in CURVES:
        first, last = facts.curves[0], facts.curves[-1]
        description = f"{title} from k = {first['k']} ({first[name]:.4g}) to k = {last['k']} ({last[name]:.4g})."
        try:
            drawing = svg(curve_chart(facts.curves, name, title, facts.summary["k"]), f"curve-{name}", description)
        except MissingDependency as error:
            drawing = f"<p>{esc(error)}</p>"
        figures.append(f'<figure><figcaption>{title}: {words}</figcaption><div class="scroll">{drawing}</div></figure>')
    head = "".join(f'<th scope="col" class="n">{title}</th>' for _, title, _ in CURVES)
    rows = "".join(
        f'<tr><th scope="row">{each["k"]}</th>'
        + "".join(f'<td class="n">{figure(float(each[name]))}</td>' for name, _, _ in CURVES)
        + "</tr>"
        for each in facts.curves
    )
    return (
        "<h2>What another k would do</h2><p>The same masking for other values of k; the ring marks the chosen one.</p>"
        f'<div class="pair">{"".join(figures)}</div><details class="inline"><summary>The same as a table</summary>'
        f'<div class="in scroll"><table class="wide"><thead><tr><th scope="col">k</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _analysis(facts: MaskingFacts) -> str:
    both = facts.evaluation.clustering
    cut = min(5, both.before.leaves, both.after.leaves)
    drawings = []
    for title, tree, leaf in (("Before", both.before, both.origin), ("After", both.after, both.shown)):
        people = np.bincount(leaf, weights=both.people, minlength=tree.leaves)
        description = f"{title}: Ward clustering of {plural(tree.leaves, 'combination')}, coloured by {cut} clusters."
        drawings.append(
            f"<figure><figcaption>{title} · {plural(tree.leaves, 'combination')} of answers</figcaption>"
            f'<div class="scroll">{dendrogram_svg(tree, people, cut, description)}</div></figure>'
        )
    rows = "".join(
        f'<tr><th scope="row">{clusters}</th><td>{_bar(both.distance(clusters))}</td></tr>'
        for clusters in CUTS
        if clusters <= both.before.leaves
    )
    note = (
        f"<p>The table is large: {plural(both.sampled, 'combination')} were left out of the clustering at random.</p>"
        if both.sampled
        else ""
    )
    return (
        "<h2>Would an analysis find the same?</h2><p>The records clustered by meaning (Ward's method on semantic "
        "distances), before and after. Branches are as wide as the people they stand for; colours are the clusters of "
        f'a cut into {cut}.</p><div class="pair">{"".join(drawings)}</div>{note}'
        '<table><caption>Distance of the two partitions <span class="muted">0 = the same clusters</span></caption>'
        '<thead><tr><th scope="col">Clusters</th><th scope="col">Distance</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _unknown(facts: MaskingFacts) -> str:
    if not facts.unknown:
        return ""
    rows = "".join(
        f"<tr><td>{esc(_cut(each['value']))}</td><td>{esc(', '.join(each['suggestions'])) or '–'}</td></tr>"
        for each in facts.unknown[:MOST_GROUPS]
    )
    more = len(facts.unknown) - MOST_GROUPS
    rest = f"<p>{plural(more, 'further value')} not shown.</p>" if more > 0 else ""
    return (
        f"<h2>Values that no ontology knows</h2><p>{plural(len(facts.unknown), 'value')}. A senses file can give them "
        "a word of their own.</p>"
        '<div class="scroll"><table><thead><tr><th scope="col">Value</th><th scope="col">Written like</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{rest}"
    )


def _how(facts: MaskingFacts) -> str:
    items = "".join(f"<dt>{esc(name)}</dt><dd>{esc(value)}</dd>" for name, value in facts.settings.items())
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in facts.summary["seconds"].items() if value >= 0.005)
    notes = "".join(f"<li>{esc(note)}</li>" for note in facts.notes)
    share = percent(facts.summary["changed_records"] / facts.summary["rows"])
    return (
        f'<h2>How it was made</h2><p>{share} of the records were changed.</p><dl class="facts">{items}'
        f"<dt>Time</dt><dd>{esc(seconds)}</dd></dl>" + (f'<ul class="notes">{notes}</ul>' if notes else "")
    )
