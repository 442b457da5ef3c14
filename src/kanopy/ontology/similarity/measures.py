"""All similarity measures by name, with what each one needs and how large it can get."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanopy._arrays import Floats
from kanopy._errors import OntologyError
from kanopy._lazy import public
from kanopy._mixins import ReprMixin
from kanopy._registry import Named
from kanopy._usage import checked
from kanopy.ontology.similarity import formulas as similarity
from kanopy.ontology.similarity.information_content import information_content
from kanopy.ontology.similarity.subsumers import Concepts, deepest_common_subsumer
from kanopy.ontology.taxonomy import Taxonomy


@public("kanopy.ontology")
@dataclass(frozen=True)
class Measure(ReprMixin):
    """A similarity measure: call it with a taxonomy and two arrays of concepts.

    `content` names the information content it uses ("" if none). `maximum_value` is the similarity of a concept with
    itself at best; `None` means it depends on the taxonomy (see `maximum`).
    """

    name: str
    function: Callable[..., Floats]
    source: str
    maximum_value: float | None = 1.0
    content: str = ""
    needs_glosses: bool = False
    is_symmetric: bool = True
    pairs_at_once: int = 1 << 16

    def __call__(self, taxonomy: Taxonomy, a: Concepts, b: Concepts) -> Floats:
        """The similarities of concepts `a` and `b`, which broadcast.

        >>> from kanopy.ontology.load import load_ontology
        >>> w = load_ontology("wordnet")
        >>> float(MEASURES["path"](w, w.sense("car"), w.sense("automobile")))
        1.0
        """
        options: dict[str, Any] = {}
        if self.content:
            options["content"] = information_content(taxonomy, self.content)
        return self.function(taxonomy, a, b, **options)

    def maximum(self, taxonomy: Taxonomy) -> float:
        """The largest similarity possible in a taxonomy: what GSL subtracts from."""
        if self.maximum_value is not None:
            return self.maximum_value
        if self.content:
            return float(information_content(taxonomy, self.content).max())
        return math.log(2.0 * taxonomy.max_depth_in_nodes)

    def least_common_subsumers(self, taxonomy: Taxonomy, a: Sequence[int], b: Sequence[int]) -> list[int]:
        """The common subsumer this measure rests on, per pair: the most informative one, or else the deepest."""
        if not self.content:
            return [int(concept) for concept in deepest_common_subsumer(taxonomy, a, b).concept]
        content, depth = information_content(taxonomy, self.content), taxonomy.depth
        above = {concept: taxonomy.ancestors_of(concept) for concept in {*a, *b}}
        subsumers = []
        for near, far in ((above[x], above[y]) for x, y in zip(a, b, strict=True)):
            common = near.keys() & far.keys()
            # the keys differ in their last part, so the choice does not depend on the order of the set
            subsumers.append(max((content[c], depth[c], -near[c] - far[c], -c) for c in common)[3])
        return [-concept for concept in subsumers]


def _by_content(name: str, function: Callable[..., Floats], source: str, maximum: float | None = 1.0) -> list[Measure]:
    """A measure that rests on information content, once for each kind of it."""
    endings = {"tags": "", "seco": "-seco", "sanchez": "-sanchez"}
    return [Measure(name + ending, function, source, maximum, content) for content, ending in endings.items()]


_LISTED = (
    Measure("wu-palmer", similarity.wu_palmer, "Wu, Palmer 1994"),
    Measure("path", similarity.path, "Rada et al. 1989"),
    Measure("path-length", similarity.path_length, "Rada et al. 1989", maximum_value=0.0),
    Measure("leacock-chodorow", similarity.leacock_chodorow, "Leacock, Chodorow 1998", maximum_value=None),
    Measure("tversky", similarity.tversky, "Tversky 1977", is_symmetric=False),
    Measure("rodriguez-egenhofer", similarity.rodriguez_egenhofer, "Rodríguez, Egenhofer 2003", is_symmetric=False),
    Measure("taxonomic-features", similarity.taxonomic_features, "Sánchez et al. 2012", maximum_value=0.0),
    Measure("x-similarity", similarity.x_similarity, "Petrakis et al. 2006", needs_glosses=True),
    *_by_content("resnik", similarity.resnik, "Resnik 1995", None),
    *_by_content("lin", similarity.lin, "Lin 1998"),
    *_by_content("jiang-conrath", similarity.jiang_conrath, "Jiang, Conrath 1997"),
    *_by_content("jiang-conrath-distance", similarity.jiang_conrath_distance, "Jiang, Conrath 1997", 0.0),
    Measure(
        "gloss-vector", similarity.gloss_vector, "Patwardhan, Pedersen 2006", needs_glosses=True, pairs_at_once=1 << 22
    ),
)


def _faults(thing: Any) -> list[str]:
    return [] if isinstance(thing, Measure) else ["it is no kanopy.extend.Measure"]


MEASURES: Named[Measure] = Named(
    {measure.name: measure for measure in _LISTED},
    "similarity measure",
    OntologyError,
    group="kanopy.similarities",
    faults=_faults,
)


def find_measure(name: str | Measure) -> Measure:
    """The measure with a name; `_` and case do not matter.

    >>> find_measure("Wu_Palmer").name
    'wu-palmer'
    """
    if isinstance(name, Measure):
        return name
    return MEASURES.find(name.strip().lower().replace("_", "-"))


@public("kanopy.ontology")
@checked
def similarities(taxonomy: Taxonomy, a: Concepts, b: Concepts, measure: str | Measure = "wu-palmer") -> Floats:
    """Similarities of concepts by the name of a measure.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> similarities(w, [w.sense("cat"), w.sense("salmon")], w.sense("mammal")).round(3).tolist()
    [0.846, 0.8]
    """
    return np.asarray(find_measure(measure)(taxonomy, a, b), np.float64)
