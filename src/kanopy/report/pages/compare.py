"""The page of `kanopy compare`: many algorithms on one table, measured, and what kind of algorithm each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.compare import loss_and_time, loss_bars
from kanopy.report.shell import bullets, drawing, records, section, shell, table
from kanopy.report.words import LOSS_WORDS, Markup, esc, figure, listed, percent, plural, seconds, whole


def compare_page(
    found: Mapping[str, Any],
    metrics: Sequence[str],
    catalogue: Sequence[Mapping[str, Any]],
    *,
    source: str,
) -> str:
    """The whole page, from what `Comparison.to_dict` and `catalogue.algorithms` give."""
    metric = found["metric"]
    solved = [entry for entry in found["entries"] if entry["reason"] is None]
    ranked = [entry for entry in solved if metric in entry["losses"]]
    models = listed([f"k = {found['k']}", *found["models"]], 6)
    sentences = [
        f"{plural(len(solved), 'algorithm')} made a release of the same {plural(found['rows'], 'row')} and "
        f"{plural(len(found['columns']), 'quasi-identifier')} under {models}; every release was verified on the labels "
        "it would publish."
    ]
    if found["budget_seconds"] is not None:
        sentences.append(f"Algorithms that take a time budget were given {seconds(found['budget_seconds'])}.")
    if found["stopped"]:
        sentences.append("The comparison was stopped: what is missing was not run.")
    verdict = "No algorithm found a release."
    if ranked:
        verdict = f"{ranked[0]['name']} keeps most: {metric} {figure(ranked[0]['losses'][metric])}."
    parts = [
        ("picture", "Picture", _pictures(ranked, metric)),
        ("measured", "Measured", _measured(solved, metric)),
        ("losses", "Every loss", _losses(solved, metrics)),
        ("kinds", "What they are", _kinds(found["entries"], catalogue)),
        ("refused", "Not run", _refused(found["entries"])),
        ("notes", "Notes", _notes(solved)),
    ]
    return shell(
        "Comparison of algorithms", source,
        good=bool(solved),
        verdict=verdict,
        sentences=sentences,
        warning="This page holds statistics of the original table; reasons may name values of it. Keep it inside.",
        tiles=_tiles(ranked, metric),
        parts=parts,
        footer="Times are of the search alone, on this machine, after compiled code was warmed up.",
    )  # fmt: skip


def _tiles(ranked: Sequence[Mapping[str, Any]], metric: str) -> list[tuple[str, str, str]]:
    if not ranked:
        return []
    quickest = min(ranked, key=lambda entry: entry["seconds"])
    kinds: dict[str, Mapping[str, Any]] = {}
    for entry in ranked:
        kinds.setdefault(entry["recoding"], entry)
    tiles = [
        (f"Best {kind}", figure(entry["losses"][metric]), f"{entry['name']}, {seconds(entry['seconds'])}")
        for kind, entry in kinds.items()
    ]
    return [*tiles, ("Quickest", seconds(quickest["seconds"]), quickest["name"])]


def _pictures(ranked: Sequence[Mapping[str, Any]], metric: str) -> str:
    if not ranked:
        return ""
    bars = drawing(
        loss_bars(ranked, metric), "losses", f"{metric} of each algorithm as a bar, the best first.",
        f"What each release loses ({metric}), and the seconds its search took.",
    )  # fmt: skip
    points = drawing(
        loss_and_time(ranked, metric), "time", f"{metric} of each algorithm against the seconds of its search.",
        "Loss against time. The dashed line joins those that no other beats in both; they are named.",
    )  # fmt: skip
    return section("What they lose", "", bars, points)


def _measured(solved: Sequence[Mapping[str, Any]], metric: str) -> str:
    if not solved:
        return ""
    listing = records("Releases, best first", solved, [
        ("algorithm", "name", str), ("recoding", "recoding", str),
        (metric, lambda entry: entry["losses"].get(metric), figure),
        ("proved optimal", lambda entry: "yes" if entry["optimal"] else "", str),
        ("classes", "classes", whole), ("smallest", "smallest_class", whole), ("suppressed", "suppressed", whole),
        ("highest risk", "highest_risk", percent), ("average risk", "average_risk", percent),
        ("time", "seconds", seconds), ("memory", "memory", megabytes),
    ])  # fmt: skip
    words = (
        "The highest risk is the chance of singling out somebody of the smallest class, the average risk that of an "
        "average published row. Memory is what the search needed beyond the encoded table."
    )
    return section("Measured", words, listing)


def _losses(solved: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> str:
    if not solved:
        return ""
    rows = [[entry["name"], *(figure(entry["losses"].get(name)) for name in metrics)] for entry in solved]
    return section(
        "Every loss",
        "Lower is better in each. A dash: not defined for that kind of release.",
        table("Losses by algorithm", ["algorithm", *metrics], rows, range(1, len(metrics) + 1)),
        bullets(_headed(name, LOSS_WORDS[name]) for name in metrics if name in LOSS_WORDS),
    )


def _kinds(entries: Sequence[Mapping[str, Any]], catalogue: Sequence[Mapping[str, Any]]) -> str:
    from_name = {each["name"]: each for each in catalogue}
    ran = list(dict.fromkeys(entry["algorithm"] for entry in entries))
    rows = []
    for name in ran:
        each = from_name[name]
        method = "substitution" if each["recoding"] == "substitution" else "generalization"
        if each["suppresses"]:
            method += " and suppression"
        scope = {"full-domain": "global", "subtree": "global", "substitution": "local"}.get(each["recoding"], "local")
        rows.append(
            [name, each["source"], method, each["attributes"], f"{scope}: {each['recoding']}", each["lowers"],
             each["search"], each["proves"] or "nothing", each["models"]]
        )  # fmt: skip
    heads = ["algorithm", "from", "method", "knowledge and columns", "recoding", "lowers", "search", "proves", "models"]
    return section("What they are", "", table("Kinds of algorithms", heads, rows))


def _refused(entries: Sequence[Mapping[str, Any]]) -> str:
    rows = [[entry["name"], entry["reason"]] for entry in entries if entry["reason"] is not None]
    return section("No release", "", table("Why", ["algorithm", "reason"], rows)) if rows else ""


def _notes(solved: Sequence[Mapping[str, Any]]) -> str:
    lines = [_headed(entry["name"], note) for entry in solved for note in entry["notes"]]
    return section("Notes", "", bullets(lines)) if lines else ""


def _headed(name: str, text: str) -> Markup:
    return Markup(f"<b>{esc(name)}</b>: {esc(text)}")


def megabytes(size: int | None) -> str:
    """Memory in megabytes.

    >>> megabytes(12_400_000), megabytes(None)
    ('12 MB', '–')
    """
    return "–" if size is None else f"{size / 1e6:,.0f} MB"
