"""What is wrong with the meaning of a hierarchy: the faults of Ayala-Rivera et al. (2014), each with its culprits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Ints
from kanopy._errors import listed, some
from kanopy.ontology.senses.senses import Senses
from kanopy.ontology.taxonomy import Taxonomy

ROUNDING = 1e-9


@dataclass(frozen=True)
class Fault:
    """One fault: its kind (such as `not-a-hypernym`), a sentence, the labels at fault, and the facts behind it."""

    kind: str
    message: str
    labels: tuple[str, ...]
    facts: dict[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The fault as plain data."""
        return {"kind": self.kind, "message": self.message, "labels": list(self.labels), **self.facts}


def find_faults(
    taxonomy: Taxonomy, labels: Sequence[Sequence[str]], concepts: Ints, losses: Floats, senses: Senses
) -> tuple[Fault, ...]:
    """All faults of a level table `[level][value]` with its concepts and losses, kind by kind."""
    return (
        *_unknown(senses),
        *_mixed(senses),
        *_not_hypernyms(taxonomy, labels, concepts),
        *_less_specific(labels, losses),
        *_duplicates(taxonomy, labels, concepts, senses),
    )


def _unknown(senses: Senses) -> list[Fault]:
    faults = []
    for choice in senses.unknown:
        kind = f"is known as {choice.match.part_of_speech} only" if choice.match.part_of_speech else "is unknown"
        hint = f" Perhaps {some(choice.match.suggestions)}?" if choice.match.suggestions else ""
        facts = {"suggestions": list(choice.match.suggestions)}
        message = f"{choice.label!r} {kind}.{hint} Give it a sense in the senses file."
        faults.append(Fault("unknown-term", message, (choice.label,), facts))
    return faults


def _mixed(senses: Senses) -> list[Fault]:
    kinds: dict[str, list[str]] = {}
    for choice in senses.values():
        if choice.match.part_of_speech:
            kinds.setdefault(choice.match.part_of_speech, []).append(choice.label)
    main = senses.taxonomy.part_of_speech
    others = {kind: labels for kind, labels in kinds.items() if kind != "noun"}
    if main != "n" or not others:
        return []
    words = tuple(label for labels in others.values() for label in labels)
    text = "; ".join(f"{kind}: {some(labels)}" for kind, labels in others.items())
    message = f"Nouns are mixed with other words ({text}). Write nouns: only they have broader and narrower terms."
    return [Fault("mixed-parts-of-speech", message, words, {"parts_of_speech": others})]


def _not_hypernyms(taxonomy: Taxonomy, labels: Sequence[Sequence[str]], concepts: Ints) -> list[Fault]:
    above = {
        int(concept): taxonomy.ancestors_of(int(concept)).keys() for concept in np.unique(concepts[0]) if concept >= 0
    }
    values_of_label: dict[tuple[int, str], list[str]] = {}
    for level in range(1, len(labels)):
        for value, label in enumerate(labels[level]):
            leaf, ancestor = int(concepts[0, value]), int(concepts[level, value])
            if leaf >= 0 and ancestor >= 0 and ancestor not in above[leaf]:
                values_of_label.setdefault((level, label), []).append(labels[0][value])
    return [
        Fault(
            "not-a-hypernym",
            f"{label!r} (level {level}) is not a broader term of {some(leaves)}.",
            (label,),
            {"level": level, "leaves": leaves},
        )
        for (level, label), leaves in values_of_label.items()
    ]


def _less_specific(labels: Sequence[Sequence[str]], losses: Floats) -> list[Fault]:
    faults = []
    for level in range(1, len(losses)):
        here, above = losses[level - 1], losses[level]
        worse = np.flatnonzero(here > above + ROUNDING)  # NaN compares false
        if not len(worse):
            continue
        whole = bool(np.nanmax(here) > np.nanmax(above) + ROUNDING)
        edges = list(dict.fromkeys((labels[level][value], labels[level + 1][value]) for value in worse.tolist()))
        edge_list = listed([f"{child!r} under {parent!r}" for child, parent in edges])
        extra = f" The whole level {level} loses more than level {level + 1}." if whole else ""
        transitions = [
            {
                "leaf": labels[0][value],
                "child": labels[level][value],
                "parent": labels[level + 1][value],
                "loss": float(here[value]),
                "parent_loss": float(above[value]),
            }
            for value in worse.tolist()
        ]
        faults.append(
            Fault(
                "less-specific-than-parent",
                f"At level {level} a child is less specific than its parent: {edge_list}.{extra}",
                tuple(dict.fromkeys(child for child, _ in edges)),
                {"level": level, "whole_level": whole, "transitions": transitions},
            )
        )
    return faults


def _duplicates(taxonomy: Taxonomy, labels: Sequence[Sequence[str]], concepts: Ints, senses: Senses) -> list[Fault]:
    faults = []
    seen: set[tuple[str, ...]] = set()
    for level, row in enumerate(labels):
        meant: dict[int, dict[str, None]] = {}
        for value, label in enumerate(row):
            # Phrases that were only found by their head noun are not the same: more was said than was understood.
            if concepts[level, value] >= 0 and label != SUPPRESSED_LABEL and senses[label].how != "head noun":
                meant.setdefault(int(concepts[level, value]), {}).setdefault(label)
        for concept, same in meant.items():
            names = tuple(same)
            if len(names) > 1 and names not in seen:
                seen.add(names)
                sense = taxonomy.sense_name(concept)
                message = f"{some(names)} (level {level}) mean the same: {sense}. Keep one, or choose other senses."
                faults.append(Fault("duplicate-meaning", message, names, {"level": level, "sense": sense}))
    return faults
