"""Tables 1, 3 and 4 of Martínez 2010: masking methods, WordNet in numbers, measures beside people's ratings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kanopy.ontology.load import load_ontology
from kanopy.ontology.similarity.benchmark import rating_agreement, read_word_pairs
from kanopy.ontology.taxonomy import Taxonomy
from kanopy_papers.reproduction import UNDECIDED, Claim, Table, verdict

METHODS = (
    ("additive noise", "P", "x", "", "kanopy baseline --method noise"),
    ("data distortion by probability distribution", "P", "x", "x", "not defined in the thesis"),
    ("microaggregation", "P", "x", "x", "kanopy mask --algorithm semantic-microaggregation"),
    ("re-sampling", "P", "x", "", "kanopy baseline --method resampling"),
    ("lossy compression", "P", "x", "", "not defined in the thesis"),
    ("multiple imputation", "P", "x", "", "not defined in the thesis"),
    ("camouflage", "P", "x", "", "not defined in the thesis"),
    ("PRAM", "P", "", "x", "kanopy baseline --method pram"),
    ("MASSC", "P", "", "x", "not defined in the thesis"),
    (
        "data swapping",
        "P",
        "x",
        "x",
        "kanopy mask --algorithm semantic-swapping, kanopy baseline --method rank-swapping",
    ),
    ("rounding", "P", "x", "", "kanopy baseline --method rounding"),
    ("sampling", "NP", "", "x", "kanopy baseline --method sampling"),
    ("global recoding", "NP", "x", "x", "kanopy anonymize"),
    ("top and bottom coding", "NP", "x", "x", "the builder cuts"),
    ("local suppression", "NP", "", "x", "kanopy anonymize --suppression"),
)
"""Table 1: method, perturbative or not, for continuous and for categorical data; and its place in Kanopy."""

NOUNS = (117_097, 81_426, 145_104)
"""Table 3, nouns of WordNet 2.1: unique strings, synsets, word-sense pairs."""
DEEPEST, SENSES_OF_AMBIGUOUS = 16, 2.77

TABLE_4: dict[str, tuple[str, str, float, float | None]] = {
    "path-length": ("Path (Rada)", "edge", 0.59, None),
    "wu-palmer": ("Wu & Palmer", "edge", 0.74, None),
    "leacock-chodorow": ("Leacock & Chodorow", "edge", 0.74, 0.77),
    "rodriguez-egenhofer": ("Rodriguez", "feature", 0.71, None),
    "tversky": ("Tversky", "feature", 0.73, None),
    "x-similarity": ("Petrakis", "feature", 0.74, None),
    "resnik": ("Resnik", "information content", 0.72, 0.72),
    "lin": ("Lin", "information content", 0.70, 0.72),
    "jiang-conrath-distance": ("Jiang & Conrath", "information content", 0.73, 0.75),
}
"""Table 4: measure, family, correlations with the ratings of Miller and Charles and of Rubenstein and Goodenough."""
MOST_OF_MILLER_CHARLES = 30
NEAR = 0.1
"""Correlations of other versions of WordNet and other corpora are called equal up to this."""


def methods_table() -> Table:
    """Table 1, with the place of each method in Kanopy."""
    return Table("masking_methods", ("method", "type", "continuous", "categorical", "in Kanopy"), METHODS)


def wordnet_numbers(taxonomy: Taxonomy) -> tuple[int, int, int, int, float]:
    """Words, synsets, word-sense pairs, the deepest synset by its shortest path, and senses per ambiguous word."""
    senses = np.diff(taxonomy.sense_start)
    synsets = taxonomy.size - (taxonomy.virtual_root >= 0)
    several = senses[senses > 1]
    return len(taxonomy.vocabulary), synsets, int(senses.sum()), int(taxonomy.min_depth.max()), float(several.mean())


def wordnet_claims(taxonomy: Taxonomy) -> list[Claim]:
    """Table 3, as far as nouns go, and what stands beside it."""
    *sizes, deepest, ambiguous = wordnet_numbers(taxonomy)
    same = "2.1" in taxonomy.name
    why = "" if same else f"The thesis counts version 2.1; bundled is {taxonomy.name}."

    def judged(held: bool) -> str:
        return verdict(held) if same else UNDECIDED

    def shown(numbers: Sequence[int]) -> str:
        return " / ".join(f"{number:,}" for number in numbers)

    return [
        Claim("Table 3: strings, synsets and senses of WordNet's nouns.", shown(NOUNS), shown(sizes),
              judged(tuple(sizes) == NOUNS), why),
        Claim("The maximum depth of the noun hierarchy (3.1.1).", str(DEEPEST), f"{deepest} by shortest paths",
              judged(deepest == DEEPEST), why),
        Claim("Synsets of an ambiguous word, on average (3.1.1).", str(SENSES_OF_AMBIGUOUS), f"{ambiguous:.2f}",
              judged(round(ambiguous, 2) == SENSES_OF_AMBIGUOUS), why),
    ]  # fmt: skip


def correlations(files: Sequence[Path], taxonomy: Taxonomy) -> dict[str, dict[str, float | str]]:
    """Per file of ratings and measure the correlation with people, or why there is none."""
    correlations_of_benchmark: dict[str, dict[str, float | str]] = {}
    for file in files:
        pairs, ratings = read_word_pairs(file, ratings=True)
        benchmark = "M&C" if len(pairs) <= MOST_OF_MILLER_CHARLES else "R&G"
        correlations_of_benchmark[benchmark] = {
            agreement.measure: agreement.reason if agreement.pearson is None else agreement.pearson
            for agreement in rating_agreement(taxonomy, pairs, ratings, list(TABLE_4))
        }
    return correlations_of_benchmark


def table_4(correlations_found: dict[str, dict[str, float | str]]) -> tuple[Table, list[Claim]]:
    """Measures beside the published correlations; without ratings nothing can be decided."""
    rows = [
        (
            *TABLE_4[name],
            *(correlations_found.get(benchmark_name, {}).get(name, "") for benchmark_name in ("M&C", "R&G")),
        )
        for name in TABLE_4
    ]
    header = ("measure", "family", "published M&C", "published R&G", "here M&C", "here R&G")
    claims = []
    for index, benchmark in enumerate(("M&C", "R&G")):
        multiplicity = {name: row[2:][index] for name, row in TABLE_4.items()}
        published = {name: value for name, value in multiplicity.items() if value is not None}
        comparable = {
            name: v
            for name, v in correlations_found.get(benchmark, {}).items()
            if isinstance(v, float) and name in published
        }
        near = [name for name, value in comparable.items() if abs(value - published[name]) <= NEAR]
        ours = f"{len(near)} of {len(comparable)} within {NEAR}" if comparable else "no ratings given"
        published_range = f"{min(published.values()):.2f} to {max(published.values()):.2f}"
        claims.append(
            Claim(f"Table 4: correlations of measures with the ratings of {benchmark}.", published_range, ours,
                  verdict(len(near) == len(comparable)) if comparable else UNDECIDED,
                  "Published values come from other versions of WordNet and other corpora. The ratings are not ours to "
                  "bundle: give their file with --ratings.")
        )  # fmt: skip
    comparable = {name: value for name, value in correlations_found.get("M&C", {}).items() if isinstance(value, float)}
    families = {TABLE_4[name][1] for name in comparable}
    means = {
        f: float(np.mean([v for name, v in comparable.items() if TABLE_4[name][1] == f])) for f in sorted(families)
    }
    spread = max(means.values()) - min(means.values()) if means else 0.0
    claims.append(
        Claim("Accuracies are very similar through the different families (3.3, Table 4).",
              "0.69, 0.73 and 0.72 on average",
              ", ".join(f"{name} {value:.2f}" for name, value in means.items()) or "no ratings given",
              verdict(spread <= NEAR) if len(means) == 3 else UNDECIDED, f"Similar is read as: within {NEAR}.")
    )  # fmt: skip
    return Table(
        "correlations", header, tuple(tuple("" if cell is None else cell for cell in row) for row in rows)
    ), claims


def thesis_tables(ratings: Sequence[Path]) -> tuple[list[Table], list[Claim]]:
    """Tables 1, 3 and 4, and their claims."""
    wordnet = load_ontology("wordnet")
    measured, claims = table_4(correlations(ratings, wordnet))
    names = ("strings", "synsets", "word-sense pairs")
    sizes = tuple(zip(names, NOUNS, wordnet_numbers(wordnet)[:3], strict=True))
    nouns = Table("wordnet", ("nouns", "published (2.1)", f"bundled ({wordnet.name})"), sizes)
    return [methods_table(), nouns, measured], [*wordnet_claims(wordnet), *claims]
