"""The page about a masking: what was substituted, the groups, the curves over k, and what an analyst would find.

It is made from the `Result` of a masking (`kanopy.release.result`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kanopy._arrays import MISSING_LABEL
from kanopy.masking.evaluation import CLUSTERS
from kanopy.report.charts.marks import WIDTH, Chart, framed, quantity, short, spec
from kanopy.report.drawings.dendrogram import dendrogram_svg
from kanopy.report.shell import Tile, bar, bullets, drawing, explained, fold, framed_picture, pair, part, shell, table
from kanopy.report.text import Markup, esc, figure, lines, plural, sentence, told, whole, worded

MOST_SUBSTITUTIONS = 300
MOST_GROUPS = 100
LONGEST = 90
CUTS = (3, 5, CLUSTERS)


def page(result: Any, curves: Sequence[Mapping[str, Any]]) -> str:
    """One self-contained HTML page without scripts; `curves` are the numbers for several values of k."""
    summary = {**result.summary(), "names": ", ".join(result.job.columns)}
    asked = {**summary, "k": result.job.k}
    promise = told("masking.grouped" if summary["guarantees_k"] else "masking.swapped")
    verdict, checked = (worded(text, summary) for text in promise)
    return shell(
        "Masking report",
        result.source,
        verdict=verdict,
        sentences=[
            checked,
            sentence("masking.changed", **summary),
            sentence(f"masking.targets.{summary['targets']}", **asked),
        ],
        warning=sentence("masking.warning"),
        tiles=tiles(result),
        parts=[
            ("substitutions", "Substitutions", _substitutions(result)),
            ("found", "Found", _found(summary["found"])),
            ("groups", "Groups", _groups(result)),
            ("curves", "Curves over k", _curves(curves, summary["k"])),
            ("analysis", "Analysis", _analysis(result)),
            ("unknown", "Unknown values", _unknown(result)),
            ("how", "How it was made", _how(result, summary)),
        ],
    )


def tiles(result: Any) -> list[Tile]:
    """The numbers that matter most."""
    table = result.evaluation.table
    before = {"combinations": len(table.tuples), "linkage_before": 100.0 * len(table.tuples) / table.rows}
    near = result.evaluation.similarity_of_changes
    return lines("masking.tiles", {**result.summary(), **before, "near": "–" if near is None else figure(near)})


def _answer(values: Sequence[str | None]) -> Markup:
    answers = [f"<i>{MISSING_LABEL}</i>" if value is None else esc(short(value, LONGEST)) for value in values]
    return Markup(" · ".join(answers))


def _similar(share: float) -> Markup:
    return bar(share, f"{share:.3f}")


def _rest(results: Sequence[Any], count_shown: int, one: str) -> str:
    return f"<p>{plural(len(results) - count_shown, one)} not shown.</p>" if len(results) > count_shown else ""


def _substitutions(result: Any) -> str:
    substitutions = result.evaluation.substitutions()
    if not substitutions:
        return part("masking.nothing")
    rows = [
        [_answer(entry["from"]), _answer(entry["to"]), whole(entry["people"]), _similar(entry["similarity"])]
        for entry in substitutions[:MOST_SUBSTITUTIONS]
    ]
    listing = table("Substitutions", ["From", "To", "People", "Similarity"], rows, [2])
    return part("masking.substitutions", listing, _rest(substitutions, MOST_SUBSTITUTIONS, "further substitution"))


def _found(mappings: Sequence[Mapping[str, Any]]) -> str:
    rows = [[esc(entry["column"]), entry["kind"], whole(entry["people"])] for entry in mappings]
    return part("masking.found", table("Found", ["Column", "Kind", "People"], rows, [2])) if rows else ""


def _groups(result: Any) -> str:
    groups = result.evaluation.groups()
    rows = [
        [_answer(entry["values"]), whole(entry["people"]), whole(entry["answers"]), _similar(entry["similarity"])]
        for entry in groups[:MOST_GROUPS]
    ]
    listing = table("Groups", ["Published", "People", "Original combinations", "Similarity"], rows, [1, 2])
    return part("masking.groups", listing, _rest(groups, MOST_GROUPS, "smaller group"))


def curve_chart(curves: Sequence[Mapping[str, Any]], name: str, title: str, k: int) -> Chart:
    """One number over k as a line, the chosen k marked.

    >>> curve_chart([{"k": 2, "dm": 10}, {"k": 3, "dm": 20}], "dm", "Discernibility", 2)["data"]["values"][0]["value"]
    10
    """
    values = [{"k": curve["k"], "value": curve[name], "chosen": curve["k"] == k} for curve in curves]
    scale = {"zero": False, "nice": False, "padding": 8}
    x = quantity("k", "k", scale=scale, tickMinStep=1, grid=False)
    layers = spec("curve over k", x=x, y=quantity("value", title, scale={"zero": False}))
    return framed(values, layers, width=WIDTH - 150, height=190)


def _curves(curves: Sequence[Mapping[str, Any]], k: int) -> str:
    if len(curves) < 2:
        return ""
    first, last = curves[0], curves[-1]
    drawn = told("masking.curves")
    figures = [
        drawing(
            curve_chart(curves, name, title, k),
            f"curve-{name}",
            f"{title} from k = {first['k']} ({first[name]:.4g}) to k = {last['k']} ({last[name]:.4g}).",
            f"{title}: {words}",
        )
        for name, title, words in drawn
    ]
    rows = [[str(curve["k"]), *(figure(float(curve[name])) for name, _, _ in drawn)] for curve in curves]
    heads = ["k", *(title for _, title, _ in drawn)]
    listing = table("Every k", heads, rows, range(1, len(heads)))
    return part("masking.other_k", pair(*figures), fold("The same as a table", "", listing))


def _analysis(result: Any) -> str:
    both = result.evaluation.clustering
    cut = min(5, both.before.leaves, both.after.leaves)
    drawings = []
    for title, tree, leaf in (("Before", both.before, both.origin), ("After", both.after, both.shown)):
        people = np.bincount(leaf, weights=both.people, minlength=tree.leaves)
        size = plural(tree.leaves, "combination")
        description = sentence("masking.analysis.clustered", title=title, size=size, cut=cut)
        drawings.append(framed_picture(dendrogram_svg(tree, people, cut, description), f"{title} · {size} of answers"))
    rows = [[str(clusters), _similar(both.distance(clusters))] for clusters in CUTS if clusters <= both.before.leaves]
    note = sentence("masking.analysis.sampled", sampled=both.sampled) if both.sampled else ""
    listing = table(sentence("masking.analysis.caption"), ["Clusters", "Distance"], rows)
    return part("masking.analysis", pair(*drawings), note, listing, cut=cut)


def _unknown(result: Any) -> str:
    unknown = result.unknown
    if not unknown:
        return ""
    rows = [[short(entry["value"], LONGEST), ", ".join(entry["suggestions"]) or "–"] for entry in unknown[:MOST_GROUPS]]
    listing = table("Unknown values", ["Value", "Written like"], rows)
    return part("masking.unknown", listing, _rest(unknown, MOST_GROUPS, "further value"), count=len(unknown))


def _how(result: Any, results: Mapping[str, Any]) -> str:
    job = result.job
    ontology = job.ontology if isinstance(job.ontology, str) else getattr(job.ontology, "name", "") or "given"
    settings = {
        "job": job,
        "columns": results["names"],
        "algorithm": job.algorithm + (f", {job.search} search" if hasattr(job.make(), "search") else ""),
        "heuristics": ", ".join(f"H{heuristic}" for heuristic in job.heuristics) or "none",
        "ontology": ontology,
        "seconds": ", ".join(f"{name} {value:.2f} s" for name, value in results["seconds"].items() if value >= 0.005),
    }
    share = results["changed_records"] / results["rows"]
    return part("masking.how", explained(lines("masking.settings", settings)), bullets(result.notes), share=share)
