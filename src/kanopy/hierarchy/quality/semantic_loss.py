"""The loss of meaning of concepts in a level table: the numbers behind `kanopy.hierarchy.quality.semantic_quality`.

They are here, apart from labels and faults, because the builders that minimise them need nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints
from kanopy._errors import HierarchyError, InputError, near_miss, some
from kanopy.ontology.senses.labels import root_of
from kanopy.ontology.senses.senses import Senses
from kanopy.ontology.similarity.measures import Measure, find_measure
from kanopy.ontology.taxonomy import Taxonomy

WEIGHTS = ("constant", "level")
LEVEL_SCORES = ("mean", "max")
"""What stands for a level: the mean loss of its values, or the largest as published."""
TOLERANCE = 1e-6


def transition_loss(
    taxonomy: Taxonomy, leaf: npt.ArrayLike, ancestor: npt.ArrayLike, measure: str | Measure = "wu-palmer"
) -> Floats:
    """TransGSL of concepts (equation 1 of Ayala-Rivera et al. 2014).

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> round(float(transition_loss(w, w.sense("salmon"), w.sense("fish"))), 4)
    0.0769
    """
    chosen = find_measure(measure)
    loss: Floats = chosen.maximum(taxonomy) - np.asarray(chosen(taxonomy, leaf, ancestor), np.float64)
    return loss


def level_weights(height: int, weights: str | Sequence[float] = "constant", *, where: str = "") -> Floats:
    """One weight per level above the leaves: `constant` 1/h, `level` 2(h-l+1)/(h(h+1)), or your own that sum to 1.

    >>> level_weights(4, "level").round(1).tolist()
    [0.4, 0.3, 0.2, 0.1]
    """
    if height < 1:
        raise HierarchyError(
            f"{where or 'The hierarchy'} has no level above its values, so there is nothing to evaluate."
        )
    if isinstance(weights, str):
        if weights == "constant":
            return np.full(height, 1.0 / height)
        if weights == "level":
            return 2.0 * np.arange(height, 0, -1) / (height * (height + 1))
        raise InputError(
            f"There are no weights {weights!r}. {near_miss(weights, WEIGHTS)} Or give one number per level."
        )
    own_weights = np.asarray(weights, np.float64)
    if own_weights.ndim != 1 or len(own_weights) != height:
        raise InputError(
            f"{where or 'The hierarchy'} has {height} levels above its values but {own_weights.size} weights were "
            f"given. "
            "Give one weight per level, the lowest level first."
        )
    if not np.isfinite(own_weights).all() or (own_weights < 0).any():
        raise InputError(f"Weights must be numbers of at least 0, not {some(own_weights.tolist())}.")
    if abs(own_weights.sum() - 1.0) > TOLERANCE:
        raise InputError(
            f"Weights must sum to 1; {some(own_weights.tolist())} sum to {own_weights.sum():.6g}. Divide them by "
            f"their sum."
        )
    return own_weights


def parse_weights(text: str) -> str | tuple[float, ...]:
    """Weights as written on the command line: `constant`, `level`, or numbers with commas.

    >>> parse_weights("0.5,0.3,0.2")
    (0.5, 0.3, 0.2)
    """
    name = text.strip().lower()
    if name in WEIGHTS:
        return name
    try:
        return tuple(float(weight) for weight in name.split(","))
    except ValueError:
        raise InputError(
            f"There are no weights {text!r}. Use constant, level, or one number per level with commas, such as "
            "0.5,0.3,0.2."
        ) from None


def known_concepts(labels: Sequence[Sequence[str]], senses: Senses, where: str) -> Ints:
    """The concepts of a level table of labels `[level][value]`; an error if not one of the values has any."""
    concept_of_label = {label: choice.concept for label, choice in senses.items()}
    concepts = np.array([[concept_of_label[label] for label in row] for row in labels], np.int32)
    if (concepts[0] < 0).all():
        raise HierarchyError(
            f"{where}: {senses.taxonomy.name or 'the ontology'} knows none of its values ({some(labels[0])}). Give a "
            "senses file with synonyms, or another ontology."
        )
    return concepts


def loss_table(
    taxonomy: Taxonomy, concepts: Ints, measure: str | Measure = "wu-palmer", *, memo: dict[int, float] | None = None
) -> Floats:
    """TransGSL of every value (column) at every level above it, from concepts `[level, value]`.

    Unknown concepts are -1: as an ancestor they count as the root, as a value they make the column NaN. `memo` keeps
    the losses of pairs for the next table of the same ontology and measure.
    """
    leaves = np.broadcast_to(concepts[0], concepts[1:].shape)
    above = np.where(concepts[1:] < 0, root_of(taxonomy), concepts[1:])
    is_known = leaves >= 0
    losses = np.full(above.shape, np.nan)
    if is_known.any():
        pairs, position = np.unique(
            leaves[is_known].astype(np.int64) * taxonomy.size + above[is_known], return_inverse=True
        )
        if memo is None:
            memo = {}
        missing = np.array([pair for pair in pairs.tolist() if pair not in memo], np.int64)
        if len(missing):
            left, right = np.divmod(missing, taxonomy.size)
            missing_losses = transition_loss(taxonomy, left.astype(np.int32), right.astype(np.int32), measure)
            memo.update(zip(missing.tolist(), missing_losses.tolist(), strict=True))
        losses[is_known] = np.array([memo[pair] for pair in pairs.tolist()])[position]
    return losses


def level_losses(losses: Floats, level_score: str = "max") -> Floats:
    """LevelGSL of a table of losses: with max (equation 2), or with the mean."""
    if level_score not in LEVEL_SCORES:
        raise InputError(f"There is no level score {level_score!r}. {near_miss(level_score, LEVEL_SCORES)}")
    if np.isnan(losses).all():  # no value is known: nothing can be measured
        return np.full(len(losses), np.nan)
    losses_of_levels: Floats = np.nanmax(losses, axis=1) if level_score == "max" else np.nanmean(losses, axis=1)
    return losses_of_levels
