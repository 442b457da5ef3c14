"""Computed checks of what the papers name in passing: small cases settled by plain definitions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def _quality(rows: list[list[str]]) -> Any:
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
    from kanopy.ontology.load import load_ontology

    return evaluate_hierarchy(Hierarchy.from_rows(rows), load_ontology("wordnet"))


def adjectives() -> bool:
    """An adjective is read as the noun that it is derived from, and said to be so."""
    from kanopy.ontology.load import load_ontology
    from kanopy.ontology.senses.labels import find_label

    found = find_label(load_ontology("wordnet"), "warm-blooded")
    return (found.how, found.term) == ("nominalized", "homeotherm")


def less_specific_child() -> bool:
    """`animal` below `carnivore` is found, and `carnivore` below `animal` is not."""
    kinds = [
        {fault.kind for fault in _quality([[one, *above] for one in ("dog", "cat")]).faults}
        for above in (("animal", "carnivore"), ("carnivore", "animal"))
    ]
    return "less-specific-than-parent" in kinds[0] and "less-specific-than-parent" not in kinds[1]


def close_labels() -> bool:
    """A label that loses almost nothing of its value is listed, one that loses much is not."""
    close = {one.ancestor for one in _quality([["wolf", "canine", "animal"], ["eagle", "bird", "animal"]]).too_close()}
    return "canine" in close and "animal" not in close


def relaxation_error() -> bool:
    """The first cut of Chu's tree has the least error of all, errors summed up pair by pair."""
    from kanopy.hierarchy.builders.relaxation import Chu

    def error(part: list[int]) -> float:
        return sum(abs(a - b) for a, b in itertools.product(part, repeat=2)) / len(part) ** 2

    values = [1, 2, 4, 7, 8, 15, 16, 40, 44, 45]
    cuts = {at: sum(len(p) * error(p) for p in (values[:at], values[at:])) for at in range(1, len(values))}
    best = min(cuts, key=cuts.__getitem__)
    tree = Chu().build(values)
    top = int(tree.roots[0])
    parts = {tree.label(node) for node in range(tree.node_count) if tree.parent[node] == top}  # type: ignore[index]
    return parts == {f"[{part[0]}, {part[-1]}]" for part in (values[:best], values[best:])}


def on_the_fly_elsewhere() -> bool:
    """Searches of every kind publish safe classes with trees made on the fly."""
    import polars as pl

    from kanopy._job.job import Job
    from kanopy.release.run import anonymize

    table = pl.DataFrame({"age": [20, 21, 22, 40, 41, 42, 60, 61, 62], "hours": [1, 1, 1, 5, 5, 5, 9, 9, 9]})
    for algorithm in ("optimal", "mondrian", "xu", "one-pass-k-means"):
        job = Job(quasi=["age", "hours"], k=3, algorithm=algorithm, hierarchies={"age": {"method": "iotf"}})
        if min(anonymize(table, job).data.group_by("age", "hours").len()["len"]) < 3:
            return False
    return True


def noise_uncorrelated() -> bool:
    """The noise has the spread asked for, and neither follows the values nor the noise of another draw."""
    from kanopy.treatments.apply import treat_values

    values = np.arange(20_000, dtype=np.float64)
    one, other = (
        np.array(treat_values(values.tolist(), {"method": "noise", "share": 0.2}, key=bytes([at]) * 32)) - values
        for at in (1, 2)
    )
    near = [abs(float(np.corrcoef(one, with_what)[0, 1])) for with_what in (values, other)]
    return abs(float(one.std() / values.std()) - 0.2) < 0.01 and max(near) < 0.04


