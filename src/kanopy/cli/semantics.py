"""`kanopy hierarchy evaluate` and `kanopy hierarchy improve`: the meaning hierarchies keep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kanopy._errors import InputError
from kanopy.cli import options as o
from kanopy.cli.console import emit, grid
from kanopy.cli.files import check_outputs
from kanopy.cli.ontologies import measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kanopy.hierarchy.builders.semantic.builders import Proposal
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.hierarchy.quality.semantic_quality import SemanticQuality
    from kanopy.ontology.senses.senses import SenseChoices, Senses

SHOWN_WORST = 8
SHOWN_FAULTS = 12

Weights = Annotated[str, typer.Option(help="constant, level, or one number per level: 0.5,0.3,0.2.")]
LevelScore = Annotated[str, typer.Option(help="The score of a level: the mean of its losses, or their max.")]
SensesFile = Annotated[
    Path | None, typer.Option("--senses", help="Senses and synonyms [default: NAME.senses.toml beside each file].")
]


@o.command("depth_offset", ontology="wordnet", measure="wu-palmer")
def evaluate(
    files: Annotated[list[Path], typer.Argument(help="Hierarchy files.")],
    ontology: str,
    measure: str,
    depth_offset: int | None,
    weights: Weights = "constant",
    level_score: LevelScore = "mean",
    senses: SensesFile = None,
    write_senses: Annotated[
        bool, typer.Option("--write-senses", help="Write the senses that were used, for correction and reuse.")
    ] = False,
    svg: Annotated[Path | None, typer.Option(help="Draw trees and curves into this SVG file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with interactive trees into this file.")] = None,
) -> None:
    """How much meaning hierarchies keep: semantic loss per level, worst transitions, faults, a ranking, a picture.

    Several files are read with one set of senses and ranked by the mean loss and by whether their groups are near in
    meaning; with --level-score max by VghGSL as published.
    """
    from kanopy._files import write_whole
    from kanopy.hierarchy.files.files import read_hierarchy
    from kanopy.hierarchy.quality.semantic_loss import parse_weights
    from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy, rank_hierarchies
    from kanopy.ontology.load import load_ontology
    from kanopy.ontology.senses.senses import senses_of_hierarchy
    from kanopy.ontology.senses.senses_file import senses_path, senses_toml

    check_outputs(files, svg, html)
    weighing, judging = parse_weights(weights), measured(measure, depth_offset)
    if write_senses and senses is not None and len(files) > 1:
        raise InputError("Several hierarchies cannot write one senses file. Leave out --senses, or give one hierarchy.")
    hierarchies = [read_hierarchy(file, require_nesting=False) for file in files]
    taxonomy = load_ontology(ontology)
    judged: list[tuple[str, Hierarchy, SemanticQuality]] = []
    written: list[str] = []
    chosen, differing = _all_choices([_choices(file, senses, may_be_new=write_senses) for file in files])
    one_set = senses_of_hierarchy(taxonomy, (row for h in hierarchies for row in h.rows()), chosen)
    for file, h in zip(files, hierarchies, strict=True):
        quality = evaluate_hierarchy(h, taxonomy, measure=judging, weights=weighing, senses=one_set)
        judged.append((str(file), h, quality))
        if write_senses:
            beside = senses or senses_path(file)
            synonyms = {label: word for label, word in chosen.synonyms.items() if label in quality.senses}
            write_whole(beside, senses_toml(quality.senses, name=file.name, synonyms=synonyms), private=True)
            written.append(str(beside))
    ranking = rank_hierarchies([(name, quality.ranked_by(level_score)) for name, _, quality in judged])
    by_file = {name: quality for name, _, quality in judged}
    for entry in ranking:
        quality = by_file[entry["file"]]
        entry |= {"mean": quality.mean_score, "max": quality.score, "agreement": quality.agreement}
    for target, content in ((svg, _svg), (html, _page)):
        if target is not None:
            write_whole(target, content(judged, level_score), private=True)
            written.append(str(target))

    def show(console: Any) -> None:
        for name, _, quality in judged:
            _show_quality(console, name, quality)
        if len(judged) > 1:
            _show_ranking(console, ranking, level_score)
            for line in differing:
                console.print(line, style="yellow")
        _show_written(console, written)

    emit({"hierarchies": [quality.to_dict(name) for name, _, quality in judged], "ranking": ranking}, show)


@o.command("output", ontology="wordnet", measure="wu-palmer")
def improve(
    file: Annotated[Path, typer.Argument(help="A hierarchy file.")],
    ontology: str,
    measure: str,
    output: Path | None,
    weights: Weights = "constant",
    level_score: LevelScore = "mean",
    senses: SensesFile = None,
    max_edits: Annotated[int, typer.Option(help="The largest number of edits.")] = 10,
) -> None:
    """Propose the fewest edits that lower the semantic loss of a hierarchy, with the scores before and after."""
    from kanopy._files import write_whole
    from kanopy.hierarchy.files.files import read_hierarchy, write_hierarchy
    from kanopy.hierarchy.quality.improve import improve_hierarchy
    from kanopy.hierarchy.quality.semantic_loss import parse_weights
    from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
    from kanopy.ontology.load import load_ontology
    from kanopy.ontology.senses.senses_file import senses_path, senses_toml

    check_outputs([file], output)
    weighing = parse_weights(weights)
    h = read_hierarchy(file)
    taxonomy = load_ontology(ontology)
    chosen = _choices(file, senses)
    before = evaluate_hierarchy(h, taxonomy, measure=measure, weights=weighing, choices=chosen)
    improvement = improve_hierarchy(
        h, taxonomy, measure=measure, weights=weighing, choices=chosen, max_edits=max_edits, level_score=level_score
    )
    after = evaluate_hierarchy(
        improvement.hierarchy, taxonomy, measure=measure, weights=weighing, senses=improvement.senses
    )
    written: list[str] = []
    if output is not None:
        write_hierarchy(improvement.hierarchy, output)
        # The senses go beside it: without them a later evaluation could read a label in another sense.
        target = senses_path(output)
        synonyms = dict(chosen.synonyms) if chosen is not None else {}
        write_whole(target, senses_toml(improvement.senses, name=output.name, synonyms=synonyms), private=True)
        written = [str(output), str(target)]
    what = "VghGSL" if level_score == "max" else "mean"
    result = {
        "file": str(file),
        "level_score": level_score,
        "before": improvement.before,
        "after": improvement.after,
        "edits": [edit.to_dict() for edit in improvement.edits],
        "levels_before": [level.gsl for level in before.levels],
        "levels_after": [level.gsl for level in after.levels],
        "rows": [list(row) for row in improvement.hierarchy.rows()],
        "written": written,
    }

    def show(console: Any) -> None:

        if not improvement.edits:
            console.line(f"{file}: {what} {improvement.before:.4f}. No single edit lowers it.")
        else:
            steps = [("as it is", "", improvement.before), *((e.message, e.why, e.score) for e in improvement.edits)]
            rows = ((words, why, f"{score:.4f}") for words, why, score in steps)
            console.print(grid(("edit", "why", f">{what} after"), rows))
            for name in ("gsl", "mean"):
                then, now = (
                    " ".join(f"{vars(one)[name]:.4f}" for one in quality.levels) for quality in (before, after)
                )
                title = "LevelGSL" if name == "gsl" else "mean"
                console.line(f"{title} before: {then}\n{title} after:  {now}")
        _show_written(console, written)

    emit(result, show)


def write_senses_of(proposal: Proposal, output: Path) -> None:
    """Keep the senses of a proposed hierarchy beside it, so that a later evaluation reads its labels alike."""
    from kanopy._files import write_whole
    from kanopy.ontology.senses.senses_file import senses_path, senses_toml

    write_whole(senses_path(output), senses_toml(proposal.senses, name=output.name), private=True)


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """What `build --json` adds for hierarchies made from an ontology."""
    return {
        "score": proposal.score,
        "level_scores": list(proposal.level_scores),
        "senses": proposal.senses.report(),
        "notes": list(proposal.notes),
    }


def show_proposal(console: Any, proposal: Proposal) -> None:
    """The score of a proposed hierarchy and what to know about it."""

    levels = " ".join(f"{score:.4f}" for score in proposal.level_scores)
    console.line(f"VghGSL {proposal.score:.4f} (levels: {levels})")
    for note in proposal.notes:
        console.line(f"Note: {note}", style="yellow")


def _choices(file: Path, senses: Path | None, *, may_be_new: bool = False) -> SenseChoices | None:
    """The user's choices: the file named, or the one beside the hierarchy if there is one."""
    from kanopy.ontology.senses.senses_file import read_senses, senses_path

    if senses is not None:
        return None if may_be_new and not senses.exists() else read_senses(senses)
    beside = senses_path(file)
    return read_senses(beside) if beside.exists() else None


