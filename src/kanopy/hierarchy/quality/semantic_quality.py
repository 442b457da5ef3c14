"""How much meaning a hierarchy loses: generalization semantic loss (GSL) of Ayala-Rivera et al. 2014.

"Ontology-Based Quality Evaluation of Value Generalization Hierarchies for Data Anonymization", PSD 2014:

- TransGSL(leaf, ancestor): the largest similarity possible minus the similarity of the two (equation 1);
- LevelGSL(level): the largest TransGSL over the leaves (equation 2), beside it mean and standard deviation;
- VghGSL: the weighted sum of the levels (equation 3). Lower is better.

One bad transition decides the maximum of a level, so that a good hierarchy and its shuffled copy may score alike: the
paper recommends to look at the mean as well. Hierarchies are ranked by it, and by whether their groups are those of
meaning (`agreement`), unless the published score is asked for (`level_score="max"`).

Our conventions where the paper says nothing: `*` is the root of the ontology, for it says nothing. An ancestor whose
label the ontology does not know counts as such a root, so that an unknown word never wins over a known one. A value it
does not know is left out of the sums (the same in every hierarchy over these values). Both are reported as faults. The
standard deviation is that of the population.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Floats
from kanopy._errors import InputError
from kanopy._lazy import public
from kanopy._mixins import HtmlReprMixin, ReprMixin
from kanopy._usage import checked
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.agreement import agreement
from kanopy.hierarchy.quality.semantic_faults import Fault, find_faults
from kanopy.hierarchy.quality.semantic_loss import known_concepts, level_losses, level_weights, loss_table
from kanopy.ontology.senses.senses import SenseChoices, Senses, senses_of_hierarchy
from kanopy.ontology.similarity.measures import Measure, find_measure
from kanopy.ontology.taxonomy import Taxonomy

EQUAL = 1e-12
TOO_CLOSE = 0.05
"""Ayala-Rivera et al. 2014, section 4, warn of such labels without a number: this one is ours."""


@dataclass(frozen=True)
class Transition:
    """A value and one of its ancestors: how similar they are, and what is lost (`None` if the value is unknown)."""

    leaf: str
    ancestor: str
    level: int
    similarity: float | None
    loss: float | None
    leaf_sense: str | None
    ancestor_sense: str | None


@dataclass(frozen=True)
class CloseLabel:
    """A label that is very near to a value it stands for, at its level, and for how many values it stands there."""

    leaf: str
    ancestor: str
    level: int
    loss: float
    values: int


@dataclass(frozen=True)
class LevelLoss(ReprMixin):
    """One level: largest loss, mean, standard deviation, its share in the score, and the worst transitions."""

    level: int
    gsl: float
    mean: float
    sd: float
    weighted: float
    worst: tuple[Transition, ...]


@public("kanopy.hierarchy")
@dataclass(frozen=True)
class SemanticQuality(HtmlReprMixin):
    """The judgement of one hierarchy. `score` is VghGSL; `losses[level - 1, value]` holds every TransGSL."""

    name: str
    score: float
    weights: tuple[float, ...]
    levels: tuple[LevelLoss, ...]
    faults: tuple[Fault, ...]
    senses: Senses
    measure: str
    ontology: str
    losses: Floats = field(repr=False)
    maximum: float = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def mean_score(self) -> float:
        """The weighted sum of the levels' means, where `score` sums their maxima."""
        return float(np.asarray(self.weights) @ level_losses(self.losses, "mean"))

    @cached_property
    def agreement(self) -> float:
        """Whether the groups are those of meaning, from -1 to 1 (see `kanopy.hierarchy.quality.agreement`)."""
        concepts = [self.senses.concept(leaf) for leaf in self.labels[0]]
        return agreement(self.senses.taxonomy, concepts, self.labels)

    @property
    def coverage(self) -> tuple[float, float]:
        """The share of the values, and of the labels above them, that the ontology knows: only these are measured.

        What it does not know counts as lost wholly, however clear it is to a reader.
        """
        values = {label for label in self.labels[0] if label != SUPPRESSED_LABEL}
        groups = {label for row in self.labels[1:] for label in row if label != SUPPRESSED_LABEL} - values
        known_labels = [[self.senses.concept(label) >= 0 for label in labels] for labels in (values, groups)]
        shares = [sum(is_known) / len(is_known) if is_known else 1.0 for is_known in known_labels]
        return shares[0], shares[1]

    def ranked_by(self, level_score: str = "mean") -> float:
        """What a ranking compares, lower is better: `max` the published VghGSL; `mean` the half of what labels lose on
        average (as a share of the most that can be lost) and the half of what the groups miss, (1 - agreement) / 2.
        """
        if level_score == "max":
            return self.score
        labels = float(np.asarray(self.weights) @ level_losses(self.losses, level_score))
        return (labels / self.maximum + (1.0 - self.agreement) / 2) / 2

    @property
    def transitions(self) -> list[Transition]:
        """Every transition, level by level."""
        return [
            self.transition(level, value)
            for level in range(1, len(self.labels))
            for value in range(len(self.labels[0]))
        ]

    def transition(self, level: int, value: int) -> Transition:
        """The transition of one value to one level."""
        return _transition(self.labels, self.losses, self.maximum, self.senses, level, value)

    def worst(self, count: int = 10) -> list[Transition]:
        """The transitions that lose most."""
        known_cells = np.argwhere(~np.isnan(self.losses))
        order = np.argsort(-self.losses[tuple(known_cells.T)], kind="stable")[:count]
        return [self.transition(int(level) + 1, int(value)) for level, value in known_cells[order]]

    def too_close(self, share: float = TOO_CLOSE) -> list[CloseLabel]:
        """The labels so near to their value that they may still give it away (crocodile → crocodilian), nearest first.

        Near is a loss of at most `share` of the most that can be lost. Labels that stand for several values hide which
        one it was: `values` counts them.

        >>> from kanopy.ontology.load import load_ontology
        >>> h = Hierarchy.from_rows([["crocodile", "crocodilian", "animal"], ["salmon", "fish", "animal"]])
        >>> [(c.leaf, c.ancestor, c.values) for c in evaluate_hierarchy(h, load_ontology("wordnet")).too_close()]
        [('crocodile', 'crocodilian', 1)]
        """
        if not 0 <= share <= 1:
            raise InputError(f"The share below which a label is too close must be from 0 to 1, not {share}.")
        close_labels = []
        for level, value in np.argwhere(self.losses <= share * self.maximum + EQUAL).tolist():  # NaN compares false
            leaf, ancestor = self.labels[0][value], self.labels[level + 1][value]
            if leaf != ancestor:
                loss, values = float(self.losses[level, value]), self.labels[level + 1].count(ancestor)
                close_labels.append(CloseLabel(leaf, ancestor, level + 1, loss, values))
        return sorted(close_labels, key=lambda close: (close.loss, close.values, close.level, close.leaf))

    def to_dict(self, file: str = "") -> dict[str, Any]:
        """The judgement as plain data, in the shape that `kanopy hierarchy evaluate --json` prints."""
        return {
            "file": file or self.name,
            "score": self.score,
            "mean_score": self.mean_score,
            "agreement": self.agreement,
            "known_values": self.coverage[0],
            "known_labels": self.coverage[1],
            "weights": list(self.weights),
            "levels": [
                {
                    **vars(level),
                    "worst": [{"leaf": t.leaf, "ancestor": t.ancestor, "loss": t.loss} for t in level.worst],
                }
                for level in self.levels
            ],
            "too_close": [vars(close) for close in self.too_close()],
            "transitions": [vars(transition) for transition in self.transitions],
            "faults": [fault.to_dict() for fault in self.faults],
        }


