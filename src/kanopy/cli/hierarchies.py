"""Commands about hierarchies: build, show, suggest, compare, and those of `lists` and `semantics`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kanopy._errors import InputError, some
from kanopy._job.usage import SEARCHED
from kanopy.cli import lists, semantics
from kanopy.cli import options as o
from kanopy.cli.console import emit, grid, wants_json
from kanopy.cli.files import check_outputs, inputs_of, read_data

if TYPE_CHECKING:
    import polars as pl

    from kanopy._job.job import Job
    from kanopy.hierarchy.builders.base import Builder
    from kanopy.hierarchy.builders.semantic.builders import Proposal
    from kanopy.hierarchy.column import Column
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.hierarchy.suggest import Suggestion

hierarchy = typer.Typer(help="Build, show, choose and compare generalization hierarchies.", no_args_is_help=True)
hierarchy.command("methods")(lists.methods)
hierarchy.command("evaluate")(semantics.evaluate)
hierarchy.command("improve")(semantics.improve)

LARGEST_LISTING = 5_000_000
"""Level tables with more entries than this are not listed in JSON."""

Style = Annotated[str | None, typer.Option(help="For ontology: nearness of meaning, or strict kinds (taxonomy).")]
ColumnName = Annotated[str, typer.Argument(help="The column.")]


@hierarchy.command("build")
@o.command("param", "output", "k", "missing_tokens", needs={"k": o.AUTO})
def build(
    data: o.Data,
    column: ColumnName,
    method: Annotated[str, typer.Option("--method", "-m", help="See `kanopy hierarchy methods`.")] = "auto",
    levels: Annotated[
        int | None, typer.Option(help="For ontology and semantic-clusters: levels, values and top included.")
    ] = None,
    max_fan_out: Annotated[int | None, typer.Option(help="For ontology: the most children a node may have.")] = None,
    senses: Annotated[str | None, typer.Option(help="For ontology methods: a file with the senses of values.")] = None,
    style: Style = None,
    classification: Annotated[
        str | None, typer.Option(help="Use the levels of this classification; see `kanopy classifications list`.")
    ] = None,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Build a hierarchy from the values of a column; written as .csv, .json or .dot.

    The method auto takes a readable one for groups of k rows (5 unless said).
    """
    from kanopy._parameters import pairs, parse
    from kanopy.hierarchy.builders.official.classified import FromClassification
    from kanopy.hierarchy.builders.registry import BUILDERS, make_builder
    from kanopy.hierarchy.builders.semantic.builders import SemanticBuilder
    from kanopy.hierarchy.files.files import write_hierarchy

    notes: tuple[str, ...] = ()
    param, output, k = given["param"] or (), given["output"], given["k"]
    check_outputs(inputs_of(data), output)
    if classification is not None:
        method = _implied(method, "classification")
    options = {"levels": levels, "max_fan_out": max_fan_out, "senses": senses, "style": style}
    options["classification"] = classification
    named = {name: value for name, value in options.items() if value is not None}
    proposal: Proposal | None = None
    if method == "auto":
        from kanopy._parameter_types import Integer, taken
        from kanopy.hierarchy.suggest import choose_hierarchy

        texts = pairs(param)
        smallest = taken(Integer(1), Integer(1).read(texts.pop("k", str(5 if k is None else k))), "k")
        if texts or named:
            raise InputError("The method auto takes no parameter but k. Name a method with --method.")
        reduced = _column(data, column, given["missing_tokens"], layout)
        best = choose_hierarchy(reduced, k=smallest)
        builder, built = best.builder, best.hierarchy
    else:
        builder = make_builder(method, **parse(BUILDERS.find(method), param), **named)
        reduced = _column(data, column, given["missing_tokens"], layout)
        if (target := getattr(builder, "target", None)) is not None:
            from kanopy._job.inputs import with_classes

            table = read_data(data, layout, list(dict.fromkeys([column, target]))).frame
            builder = with_classes(builder, table, column, o.columns(given["missing_tokens"]))  # type: ignore[assignment]
        if isinstance(builder, SemanticBuilder):
            proposal = builder.propose_column(reduced)
            built = proposal.hierarchy
        elif isinstance(builder, FromClassification):
            classified = builder.classify_column(reduced)
            built, notes = classified.hierarchy, classified.notes
        else:
            built = builder.build_column(reduced)
    if output is not None:
        write_hierarchy(built, output)
        if proposal is not None:
            semantics.write_senses_of(proposal, output)

    def show(console: Any) -> None:

        console.line(_tree_or_levels(built))
        if proposal is not None:
            semantics.show_proposal(console, proposal)
        for note in notes:
            console.line(note)
        if output is not None:
            console.line(f"Written to {output}")

    result = build_json(builder, built, reduced) | ({"notes": list(notes)} if notes else {})
    emit(result | (semantics.proposal_json(proposal) if wants_json() and proposal is not None else {}), show)


