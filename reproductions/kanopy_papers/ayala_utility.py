"""Does utility follow GSL? The experiment that Ayala-Rivera et al. 2014 name as future work, on columns of Adult.

Hierarchies that people wrote are spoiled step by step: some values change places, so that shape and group sizes stay
and meaning goes. GSL is measured by the ontology; utility by what the published groups still tell about the income,
which knows nothing of any ontology.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, correlation
from kanopy._table.datasets import adult, adult_hierarchies, path
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
from kanopy.metrics.utility.column_utility import entropy
from kanopy.ontology.load import load_ontology
from kanopy.ontology.senses.senses import senses_of_hierarchy
from kanopy.ontology.senses.senses_file import read_senses
from kanopy.ontology.similarity.benchmark import ranks
from kanopy_papers.reproduction import Claim, Table, verdict

COLUMNS = ("occupation", "education", "workclass", "native-country", "marital-status")
TARGET = "income"
SPOILED = (0.0, 0.25, 0.5, 0.75, 1.0)
SEEDS, QUICK_SEEDS = range(8), range(3)


@dataclass(frozen=True)
class Spoiled:
    """One hierarchy with some values in each other's places: its loss, and the information that is kept."""

    column: str
    share: float
    seed: int
    gsl: float
    mean: float
    kept: float


def spoiled_rows(rows: Sequence[Sequence[str]], share: float, rng: np.random.Generator) -> list[list[str]]:
    """The rows of a hierarchy after a share of its values have changed places.

    >>> spoiled_rows([["a", "x"], ["b", "y"]], 1.0, np.random.default_rng(1))
    [['b', 'x'], ['a', 'y']]
    """
    moved = rng.permutation(len(rows))[: round(share * len(rows))]
    leaves = [row[0] for row in rows]
    for at, source in zip(moved.tolist(), np.roll(moved, 1).tolist(), strict=True):
        leaves[at] = rows[source][0]
    return [[leaf, *row[1:]] for leaf, row in zip(leaves, rows, strict=True)]


def information_kept(hierarchy: Hierarchy, counts: dict[str, Floats]) -> float:
    """What levels between values and top tell about the target, on average, as a share of what the values tell."""
    rows = list(hierarchy.rows())
    information = []
    for level in range(hierarchy.height):
        groups: dict[str, Floats] = {}
        for row in rows:
            groups[row[level]] = groups.get(row[level], np.zeros(2)) + counts.get(row[0], np.zeros(2))
        information.append(_information(np.array(list(groups.values()))))
    return float(np.mean(information[1:]) / information[0]) if len(information) > 1 and information[0] > 0 else 1.0


def _information(table: Floats) -> float:
    return float(entropy(table.sum(axis=1)) + entropy(table.sum(axis=0)) - entropy(table.ravel()))


def utility_experiment(*, quick: bool = False) -> tuple[list[Spoiled], list[Claim], Table]:
    """Every spoiled hierarchy, what it says of GSL and utility, and the table."""
    frame, hierarchies, wordnet = adult(), adult_hierarchies(), load_ontology("wordnet")
    spoiled_results = []
    for column in COLUMNS:
        hierarchy = hierarchies[column]
        counts: dict[str, Floats] = {}
        classes = sorted(frame[TARGET].unique().to_list())
        for value, income, rows in frame.group_by(column, TARGET).len().iter_rows():
            counts.setdefault(str(value), np.zeros(2))[classes.index(income)] += rows
        multiplicity = [list(row) for row in hierarchy.rows()]
        chosen = read_senses(path("adult_senses") / f"{column}.senses.toml")
        senses = senses_of_hierarchy(wordnet, hierarchy.rows(), chosen)
        for share in SPOILED:
            for seed in (QUICK_SEEDS if quick else SEEDS) if share else (0,):
                spoiled_counts = (
                    spoiled_rows(multiplicity, share, np.random.default_rng(seed)) if share else multiplicity
                )
                spoiled = Hierarchy.from_rows(spoiled_counts, name=column)
                judged = evaluate_hierarchy(spoiled, wordnet, senses=senses)
                information_left = information_kept(spoiled, counts)
                spoiled_results.append(Spoiled(column, share, seed, judged.score, judged.mean_score, information_left))
    header = ("column", "values moved", "seed", "VghGSL", "mean loss", "information kept")
    rows = tuple((s.column, s.share, s.seed, s.gsl, s.mean, s.kept) for s in spoiled_results)
    return spoiled_results, utility_claims(spoiled_results), Table("gsl_and_utility", header, rows)


def utility_claims(results: Sequence[Spoiled]) -> list[Claim]:
    """A hierarchy that loses less meaning should keep more utility: rank correlations per column, by both scores."""
    claims = []
    for text, name in (
        ("A hierarchy with less semantic loss keeps more utility (5, future work): VghGSL as published.", "gsl"),
        ("A hierarchy with less semantic loss keeps more utility (5, future work): the mean of each level.", "mean"),
    ):
        found_in = {}
        for column in dict.fromkeys(s.column for s in results):
            of_column = [s for s in results if s.column == column]
            lost, information_left = (
                np.array([getattr(s, name) for s in of_column]),
                np.array([s.kept for s in of_column]),
            )
            found_in[column] = correlation(ranks(lost), ranks(information_left)) or 0.0  # none where all are equal
        correlations_shown = ", ".join(f"{column} {value:+.2f}" for column, value in found_in.items())
        claims.append(
            Claim(text, "expected, not measured",
            f"rank correlations of loss and information about {TARGET}: {correlations_shown}",
                  verdict(all(value < 0 for value in found_in.values())),
                  why="The paper gives neither data nor a measure of utility. Here: Adult, values moved about in "
                  "hand-written hierarchies, and what the groups still tell about the income.")
        )  # fmt: skip
    return claims
