"""The page of `kanopy compare`: many algorithms on one table, measured, and what kind of algorithm each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.compare import loss_and_time, loss_bars
from kanopy.report.pages.explore import about_people
from kanopy.report.shell import bullets, drawing, part, records, section, shell, table
from kanopy.report.text import Markup, counting, esc, figure, listed, seconds, sentence, told, worded


def compare_page(
    results: Mapping[str, Any], metrics: Sequence[str], catalogue: Sequence[Mapping[str, Any]], *, source: str
) -> str:
    """The whole page, from what `Comparison.to_dict` and `catalogue.algorithms` give."""
    with counting(results.get("counted", "rows")):
        return _page(results, metrics, catalogue, source)


def _page(
    results: Mapping[str, Any], metrics: Sequence[str], catalogue: Sequence[Mapping[str, Any]], source: str
) -> str:
    metric = results["metric"]
    solved = [entry for entry in results["entries"] if entry["reason"] is None]
    ranked = [entry for entry in solved if metric in entry["losses"]]
    models = listed([f"k = {results['k']}", *results["models"]], 6)
    numbers = {**results, "count": len(solved), "columns": len(results["columns"]), "models": models}
    sentences = [sentence("compare.made", **numbers), *about_people(results)]
    if results["budget_seconds"] is not None:
        sentences.append(sentence("compare.budget", **results))
    if results["stopped"]:
        sentences.append(told("compare.stopped"))
    verdict = "No algorithm found a release."
    if ranked:
        verdict = f"{ranked[0]['name']} keeps most: {metric} {figure(ranked[0]['losses'][metric])}."
    parts = [
        ("picture", "Picture", _pictures(ranked, metric)),
        ("measured", "Measured", _measured(solved, metric)),
        ("losses", "Every loss", _losses(solved, metrics)),
        ("kinds", "What they are", _kinds(results["entries"], catalogue)),
        ("refused", "Not run", _refused(results["entries"])),
        ("notes", "Notes", _notes(solved)),
    ]
    return shell(
        "Comparison of algorithms", source,
        good=bool(solved),
        verdict=verdict,
        sentences=sentences,
        warning=told("compare.warning"),
        tiles=_tiles(ranked, metric),
        parts=parts,
        footer=told("compare.footer"),
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
    pictures = [
        drawing(draw(ranked, metric), name, *(worded(text, {"metric": metric}) for text in told(words)))
        for draw, name, words in (
            (loss_bars, "losses", "compare.pictures.bars"),
            (loss_and_time, "time", "compare.pictures.points"),
        )
    ]
    return part("compare.pictures", *pictures)


def _measured(solved: Sequence[Mapping[str, Any]], metric: str) -> str:
    if not solved:
        return ""
    rows = [{**entry, "loss": entry["losses"].get(metric)} for entry in solved]
    return part("compare.measured", records("compare.measured", rows, metric=metric))


def _losses(solved: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> str:
    if not solved:
        return ""
    rows = [[entry["name"], *(figure(entry["losses"].get(name)) for name in metrics)] for entry in solved]
    listing = table("Losses by algorithm", ["algorithm", *metrics], rows, range(1, len(metrics) + 1))
    meanings = told("losses")
    return part(
        "compare.losses", listing, bullets(_headed(name, meanings[name]) for name in metrics if name in meanings)
    )


def _kinds(entries: Sequence[Mapping[str, Any]], catalogue: Sequence[Mapping[str, Any]]) -> str:
    from_name = {entry["name"]: entry for entry in catalogue}
    rows = []
    for name in dict.fromkeys(entry["algorithm"] for entry in entries):
        algorithm = from_name[name]
        method = "substitution" if algorithm["recoding"] == "substitution" else "generalization"
        if algorithm["suppresses"]:
            method += " and suppression"
        scope = "global" if algorithm["recoding"] in ("full-domain", "subtree") else "local"
        rows.append({**algorithm, "method": method, "scope": scope, "proof": algorithm["proves"] or "nothing"})
    return part("compare.kinds", records("compare.kinds", rows))


def _refused(entries: Sequence[Mapping[str, Any]]) -> str:
    rows = [[entry["name"], entry["reason"]] for entry in entries if entry["reason"] is not None]
    return section("No release", "", table("Why", ["algorithm", "reason"], rows)) if rows else ""


def _notes(solved: Sequence[Mapping[str, Any]]) -> str:
    lines = [_headed(entry["name"], note) for entry in solved for note in entry["notes"]]
    return section("Notes", "", bullets(lines)) if lines else ""


def _headed(name: str, text: str) -> Markup:
    return Markup(f"<b>{esc(name)}</b>: {esc(text)}")
