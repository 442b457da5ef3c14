"""What is computed before an item of a paper is called done: small cases whose result the definition settles by hand.

Each function returns whether what it computes is what the paper defines. An item without one is "not checked".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from kanopy_papers.checks_further import FURTHER
from kanopy_papers.checks_meaning import MEANING
from kanopy_papers.checks_releases import RELEASES


@lru_cache(maxsize=1)
def _wordnet() -> Any:
    from kanopy.ontology.load import load_ontology

    return load_ontology("wordnet")


def _similar(measure: str, one: str, other: str) -> float:
    from kanopy.ontology.similarity.measures import find_measure

    w = _wordnet()
    pair = (np.array([w.sense(word)], np.int32) for word in (one, other))
    return float(find_measure(measure)(w, *pair)[0])


def nouns_with_senses() -> bool:
    """WordNet 3.0 has 82,115 sets of nouns; `bow` has 14 senses as a noun."""
    w = _wordnet()
    return 82_115 <= w.size <= 82_116 and len(w.senses("bow")) >= 9


def is_a() -> bool:
    w = _wordnet()
    return w.is_a(w.sense("cat"), w.sense("animal")) and not w.is_a(w.sense("animal"), w.sense("cat"))


def parts_and_wholes() -> bool:
    w = _wordnet()
    return w.sense("Europe") in w.wholes_of(w.sense("France"))


def synonyms_share_a_concept() -> bool:
    w = _wordnet()
    return bool(w.sense("car") == w.sense("automobile"))


def wu_palmer() -> bool:
    """Parrot and bird (Table 1): one link apart, eleven deep together, so 22/23."""
    return abs(_similar("wu-palmer", "parrot", "bird") - 22 / 23) < 1e-12


def trans_gsl() -> bool:
    from kanopy.hierarchy.quality.semantic_loss import transition_loss

    w = _wordnet()
    leaf, above = (np.array([w.sense(word)], np.int32) for word in ("parrot", "bird"))
    return abs(float(transition_loss(w, leaf, above, "wu-palmer")[0]) - 1 / 23) < 1e-12


def level_gsl() -> bool:
    from kanopy.hierarchy.quality.semantic_loss import level_losses

    return bool(np.allclose(level_losses(np.array([[0.1, 0.3], [0.2, 0.4]])), [0.3, 0.4]))


def level_mean() -> bool:
    from kanopy.hierarchy.quality.semantic_loss import level_losses

    return bool(np.allclose(level_losses(np.array([[0.1, 0.3], [0.2, 0.4]]), "mean"), [0.2, 0.3]))


def constant_weights() -> bool:
    from kanopy.hierarchy.quality.semantic_loss import level_weights

    return bool(np.allclose(level_weights(4), [0.25] * 4))


def level_weights_fall() -> bool:
    from kanopy.hierarchy.quality.semantic_loss import level_weights

    return bool(np.allclose(level_weights(3, "level"), [3 / 6, 2 / 6, 1 / 6]))


def vgh_gsl() -> bool:
    """The score is the weighted sum of the levels."""
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy

    rows = [["cat", "carnivore", "animal"], ["dog", "carnivore", "animal"], ["trout", "fish", "animal"]]
    quality = evaluate_hierarchy(Hierarchy.from_rows(rows), _wordnet())
    return abs(quality.score - sum(level.gsl for level in quality.levels) / 2) < 1e-12


def unbalanced() -> bool:
    from kanopy.hierarchy.hierarchy import Hierarchy

    hierarchy = Hierarchy.from_rows([["a", "b", "*"], ["c", "c", "*"]])
    return bool(hierarchy.generalize("c", 1) == "c")


def k_anonymity() -> bool:
    from kanopy import check

    frame = {"a": ["x"] * 3 + ["y"] * 2, "b": ["1"] * 5}
    import polars as pl

    return check(pl.DataFrame(frame), quasi=["a", "b"]).k == 2


def iotf() -> bool:
    """1, 2, 9, 10: the unions of smallest size are [1, 2] and [9, 10]."""
    from kanopy.hierarchy.builders.on_the_fly import Iotf

    return set(Iotf().build([1, 2, 9, 10]).labels_at(2)) == {"[1, 2]", "[9, 10]"} or set(
        Iotf().build([1, 2, 9, 10]).labels_at(1)
    ) >= {"[1, 2]"}


def predefined_widths() -> bool:
    from kanopy.hierarchy.builders.bins import Widths

    hierarchy = Widths(widths=(5, 10)).build(range(20))
    return len(set(hierarchy.labels_at(1))) == 4 and len(set(hierarchy.labels_at(2))) == 2


def chi_merge() -> bool:
    from kanopy.hierarchy.builders.by_class import chi_square

    return bool(chi_square(np.array([4, 0]), np.array([2, 0])) == 0.0)


def mdl() -> bool:
    from kanopy.hierarchy.builders.by_class import best_cut

    return best_cut(np.array([[4, 0], [4, 0], [0, 4], [0, 4]])) == 1


def discernibility() -> bool:
    """Classes of 3 and 2 of 5 rows: 9 + 4."""
    from kanopy.metrics.cluster_loss import discernibility as dm

    return float(dm(np.array([3, 2]))) == 13.0


def average_class_size() -> bool:
    from kanopy.metrics.cluster_loss import average_class_size as avg

    return float(avg(np.array([3, 2]), 1)) == 2.5


def path_length() -> bool:
    """Equal concepts are nearer than parent and child, which are nearer than siblings."""
    itself, up, beside = (_similar("path", "dog", other) for other in ("dog", "canid", "cat"))
    return itself > up > beside


def leacock_chodorow() -> bool:
    itself, up, beside = (_similar("leacock-chodorow", "dog", other) for other in ("dog", "canid", "cat"))
    return itself > up > beside


def resnik() -> bool:
    """The information of what two concepts share: the same for whatever meets there."""
    return abs(_similar("resnik", "dog", "cat") - _similar("resnik", "wolf", "lion")) < 1e-12


def lin() -> bool:
    return abs(_similar("lin", "dog", "dog") - 1.0) < 1e-12 and 0 < _similar("lin", "dog", "cat") < 1


def stem() -> bool:
    """Porter's own examples."""
    from kanopy.ontology.senses.morphology import stem as porter

    return [porter(word) for word in ("caresses", "ponies", "hopping")] == ["caress", "poni", "hop"]


def rounding() -> bool:
    from kanopy.treatments.apply import treat_values

    return treat_values([1.0, 7.0, 12.0], {"method": "round", "base": 5}) == [0.0, 5.0, 10.0]


def improved() -> bool:
    """The animals of the paper lose less after the proposals, and keep their levels."""
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.hierarchy.quality.improve import improve_hierarchy
    from kanopy_papers.ayala2014 import ANIMALS

    improvement = improve_hierarchy(Hierarchy.from_rows(ANIMALS), _wordnet())
    return improvement.after < improvement.before and improvement.hierarchy.height == len(ANIMALS[0]) - 1


CHECKS: dict[str, Callable[[], bool]] = {
    check.__name__: check
    for check in (
        nouns_with_senses, is_a, parts_and_wholes, synonyms_share_a_concept, wu_palmer, trans_gsl, level_gsl,
        level_mean, constant_weights, level_weights_fall, vgh_gsl, unbalanced, k_anonymity, iotf, predefined_widths,
        chi_merge, mdl, discernibility, average_class_size, path_length, leacock_chodorow, resnik, lin, stem,
        rounding, improved, *MEANING, *RELEASES, *FURTHER,
    )
}  # fmt: skip