def _implied(method: str, parameter: str) -> str:
    """The method that an option implies, unless another one was named beside it."""
    from kanopy.hierarchy.builders.registry import METHOD_OF_PARAMETER

    implied = METHOD_OF_PARAMETER[parameter]
    if method not in ("auto", implied):
        raise InputError(f"--{parameter} is for the method {implied}, not {method}. Leave one of them out.")
    return implied


def _column(data: str, column: str, tokens: list[str] | None, layout: Any) -> Column:
    """The values of one column, with the given texts taken for missing."""
    return _values(read_data(data, layout, [column]).frame[column], missing_tokens=o.columns(tokens))


def _values(series: pl.Series, **reading: Any) -> Column:
    from kanopy._table.column import typed_column
    from kanopy.hierarchy.column import column_of

    return typed_column(series, **reading) or column_of([], name=series.name)


def build_json(builder: Builder, h: Hierarchy, column: Column) -> dict[str, Any]:
    """What `build --json` prints.

    `levels` begins with the values for trees that grow from the data, and with the narrowest intervals for methods
    that divide a range (cgh, dbgh, cbgh, equal_width, widths, cuts): there the values themselves are not a level of
    the method's own. Levels of text are lists of labels.
    """
    from kanopy.hierarchy.builders.grid import GridBuilder

    numeric = h.low is not None and h.high is not None
    typed = column.inferred()
    parent = None if h.parent is None else h.parent.tolist()
    nodes = []
    for node, label in enumerate(h.labels):
        low = _bound(typed, h.low[node].item()) if h.low is not None else None
        high = _bound(typed, h.high[node].item()) if h.high is not None else None
        above = None if parent is None or parent[node] < 0 else parent[node]
        nodes.append({"min": low, "max": high, "parent": above, "label": label})
    levels: list[Any] | None
    if isinstance(builder, GridBuilder) and column.size > 1:
        levels = [[[_bound(typed, x) for x in pair] for pair in level] for level in builder.intervals_of(column)]
    elif (h.height + 1) * h.size > LARGEST_LISTING:
        levels = None
    elif numeric:
        levels = [[[_bound(typed, x) for x in pair] for pair in h.intervals_at(level)] for level in range(h.height + 1)]
    else:
        levels = [list(h.labels_at(level)) for level in range(h.height + 1)]
    return {
        "method": builder.method,
        "column": column.name,
        "height": h.height,
        "leaves": h.size,
        "nested": h.nested,
        "levels": levels,
        "nodes": nodes,
    }


def _bound(column: Column, value: float) -> Any:
    """A bound as JSON: numbers as they are, dates as text."""
    return column.text(int(value)) if column.kind in ("date", "datetime") else value


def _tree_or_levels(h: Hierarchy) -> str:
    from kanopy.report.drawings.tree import tree_text

    if h.nested:
        return tree_text(h)
    lines = ["This hierarchy does not nest; its levels are:"]
    for level in range(h.height + 1):
        labels = h.labels_at(level)
        more = f" … {len(labels) - 12} more" if len(labels) > 12 else ""
        lines.append(f"{level}: " + "  ".join(labels[:12]) + more)
    return "\n".join(lines)


@hierarchy.command("show")
@o.command(needs={"level": o.PICTURE})
def show_file(
    file: Annotated[Path, typer.Argument(help="A hierarchy file.")],
    svg: Annotated[Path | None, typer.Option(help="Also draw it as SVG into this file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write an interactive page into this file.")] = None,
    level: Annotated[int | None, typer.Option(help="Mark the nodes of this level in the drawings.")] = None,
    lines: Annotated[int, typer.Option(help="The approximate number of lines to print.")] = 60,
) -> None:
    """Show a hierarchy as a tree, folded when it is large."""
    from kanopy._files import write_whole
    from kanopy.hierarchy.compare import outline
    from kanopy.hierarchy.files.files import read_hierarchy
    from kanopy.report.drawings.tree import tree_html, tree_svg, tree_text

    check_outputs([file], svg, html)
    h = read_hierarchy(file, require_nesting=False)
    written = []
    for target, draw in ((svg, tree_svg), (html, tree_html)):
        if target is not None:
            write_whole(target, draw(h, level=level), private=True)
            written.append(str(target))

    def show(console: Any) -> None:

        console.line(tree_text(h, lines=lines) if h.nested else _tree_or_levels(h))
        for target in written:
            console.line(f"Written to {target}")

    emit({**outline(h).to_dict(), "written": written}, show)