def _all_choices(choices: Sequence[SenseChoices | None]) -> tuple[SenseChoices, list[str]]:
    """The choices of all files as one: the first that says something counts; what later ones say else is told."""
    from kanopy.ontology.senses.senses import SenseChoices

    senses: dict[str, str] = {}
    synonyms: dict[str, str] = {}
    differing: dict[str, str] = {}
    for one in choices:
        for choices_so_far, file_choices in ((senses, one.senses), (synonyms, one.synonyms)) if one is not None else ():
            for label, name in file_choices.items():
                if choices_so_far.setdefault(label, name) != name:
                    differing[label] = (
                        f"{label!r} is read as {choices_so_far[label]} in all files, but one says {name}."
                    )
    source = next((one.source for one in choices if one is not None), "")
    return SenseChoices(senses, synonyms, source), list(differing.values())[:SHOWN_FAULTS]


def _svg(judged: list[tuple[str, Hierarchy, SemanticQuality]], level_score: str) -> str:
    from kanopy.report.charts.semantic import trees_and_curves
    from kanopy.report.render import picture

    return picture(trees_and_curves([(Path(name).stem, quality) for name, _, quality in judged]), "svg").decode("utf-8")


def _page(judged: list[tuple[str, Hierarchy, SemanticQuality]], level_score: str) -> str:
    from kanopy.report.pages.semantic import semantic_page

    return semantic_page(judged, level_score)


