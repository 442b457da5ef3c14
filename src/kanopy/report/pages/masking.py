"""The page about a masking: what was substituted, the groups, the curves over k, and what an analyst would find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import MISSING_LABEL
from kanopy.masking.evaluation import CLUSTERS, Evaluation
from kanopy.report.charts.marks import AFTER, BEFORE, WIDTH, Chart, framed, mark, quantity, short
from kanopy.report.drawings.dendrogram import dendrogram_svg
from kanopy.report.shell import (
    Tile,
    bar,
    bullets,
    drawing,
    explained,
    fold,
    framed_picture,
    pair,
    section,
    shell,
    table,
)
from kanopy.report.words import Markup, esc, figure, percent, plural, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_SUBSTITUTIONS = 300
MOST_GROUPS = 100
LONGEST = 90
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

    @classmethod
    def of(cls, result: Any, curves: list[dict[str, Any]]) -> MaskingFacts:
        """From the `Result` of a masking."""
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
            result.notes, curves,
        )  # fmt: skip


def page(facts: MaskingFacts) -> str:
    """One self-contained HTML page without scripts."""
    verdict, checked = _promise(facts)
    found = facts.summary
    return shell(
        "Masking report",
        facts.source,
        verdict=verdict,
        sentences=[
            checked,
            f"{whole(found['changed_records'])} of {plural(found['rows'], 'record')} publish other answers than they "
            "had.",
        ],
        warning=Markup(
            "<b>Keep this page as safe as the original table.</b> It shows original answers so that you can judge the "
            "release. It is not part of it."
        ),
        tiles=tiles(facts),
        parts=[
            ("substitutions", "Substitutions", _substitutions(facts)),
            ("groups", "Groups", _groups(facts)),
            ("curves", "Curves over k", _curves(facts)),
            ("analysis", "Analysis", _analysis(facts)),
            ("unknown", "Unknown values", _unknown(facts)),
            ("how", "How it was made", _how(facts)),
        ],
    )


def _promise(facts: MaskingFacts) -> tuple[str, str]:
    """What is promised, and how it was checked."""
    found = facts.summary
    if not found["guarantees_k"]:
        return (
            "Answers were swapped; no number of equal records is promised.",
            "Every column keeps its values, and everybody in a small group publishes another person's answers.",
        )
    return (
        f"Every published combination of {', '.join(facts.names)} is shared by at least "
        f"{plural(found['smallest_group'], 'person', 'people')}.",
        "This was checked a second time, independently of the masking: the published values were grouped anew. "
        f"k = {found['k']} was asked for.",
    )


def tiles(facts: MaskingFacts) -> list[Tile]:
    """The numbers that matter most."""
    found, table = facts.summary, facts.evaluation.table
    before = 100.0 * len(table.tuples) / table.rows
    return [
        ("Semantic quality", figure(found["semantic_quality"]), f"{found['measure']}, mean over all answers"),
        ("… of changed records", figure(found["semantic_quality_of_changes"]), "mean over substituted records only"),
        ("Groups", whole(found["groups"]), f"were {plural(len(table.tuples), 'combination')}"),
        ("Record linkage", f"{found['record_linkage_percent']:.2f}%", f"was {before:.2f}%; exact text match"),
        ("Semantic linkage", f"{found['semantic_linkage_percent']:.2f}%", "link to the most similar original"),
        ("Information content lost", figure(found["ic_loss"]), "mean of −ln p before minus after"),
        ("Discernibility", whole(found["dm"]), Markup(f"C<sub>AVG</sub> {found['c_avg']:.2f}")),
        ("LM", figure(found["lm"]), f"NCP {figure(found['ncp'])}; original values hidden behind a published one"),
    ]


def _answer(values: Sequence[str | None]) -> Markup:
    shown = [f"<i>{MISSING_LABEL}</i>" if value is None else esc(short(value, LONGEST)) for value in values]
    return Markup(" · ".join(shown))


def _similar(share: float) -> Markup:
    return bar(share, f"{share:.3f}")


def _rest(found: Sequence[Any], shown: int, one: str) -> str:
    return f"<p>{plural(len(found) - shown, one)} not shown.</p>" if len(found) > shown else ""


def _substitutions(facts: MaskingFacts) -> str:
    found = facts.evaluation.substitutions()
    title = "What was substituted"
    if not found:
        return section(title, "Nothing: every combination was frequent enough as it was.")
    rows = [
        [_answer(each.before), _answer(each.after), whole(each.people), _similar(each.similarity)]
        for each in found[:MOST_SUBSTITUTIONS]
    ]
    return section(
        title,
        "From what people answered to what is published for them, most people first. The similarity is the mean over "
        "the columns.",
        table("Substitutions", ["From", "To", "People", "Similarity"], rows, [2]),
        _rest(found, MOST_SUBSTITUTIONS, "further substitution"),
    )


def _groups(facts: MaskingFacts) -> str:
    found = facts.evaluation.groups()
    rows = [
        [_answer(each["values"]), whole(each["people"]), whole(each["answers"]), _similar(each["similarity"])]
        for each in found[:MOST_GROUPS]
    ]
    return section(
        "The groups",
        "What is published, how many people share it, and how many different original combinations stand behind it.",
        table("Groups", ["Published", "People", "Original combinations", "Similarity"], rows, [1, 2]),
        _rest(found, MOST_GROUPS, "smaller group"),
    )


def curve_chart(curves: list[dict[str, Any]], name: str, title: str, k: int) -> Chart:
    """One number over k as a line, the chosen k marked.

    >>> curve_chart([{"k": 2, "dm": 10}, {"k": 3, "dm": 20}], "dm", "Discernibility", 2)["data"]["values"][0]["value"]
    10
    """
    values = [{"k": each["k"], "value": each[name], "chosen": each["k"] == k} for each in curves]
    scale = {"zero": False, "nice": False, "padding": 8}
    at = {
        "x": quantity("k", "k", scale=scale, tickMinStep=1, grid=False),
        "y": quantity("value", title, scale={"zero": False}),
    }
    ring = mark("point", at, color=BEFORE, size=150, strokeWidth=2.5)
    layers = [
        mark("line", at, color=AFTER, strokeWidth=2, point={"size": 34, "color": AFTER}),
        {"transform": [{"filter": "datum.chosen"}], **ring},
    ]
    return framed(values, layers, width=WIDTH - 150, height=190)


def _curves(facts: MaskingFacts) -> str:
    curves = facts.curves
    if len(curves) < 2:
        return ""
    first, last = curves[0], curves[-1]
    figures = [
        drawing(
            curve_chart(curves, name, title, facts.summary["k"]),
            f"curve-{name}",
            f"{title} from k = {first['k']} ({first[name]:.4g}) to k = {last['k']} ({last[name]:.4g}).",
            f"{title}: {words}",
        )
        for name, title, words in CURVES
    ]
    rows = [[str(each["k"]), *(figure(float(each[name])) for name, _, _ in CURVES)] for each in curves]
    heads = ["k", *(title for _, title, _ in CURVES)]
    return section(
        "What another k would do",
        "The same masking for other values of k; the ring marks the chosen one.",
        pair(*figures),
        fold("The same as a table", "", table("Every k", heads, rows, range(1, len(heads)))),
    )


def _analysis(facts: MaskingFacts) -> str:
    both = facts.evaluation.clustering
    cut = min(5, both.before.leaves, both.after.leaves)
    drawings = []
    for title, tree, leaf in (("Before", both.before, both.origin), ("After", both.after, both.shown)):
        people = np.bincount(leaf, weights=both.people, minlength=tree.leaves)
        size = plural(tree.leaves, "combination")
        description = f"{title}: Ward clustering of {size}, coloured by {plural(cut, 'cluster')}."
        drawings.append(framed_picture(dendrogram_svg(tree, people, cut, description), f"{title} · {size} of answers"))
    rows = [[str(clusters), _similar(both.distance(clusters))] for clusters in CUTS if clusters <= both.before.leaves]
    note = ""
    if both.sampled:
        left_out = plural(both.sampled, "combination was", "combinations were")
        note = f"<p>The table is large: {left_out} left out of the clustering at random.</p>"
    caption = Markup('Distance of the two partitions <span class="muted">0 = the same clusters</span>')
    return section(
        "Would an analysis find the same?",
        "The records clustered by meaning (Ward's method on semantic distances), before and after. Branches are as "
        f"wide as the people they stand for; colours are the clusters of a cut into {cut}.",
        pair(*drawings),
        note,
        table(caption, ["Clusters", "Distance"], rows),
    )


def _unknown(facts: MaskingFacts) -> str:
    if not facts.unknown:
        return ""
    rows = [
        [short(each["value"], LONGEST), ", ".join(each["suggestions"]) or "–"] for each in facts.unknown[:MOST_GROUPS]
    ]
    return section(
        "Values that no ontology knows",
        f"{plural(len(facts.unknown), 'value')}. A senses file can give them a word of their own.",
        table("Unknown values", ["Value", "Written like"], rows),
        _rest(facts.unknown, MOST_GROUPS, "further value"),
    )


def _how(facts: MaskingFacts) -> str:
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in facts.summary["seconds"].items() if value >= 0.005)
    share = percent(facts.summary["changed_records"] / facts.summary["rows"])
    return section(
        "How it was made",
        f"{share} of the records were changed.",
        explained([*facts.settings.items(), ("Time", seconds)]),
        bullets(facts.notes),
    )
