"""How long the semantic work takes: mapping, cutting, clustering and judging. Prints one small table."""

from __future__ import annotations

import random
import time

import numpy as np

from kanopy.hierarchy.builders.semantic.builders import Ontology, SemanticClusters
from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
from kanopy.hierarchy.suggest import choose_hierarchy
from kanopy.ontology.load import load_ontology

ASKED = {"default for 1,000 nouns": 5.0, "default for 10,000 nouns": 60.0, "default for 1,000,000 numbers": 2.0}
"""Seconds asked for, where something was asked."""


def main() -> None:
    """Measure and print."""
    wordnet = load_ontology("wordnet")
    nouns = [word for word in wordnet.vocabulary if word.isalpha()]
    values = random.Random(1).sample(nouns, 10_000)
    Ontology().build(values[:500])
    SemanticClusters().build(values[:100])  # compile before the clock runs
    proposal = Ontology().propose(values)
    numbers = np.random.default_rng(7).choice(10**8, 10**6, replace=False)
    work = {
        "default for 1,000 nouns": lambda: Ontology().build(values[:1000]),
        "default for 10,000 nouns": lambda: Ontology().build(values),
        "default for 1,000,000 numbers": lambda: choose_hierarchy(numbers),
        "4 levels for 10,000 nouns": lambda: Ontology(levels=4).build(values),
        "the same, fan-out at most 200": lambda: Ontology(levels=4, max_fan_out=200).build(values),
        "clusters of 2,000 nouns": lambda: SemanticClusters(levels=4).build(values[:2000]),
        "judge that hierarchy of 10,000": lambda: evaluate_hierarchy(
            proposal.hierarchy, wordnet, senses=proposal.senses
        ),
    }
    print(f"{'what':34} {'seconds':>8} {'asked':>6}")
    for name, run in work.items():
        began = time.perf_counter()
        run()
        asked = ASKED.get(name)
        print(f"{name:34} {time.perf_counter() - began:8.2f} {'' if asked is None else f'{asked:6.1f}':>6}")


if __name__ == "__main__":
    main()
