"""Commands about ontologies and the similarity of words."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kanopy._errors import InputError
from kanopy.cli import options as o
from kanopy.cli.console import emit, grid
from kanopy.cli.files import check_outputs

if TYPE_CHECKING:
    from kanopy.ontology.similarity.measures import Measure
    from kanopy.ontology.similarity.words import WordPair
    from kanopy.ontology.taxonomy import Taxonomy

ontology = typer.Typer(help="Compile and inspect ontologies.", no_args_is_help=True)


@ontology.command("compile")
@o.command()
def compile_ontology(
    source: Annotated[
        Path, typer.Argument(help="A WordNet dict folder, or a .xml .obo .owl .rdf .ttl .csv .tsv file.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The compiled file to write (.npz).")],
    name: Annotated[str, typer.Option(help="The name of the ontology.")] = "",
    is_a: Annotated[list[str] | None, typer.Option(help="A relation that counts as is-a; may be repeated.")] = None,
) -> None:
    """Compile an ontology into one small file that loads fast."""
    from kanopy.ontology.load import read_ontology, save_ontology

    if output.suffix != ".npz":
        raise InputError(f"Compiled ontologies end in .npz; {output.name!r} does not. Use -o {output.stem}.npz.")
    check_outputs([source], output)
    taxonomy = read_ontology(source, is_a=is_a or (), name=name)
    save_ontology(taxonomy, output)
    _show_info(taxonomy, str(output))


@ontology.command("info")
@o.command()
def info(name_or_path: Annotated[str, typer.Argument(help="`wordnet`, or a file.")] = "wordnet") -> None:
    """What an ontology holds."""
    from kanopy.ontology.load import load_ontology

    _show_info(load_ontology(name_or_path), name_or_path)


def _show_info(taxonomy: Taxonomy, file: str) -> None:
    several = (taxonomy.parent_start[1:] - taxonomy.parent_start[:-1]) > 1
    facts: dict[str, Any] = {
        "name": taxonomy.name,
        "file": file,
        "concepts": taxonomy.size - (taxonomy.virtual_root >= 0),
        "words": len(taxonomy.vocabulary),
        "senses": len(taxonomy.sense_concepts),
        "roots": [taxonomy.label(int(root)) for root in taxonomy.roots[:20]],
        "root_count": len(taxonomy.roots),
        "links": len(taxonomy.parents) - (len(taxonomy.roots) if taxonomy.virtual_root >= 0 else 0),
        "concepts_with_several_parents": int(several.sum()),
        "instances": int(taxonomy.is_instance.sum()),
        "deepest": int(taxonomy.depth.max()),
        "tag_counts": int(taxonomy.tag_counts.sum()),
    }

    def show(console: Any) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table("", "", show_header=False, title=Text(facts["name"] or file))
        for key, value in facts.items():
            text = (
                ", ".join(value[:5]) if isinstance(value, list) else f"{value:,}" if isinstance(value, int) else value
            )
            table.add_row(key.replace("_", " "), Text(text))
        console.print(table)

    emit(facts, show)


@o.command("depth_offset", needs={"depth_offset": o.PAIRS})
def similarity(
    depth_offset: int | None,
    words: Annotated[list[str] | None, typer.Argument(help="Words; tiger#2 is the second sense of tiger.")] = None,
    measure: Annotated[str, typer.Option(help="The similarity measure [default: wu-palmer].")] = "",
    ontologies: Annotated[
        list[str] | None, typer.Option("--ontology", help="`wordnet` or a file; repeat it to combine several.")
    ] = None,
    pairs: Annotated[Path | None, typer.Option(help="A CSV file with two columns: compare all its pairs.")] = None,
    benchmark: Annotated[
        Path | None,
        typer.Option(help="A CSV file word,word,rating: show how well every measure agrees with the ratings."),
    ] = None,
) -> None:
    """How similar words are in meaning: the best over their senses, unless a sense is given."""
    from kanopy.ontology.load import load_ontology

    if sum([bool(words), pairs is not None, benchmark is not None]) != 1:
        raise InputError("Give either words, or --pairs FILE.csv, or --benchmark FILE.csv.")
    loaded = [load_ontology(name) for name in ontologies or ["wordnet"]]
    if benchmark is not None:
        if len(loaded) > 1:
            raise InputError("A benchmark judges one ontology at a time. Give --ontology once.")
        _benchmark(loaded[0], benchmark, measure)
        return
    if pairs is not None:
        from kanopy.ontology.similarity.benchmark import read_word_pairs

        wanted = read_word_pairs(pairs)[0]
    else:
        if len(words or []) < 2:
            raise InputError(f"Give at least two words, not only {(words or [''])[0]!r}.")
        wanted = list(combinations(words or [], 2))
    _similarities(loaded, wanted, measured(measure or "wu-palmer", depth_offset))


def measured(name: str, depth_offset: int | None) -> Measure:
    """The measure of a name, with another depth of the root if one is asked for."""
    from functools import partial

    from kanopy.ontology.similarity.formulas import wu_palmer
    from kanopy.ontology.similarity.measures import find_measure

    named_measure = find_measure(name)
    if depth_offset is None:
        return named_measure
    if named_measure.function is not wu_palmer:
        raise InputError(
            f"{named_measure.name} counts no depth from the root. Leave --depth-offset out, or use wu-palmer."
        )
    if depth_offset < 0:
        raise InputError(f"A depth begins at 0 or above, not at {depth_offset}.")
    return replace(named_measure, function=partial(wu_palmer, depth_offset=depth_offset))


def _similarities(loaded: list[Taxonomy], wanted: list[tuple[str, str]], chosen: Measure) -> None:
    from kanopy.ontology.combine import CombinedOntologies
    from kanopy.ontology.similarity.words import word_similarities

    answers: list[tuple[Taxonomy, WordPair]]
    if len(loaded) == 1:
        answers = [(loaded[0], pair) for pair in word_similarities(loaded[0], wanted, chosen)]
    else:
        combined = CombinedOntologies(tuple(loaded))
        answers = [combined.similarity(a, b, chosen) for a, b in wanted]
    rows = [
        {"a": pair.a, "b": pair.b, "similarity": pair.similarity, "lcs": taxonomy.sense_name(pair.lcs)}
        | ({"ontology": taxonomy.name} if len(loaded) > 1 else {})
        for taxonomy, pair in answers
    ]

    def show(console: Any) -> None:
        rows = [
            (
                pair.a,
                pair.b,
                *map(taxonomy.sense_name, (pair.a_concept, pair.b_concept, pair.lcs)),
                f"{pair.similarity:.4f}",
            )
            for taxonomy, pair in answers
        ]
        console.print(grid(("a", "b", "sense of a", "sense of b", "common subsumer", f">{chosen.name}"), rows))

    emit({"measure": chosen.name, "pairs": rows}, show)


def _benchmark(taxonomy: Taxonomy, file: Path, measure: str) -> None:
    from kanopy.ontology.similarity.benchmark import rating_agreement, read_word_pairs
    from kanopy.ontology.similarity.measures import MEASURES, find_measure

    pairs, ratings = read_word_pairs(file, ratings=True)
    names = [find_measure(measure).name] if measure else list(MEASURES)
    agreements = rating_agreement(taxonomy, pairs, ratings, names)
    rows = [
        {"measure": item.measure, "pearson": item.pearson, "spearman": item.spearman}
        | ({"reason": item.reason} if item.reason else {})
        for item in agreements
    ]

    def show(console: Any) -> None:
        lines = [
            (
                item.measure,
                *("-" if value is None else f"{value:.3f}" for value in (item.pearson, item.spearman)),
                item.reason,
            )
            for item in agreements
        ]
        title = f"{len(pairs)} word pairs of {file.name}"
        console.print(grid(("measure", ">Pearson", ">Spearman", ""), lines, title=title))

    emit({"benchmark": str(file), "pairs": len(pairs), "measures": rows}, show)
