"""Marginality: how far each value of a column is from all others, and with it a mean and a variance of words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats
from kanopy._errors import OntologyError
from kanopy._lazy import public
from kanopy._mixins import ReprMixin
from kanopy._usage import checked
from kanopy.ontology.similarity.measures import Measure, find_measure
from kanopy.ontology.similarity.pairwise import similarity_matrix
from kanopy.ontology.taxonomy import Taxonomy


@public("kanopy.ontology")
@dataclass(frozen=True, eq=False)
class Marginality(ReprMixin):
    """Per value the sum of its distances to all others, the value with the least, and the variance."""

    of_value: Floats
    mean: int
    variance: float


@public("kanopy.ontology")
@checked
def marginality(
    taxonomy: Taxonomy,
    concepts: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    measure: str | Measure = "taxonomic-features",
) -> Marginality:
    """The semantic marginality of a column of nominal data, its mean and its variance.

    Domingo-Ferrer, Sánchez, Rufian-Torrell 2013: the marginality of a value is the sum of its semantic distances to
    all values of the sample, the mean is the value with the least marginality (of several the first), and the variance
    is the sum of the marginalities of all answers over their number. A distance is how much the measure falls short of
    its maximum; equal concepts have none. `counts` says how many answers mean each concept.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> words = ["cat", "dog", "wolf", "car"]
    >>> found = marginality(w, [w.sense(word) for word in words])
    >>> words[found.mean], words[int(found.of_value.argmax())]
    ('wolf', 'car')
    """
    asked = np.atleast_1d(np.asarray(concepts, np.int32))
    often = np.ones(len(asked)) if counts is None else np.asarray(counts, np.float64)
    if asked.ndim != 1 or not len(asked) or often.shape != asked.shape or (often <= 0).any():
        raise OntologyError("Marginality needs a list of concepts, and for each how often it occurs (at least once).")
    chosen = find_measure(measure)
    distance = chosen.maximum(taxonomy) - similarity_matrix(taxonomy, asked, measure=chosen)
    distance[asked[:, None] == asked] = 0.0
    of_value: Floats = distance @ often
    least = int(np.argmin(np.round(of_value, 12)))
    return Marginality(of_value, least, float(of_value @ often / often.sum()))