@public("kanopy")
@checked
def evaluate_hierarchy(
    hierarchy: Hierarchy,
    taxonomy: Taxonomy,
    *,
    measure: str | Measure = "wu-palmer",
    weights: str | Sequence[float] = "constant",
    choices: SenseChoices | None = None,
    senses: Senses | None = None,
) -> SemanticQuality:
    """Judge a hierarchy against an ontology: VghGSL, its levels and transitions, and what is wrong with it.

    `choices` are the user's senses and synonyms (see `kanopy.ontology.senses.senses_file`); `senses` are those already
    chosen, perhaps for several hierarchies. Unbalanced hierarchies are balanced by repeating the leaf. Ayala-Rivera et
    al. 2014.

    >>> from kanopy.ontology.load import load_ontology
    >>> h = Hierarchy.from_rows([["cat", "mammal", "animal"], ["salmon", "fish", "animal"]], name="pets")
    >>> quality = evaluate_hierarchy(h, load_ontology("wordnet"))
    >>> round(quality.score, 4), [round(level.gsl, 4) for level in quality.levels]
    (0.2291, [0.1538, 0.3043])
    """
    chosen = find_measure(measure)
    where = f"The hierarchy {hierarchy.name}" if hierarchy.name else "The hierarchy"
    weighing = level_weights(hierarchy.height, weights, where=where)
    rows = list(hierarchy.rows())
    labels = tuple(zip(*rows, strict=True))
    if senses is None:
        senses = senses_of_hierarchy(taxonomy, rows, choices)
    elif len(senses) > len(labels_used := dict.fromkeys(label for row in labels for label in row)):
        senses = Senses(taxonomy, {label: senses[label] for label in labels_used})
    concepts = known_concepts(labels, senses, where)
    losses = loss_table(taxonomy, concepts, chosen)
    maximum = chosen.maximum(taxonomy)
    highest = level_losses(losses)
    levels = []
    for level, row in enumerate(losses, 1):
        worst = np.flatnonzero(row >= highest[level - 1] - EQUAL)
        levels.append(
            LevelLoss(
                level,
                float(highest[level - 1]),
                float(np.nanmean(row)),
                float(np.nanstd(row)),
                float(highest[level - 1] * weighing[level - 1]),
                tuple(_transition(labels, losses, maximum, senses, level, int(value)) for value in worst),
            )
        )
    return SemanticQuality(
        name=hierarchy.name,
        score=float(weighing @ highest),
        weights=tuple(weighing.tolist()),
        levels=tuple(levels),
        faults=find_faults(taxonomy, labels, concepts, losses, senses),
        senses=senses,
        measure=chosen.name,
        ontology=taxonomy.name,
        losses=losses,
        maximum=maximum,
        labels=labels,
    )


def rank_hierarchies(scores: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Hierarchies from the best (lowest score, see `SemanticQuality.ranked_by`) to the worst; equals share a rank.

    >>> rank_hierarchies([("a", 0.3), ("b", 0.2)])
    [{'rank': 1, 'file': 'b', 'score': 0.2}, {'rank': 2, 'file': 'a', 'score': 0.3}]
    """
    ordered = sorted(scores, key=lambda item: item[1])
    return [
        {"rank": 1 + sum(other < score - EQUAL for _, other in ordered), "file": file, "score": score}
        for file, score in ordered
    ]


def _transition(
    labels: Sequence[Sequence[str]], losses: Floats, maximum: float, senses: Senses, level: int, value: int
) -> Transition:
    loss = float(losses[level - 1, value])
    leaf, ancestor = labels[0][value], labels[level][value]
    similarity, lost = (None, None) if np.isnan(loss) else (maximum - loss, loss)
    return Transition(leaf, ancestor, level, similarity, lost, senses.name(leaf), senses.name(ancestor))