def noise_correlated() -> bool:
    """Two columns treated one beside the other keep their variances and covariance, as far as 20,000 rows tell."""
    import polars as pl

    from kanopy.treatments.apply import treat_frame
    from kanopy.treatments.base import Secrets
    from kanopy.treatments.registry import make_treatment

    random = np.random.default_rng(0)
    x = random.normal(size=20_000)
    y = 0.8 * x + 0.6 * random.normal(size=20_000)
    noise = make_treatment({"method": "noise", "share": 0.5, "kind": "correlated", "together": ["y"]})
    found = treat_frame(pl.DataFrame({"x": x, "y": y}), "x", noise, Secrets(b"k" * 32))
    made = [found[name].to_numpy() for name in ("x", "y")]
    return bool(np.abs(np.cov(made) - np.cov([x, y])).max() < 0.05)


def resampled() -> bool:
    """One draw publishes values of the column only, in the order of the ranks; several stay within its extremes."""
    from kanopy.treatments.apply import treat_values

    values = [float(one * one) for one in range(50)]
    once = treat_values(values, {"method": "resample", "times": 1}, key=b"k" * 32)
    often = treat_values(values, {"method": "resample", "times": 5}, key=b"k" * 32)
    return set(once) <= set(values) and once == sorted(once) and often == sorted(often) and often[-1] <= values[-1]


def background_knowledge() -> bool:
    """Who knows a person's class guesses its commonest illness: 3 of 4, and all of a class of one illness."""
    from kanopy.metrics.risk.disclosure import attribute_disclosure

    found = attribute_disclosure("ill", groups=[0, 1, 1], values=[0, 0, 1], counts=[4, 3, 1])
    return (found.certain_rows, found.expected_confidence) == (4, 7 / 8)


def temporal_attack() -> bool:
    """Two releases of two classes each, cut differently: together they show everybody."""
    import polars as pl

    from kanopy.study.earlier_release import beside

    one = pl.DataFrame({"who": [1, 2, 3, 4], "age": ["20-29", "20-29", "30-39", "30-39"]})
    two = pl.DataFrame({"who": [2, 3, 4, 1], "age": ["25-34", "25-34", "35-39", "20-24"]})
    return beside(one, two, ["age"], key="who").unique_rows == 4


def stays_alone() -> bool:
    """Of an odd number of nodes that one stays alone whose pairs differ least in their rows; all are tried."""
    from kanopy.hierarchy.builders.cardinality import untouched

    random = np.random.default_rng(7)
    for _ in range(50):
        rows = random.integers(1, 40, int(random.choice([3, 5, 7]))).tolist()

        def spread(alone: int, rows: list[int] = rows) -> tuple[int, int, int]:
            paired = [one for at, one in enumerate(rows) if at != alone]
            sums = [rows[alone], *(a + b for a, b in zip(paired[::2], paired[1::2], strict=True))]
            return max(sums) - min(sums), sum(one * one for one in sums), alone

        if untouched(np.array(rows)) != min(range(0, len(rows), 2), key=spread):
            return False
    return True


def repetition_profile() -> bool:
    """221 different answers of 975 people, 84 of them given once, in every draw."""
    from collections import Counter

    from kanopy_papers.one_question import one_question

    counts = [Counter(one_question(seed)) for seed in (0, 1)]
    return all((len(one), sum(one.values()), list(one.values()).count(1)) == (221, 975, 84) for one in counts)


def set_automatically() -> bool:
    """Numbers and words get hierarchies without a word from the user, with every value below one top."""
    from kanopy.hierarchy.suggest import suggest_hierarchies

    for values in (list(range(17, 60)), ["Private", "Federal-gov", "State-gov", "Self-emp-inc", "Never-worked"]):
        best = suggest_hierarchies(values, k=2)[0].hierarchy
        if len(best.labels_at(best.height)) != 1 or best.size != len(values):
            return False
    return True


FURTHER = (
    adjectives, less_specific_child, close_labels, relaxation_error, on_the_fly_elsewhere, noise_uncorrelated,
    noise_correlated, resampled, background_knowledge, temporal_attack, stays_alone, repetition_profile,
    set_automatically,
)  # fmt: skip