def _show_quality(console: Any, name: str, quality: SemanticQuality) -> None:
    from rich.text import Text

    console.print(
        Text.assemble((name, "bold"), f"  VghGSL {quality.score:.4f}  ({quality.measure}, {quality.ontology})")
    )
    console.line(
        f"With the mean of each level {quality.mean_score:.4f}; groups agree with meaning "
        f"{quality.agreement:.2f} (1: fully, 0: like a shuffled copy)"
    )
    values, labels = quality.coverage
    console.line(
        f"The score measures what {quality.ontology} knows: {values:.0%} of the values and {labels:.0%} of the "
        "labels above them. Unknown values and labels count as lost.".replace("%", " %")
    )
    table = grid(("level", ">LevelGSL", ">mean", ">sd", ">weight", ">weighted", "worst transitions"), ())
    for level, weight in zip(quality.levels, quality.weights, strict=True):
        worst = ", ".join(f"{t.leaf} → {t.ancestor}" for t in level.worst[:3])
        more = f" and {len(level.worst) - 3} more" if len(level.worst) > 3 else ""
        numbers = (f"{x:.4f}" for x in (level.gsl, level.mean, level.sd, weight, level.weighted))
        table.add_row(str(level.level), *numbers, Text(worst + more))
    console.print(table)
    losing = (
        (t.leaf, t.ancestor, str(t.level), f"{t.loss:.4f}", f"{t.leaf_sense} → {t.ancestor_sense or 'unknown'}")
        for t in quality.worst(SHOWN_WORST)
    )
    console.print(grid(("value", "ancestor", ">level", ">loss", "senses"), losing, title="Worst transitions"))
    if close := quality.too_close():
        labels_shown = ", ".join(f"{c.leaf} → {c.ancestor} ({c.loss:.4f})" for c in close[:SHOWN_WORST])
        more = f" and {len(close) - SHOWN_WORST} more" if len(close) > SHOWN_WORST else ""
        console.line(f"Labels that may reveal their value, because they are close to it: {labels_shown}{more}")
    if quality.faults:
        console.line(f"Faults ({len(quality.faults)}):", style="yellow")
        for fault in quality.faults[:SHOWN_FAULTS]:
            console.line(f"  {fault.kind}: {fault.message}")
        if len(quality.faults) > SHOWN_FAULTS:
            console.line(f"  … and {len(quality.faults) - SHOWN_FAULTS} more (see --json)")
    else:
        console.line("No faults found.", style="green")
    _show_senses(console, quality.senses)
    console.print()


def _show_senses(console: Any, senses: Senses) -> None:
    """How the labels were found, in a line or two; the rest is in the senses file."""
    from collections import Counter

    counts = Counter(choice.how for choice in senses.values())
    console.line("Labels: " + ", ".join(f"{count} {how}" for how, count in counts.most_common()))
    if ambiguous := senses.ambiguous:
        labels_shown = ", ".join(f"{c.label} as {senses.name(c.label)}" for c in ambiguous[:5])
        more = f" and {len(ambiguous) - 5} more" if len(ambiguous) > 5 else ""
        console.line(f"Ambiguous, read in the most frequent sense: {labels_shown}{more}. Correct with --write-senses.")


def _show_ranking(console: Any, ranking: list[dict[str, Any]], level_score: str) -> None:
    numbers = ("score", "mean", "max", "agreement") if level_score == "mean" else ("score", "mean", "agreement")
    rows = ((str(entry["rank"]), entry["file"], *(f"{entry[name]:.4f}" for name in numbers)) for entry in ranking)
    heads = {"score": ">labels and groups", "mean": ">mean loss", "max": ">VghGSL", "agreement": ">agreement"}
    if level_score == "max":
        heads["score"] = ">VghGSL"
    console.print(grid((">rank", "hierarchy", *(heads[name] for name in numbers)), rows, title="Ranking, best first"))


def _show_written(console: Any, written: list[str]) -> None:

    for target in written:
        console.line(f"Written to {target}")