@hierarchy.command("suggest")
@o.command("job", "output", "missing_tokens", k=5, reads=SEARCHED)
def suggest(
    data: o.Data,
    column: ColumnName,
    style: Style = None,
    html: Annotated[Path | None, typer.Option(help="Draw every proposal on a page in this file.")] = None,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Try the methods that fit a column, show what they make of it, and rank them by the loss they cause.

    Of those that lose at most 5 % more than the best, what reads well comes first. With --job the table is read as
    the job says, and each is tried in its release, beside the other columns: what that loses decides.
    """
    from kanopy._errors import DataError, JobError, near_miss
    from kanopy._job.reading_rules import read_records
    from kanopy._table.grouping import units_of
    from kanopy.engine.lists import unrolled
    from kanopy.hierarchy.files.files import write_hierarchy
    from kanopy.hierarchy.suggest import best_first, halving_note, suggest_hierarchies

    output, k = given["output"], given["k"]
    check_outputs(inputs_of(data, given["job"]), output, html)
    wanted = o.job_of({name: given[name] for name in ("job", "missing_tokens")})
    frame = read_data(data, layout.over(wanted), [column] if given["job"] is None else None).frame
    records = unrolled(read_records(frame, wanted), wanted.quasi, wanted.separators)[0]
    if column not in records.columns:
        raise DataError(f"The table has no column {column!r}. {near_miss(column, records.columns)}")
    if given["job"] is not None and column not in wanted.quasi:
        raise JobError(
            f"{column!r} is no quasi-identifier of the job: its release is the same with any hierarchy of it."
        )
    whose = units_of(records, wanted.unit)[0] if wanted.unit else None
    ranking = suggest_hierarchies(_values(records[column], unit_of_row=whose), k=k, style=style)
    note = halving_note(ranking)
    releases: list[float | None] = [None] * len(ranking)
    if given["job"] is not None:
        tried = [_release_loss(frame, column, entry, wanted) for entry in ranking]
        order = best_first(ranking, tried)
        ranking, releases = [ranking[i] for i in order], [tried[i] for i in order]
        note = "Ranked by the loss of the job's release with each method."
    if output is not None:
        write_hierarchy(ranking[0].hierarchy, output)
    listed = [
        {
            "method": entry.method,
            "parameters": dataclasses.asdict(entry.builder),
            "loss": entry.loss,
            "release_loss": release,
            "labels": _first_labels(entry.hierarchy),
            "typical_loss": entry.typical_loss,
            "groups": entry.groups,
            "height": entry.hierarchy.height,
            "reason": entry.reason,
            "unsure": list(entry.unsure),
        }
        for entry, release in zip(ranking, releases, strict=True)
    ]
    if html is not None:
        from kanopy._files import write_whole
        from kanopy.report.pages.suggestions import suggestions_page

        drawn = [(_called(entry.builder), entry, release) for entry, release in zip(ranking, releases, strict=True)]
        write_whole(html, suggestions_page(column, k, drawn), private=True)

    def show(console: Any) -> None:
        rows = (
            (_called(entry.builder), f"{entry.loss:.4f}", f"{entry.typical_loss:.4f}",
             *(() if given["job"] is None else ("–" if release is None else f"{release:.4f}",)), f"{entry.groups:,}",
             str(entry.hierarchy.height + 1))
            for entry, release in zip(ranking, releases, strict=True)
        )  # fmt: skip
        released = () if given["job"] is None else (">in the release",)
        console.print(grid(("method", ">loss", ">typical loss", *released, ">groups", ">levels"), rows))
        for entry in ranking:
            levels = [", ".join(labels) for labels in _first_labels(entry.hierarchy)]
            console.line(f"{_called(entry.builder)}: {' | '.join(levels)}")
            if entry.unsure:
                console.line(f"  uncertain meaning: {len(entry.unsure)} ({some(entry.unsure)})", style="yellow")
        console.line(f"Best: {ranking[0].method}: {ranking[0].reason}.")
        console.line(f"Loss: at the lowest level with groups of at least {k} rows; typical: averaged over larger k.")
        if note:
            console.line(note)
        if html is not None:
            console.line(f"Drawn in {html}")

    emit({"column": column, "k": k, "best": ranking[0].method, "note": note, "ranking": listed}, show)


MOST_LABELS = 3
MOST_LEVELS = 5


def _first_labels(hierarchy: Hierarchy) -> list[list[str]]:
    """The first labels of some levels above the values, the coarsest last; more of a level are hinted at."""
    short = hierarchy.with_levels(MOST_LEVELS + 1) if hierarchy.height > MOST_LEVELS else hierarchy
    first_labels = []
    for level in range(1, short.height + 1):
        nodes = short.level(level).nodes
        more = ["…"] if len(nodes) > MOST_LABELS else []
        first_labels.append([short.label(int(node)) for node in nodes[:MOST_LABELS]] + more)
    return first_labels


def _release_loss(frame: pl.DataFrame, column: str, entry: Suggestion, job: Job) -> float | None:
    """What the release of a job loses if a column gets this hierarchy; `None` where there is none."""
    from kanopy._errors import NoSolution
    from kanopy.release.run import anonymize

    try:
        return anonymize(frame, job.replaced(hierarchies={**job.hierarchies, column: entry.hierarchy})).score
    except NoSolution:
        return None


def _called(builder: Builder) -> str:
    """The method with the parameters that differ from their defaults."""
    changed = []
    for field in dataclasses.fields(builder):
        value = getattr(builder, field.name)
        if value != field.default and value:
            changed.append(f"{field.name}={value}")
    return builder.method + (f" ({', '.join(changed)})" if changed else "")


@hierarchy.command("compare")
@o.command(
    "missing_tokens",
    k=5,
    needs={
        "k": o.DATA,
        "missing_tokens": o.DATA,
        "encoding": o.both(o.DATA, o.TEXT_INPUT),
        "delimiter": o.both(o.DATA, o.TEXT_TABLE),
        "sheet": o.both(o.DATA, o.WORKBOOK),
        "header_row": o.both(o.DATA, o.TABLE_BELOW),
    },
)
def compare(
    files: Annotated[list[Path], typer.Argument(help="Two or more hierarchy files.")],
    data: Annotated[str | None, typer.Option(help="Data on which to measure the loss.")] = None,
    column: Annotated[str | None, typer.Option(help="The column of the data.")] = None,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Compare hierarchies: levels, nodes per level, shared groupings, and the loss on data."""
    from kanopy.hierarchy.compare import compare_hierarchies
    from kanopy.hierarchy.files.files import read_hierarchy
    from kanopy.hierarchy.suggest import loss_at

    if (data is None) != (column is None):
        raise InputError("To measure the loss give both --data and --column.")
    hierarchies = [read_hierarchy(file, require_nesting=False) for file in files]
    comparison = compare_hierarchies(hierarchies)
    reduced = None if data is None or column is None else _column(data, column, given["missing_tokens"], layout)
    k = given["k"]
    losses = [None if reduced is None or not h.nested else loss_at(h, reduced, k) for h in hierarchies]
    listed = [
        {"file": str(file), **facts.to_dict(), "groups": groups, "loss": None if loss is None else loss[0]}
        for file, facts, groups, loss in zip(files, comparison.outlines, comparison.groups, losses, strict=True)
    ]

    def show(console: Any) -> None:
        rows = (
            (str(entry["file"]), str(entry["leaves"]), str(entry["height"]), _short(entry["nodes_per_level"]),
             "" if entry["loss"] is None else f"{entry['loss']:.4f}")
            for entry in listed
        )  # fmt: skip
        console.print(grid(("file", ">values", ">height", "nodes per level", ">loss"), rows))
        console.line(_agreement(files, comparison.groups, comparison.shared_groups, comparison.same))

    emit(
        {
            "hierarchies": listed,
            "common_values": comparison.common_values,
            "shared_groups": [list(row) for row in comparison.shared_groups],
            "same": comparison.same,
            "k": k,
        },
        show,
    )


def _short(sizes: Any) -> str:
    size_texts = [str(size) for size in sizes]
    return " ".join(size_texts if len(size_texts) <= 12 else [*size_texts[:6], "…", *size_texts[-5:]])


def _agreement(files: list[Path], groups: tuple[int, ...], shared: tuple[tuple[int, ...], ...], same: bool) -> str:
    if same:
        return "They generalize every value in the same way."
    return "\n".join(
        f"{files[0].name} and {files[i].name} share {shared[0][i]} groups of values (of {groups[0]} and {groups[i]})."
        for i in range(1, len(files))
    )
