"""Ayala-Rivera, McDonagh, Cerqueus, Murphy 2014: the semantic quality of hierarchies, Tables 1 and 2 and Figure 4.

Table 1 is complete in the paper. The two hierarchies of Table 2 were in an appendix as pictures; only their worst
transitions are in the text, and from these both are rebuilt here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kanopy._progress import SILENT, Progress
from kanopy.hierarchy.builders.semantic.builders import Ontology, Proposal, SemanticBuilder, SemanticClusters
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.semantic_quality import SemanticQuality, evaluate_hierarchy
from kanopy.ontology.load import load_ontology
from kanopy.ontology.senses.senses import SenseChoices
from kanopy.ontology.similarity.subsumers import deepest_common_subsumer
from kanopy.report.charts.marks import INK, mark, sheet
from kanopy.report.charts.semantic import curve, loss_tree, stacked
from kanopy_papers.ayala_utility import utility_experiment
from kanopy_papers.reproduction import UNDECIDED, Claim, Figure, Reproduction, Table, verdict

ANIMALS = (
    ("parrot", "bird", "homeotherm", "vertebrate"),
    ("cat", "mammal", "homeotherm", "vertebrate"),
    ("dog", "mammal", "homeotherm", "vertebrate"),
    ("snake", "reptile", "ectotherm", "vertebrate"),
    ("crocodile", "reptile", "ectotherm", "vertebrate"),
    ("frog", "amphibian", "ectotherm", "vertebrate"),
    ("salmon", "fish", "ectotherm", "vertebrate"),
)
"""The hierarchy of their Figures 1 and 2."""

TABLE_1 = {
    "parrot": (0.0435, 0.2381, 0.0909),
    "cat": (0.1538, 0.3333, 0.2),
    "dog": (0.1538, 0.1579, 0.2),
    "snake": (0.0833, 0.2727, 0.1304),
    "crocodile": (0.12, 0.3043, 0.1667),
    "frog": (0.0435, 0.2381, 0.0909),
    "salmon": (0.0769, 0.3043, 0.1667),
}
"""Published TransGSL to levels 1, 2 and 3."""

LEVELS_1 = (0.1538, 0.3333, 0.2)

VGH1 = (
    ("horse", "ungulate", "mammal", "homeotherm", "animal"),
    ("giraffe", "ungulate", "mammal", "homeotherm", "animal"),
    ("tiger", "tiger", "mammal", "homeotherm", "animal"),
)
VGH2 = (
    ("horse", "herbivore", "mammal", "vertebrate", "animal"),
    ("giraffe", "herbivore", "mammal", "vertebrate", "animal"),
    ("tiger", "tiger", "mammal", "vertebrate", "animal"),
)
"""Rebuilt from the transitions of Table 2. What stood above the tiger at level 1 is not in the paper: the leaf is
repeated, as the paper does with unbalanced hierarchies, so it cannot be the worst there."""

TABLE_2 = {
    "VGH1": {"constant": (0.0258, 0.0463, 0.09, 0.0833, 0.2454), "level": (0.0414, 0.0556, 0.072, 0.0333, 0.2023)},
    "VGH2": {"constant": (0.09, 0.0463, 0.0577, 0.0833, 0.2773), "level": (0.144, 0.0556, 0.0462, 0.0333, 0.2791)},
}
"""Published weighted LevelGSL of levels 1 to 4, then VghGSL."""

SENSES_2 = SenseChoices(senses={"tiger": "tiger#2", "horse": "horse#1", "giraffe": "giraffe#1"})
ROUNDED_EACH_STEP = 1.00001e-4
"""Table 2 was computed from rounded figures: its last digit may be one off."""

ADULT = ("occupation", "education", "workclass", "native-country", "marital-status")


@dataclass(frozen=True)
class Comparison:
    """A hierarchy people wrote and the one Kanopy proposes for the same values, with the same senses and height."""

    name: str
    hand: SemanticQuality
    hand_sizes: tuple[int, ...]
    proposed: Proposal

    @property
    def better(self) -> bool:
        """Whether the proposal loses less meaning."""
        return self.proposed.score < self.hand.score

    @property
    def below_the_top(self) -> tuple[float, float]:
        """Both scores without the top level, where every value is the same: hand-written, proposed."""
        hand = [level.gsl for level in self.hand.levels[:-1]]
        ours = self.proposed.level_scores[:-1]
        return sum(hand) / max(len(hand), 1), sum(ours) / max(len(ours), 1)


def compare_with_hand_written(method: type[SemanticBuilder] = Ontology) -> list[Comparison]:
    """The animals of the paper and five columns of Adult: hand-written hierarchies against proposed ones."""
    from kanopy._table.datasets import adult_hierarchies, path
    from kanopy.ontology.senses.senses_file import read_senses

    taxonomy = load_ontology("wordnet")
    animals = Hierarchy.from_rows(ANIMALS, name="animals")
    comparisons = []
    adult = adult_hierarchies()
    for h, file in [(animals, ""), *((adult[n], str(path("adult_senses") / f"{n}.senses.toml")) for n in ADULT)]:
        hand = evaluate_hierarchy(h, taxonomy, choices=read_senses(file) if file else None)
        proposed = method(levels=h.height + 1, senses=file).propose(h.values, name=h.name)
        comparisons.append(Comparison(h.name, hand, tuple(h.level_sizes), proposed))
    return comparisons


def reproduce(*, quick: bool = False, progress: Progress = SILENT) -> Reproduction:
    """Tables 1 and 2 and Figure 4, ours beside theirs, and what lies beyond the paper: proposed hierarchies."""
    taxonomy = load_ontology("wordnet")
    progress("judging", 0.1, "Table 1")
    first = evaluate_hierarchy(Hierarchy.from_rows(ANIMALS, name="animals"), taxonomy)
    progress("judging", 0.3, "Table 2")
    second = {
        (name, weights): evaluate_hierarchy(
            Hierarchy.from_rows(rows, name=name), taxonomy, weights=weights, choices=SENSES_2
        )
        for name, rows in (("VGH1", VGH1), ("VGH2", VGH2))
        for weights in ("constant", "level")
    }
    progress("proposing", 0.5)
    _, utility, spoiled = utility_experiment(quick=quick)
    comparisons = {method.method: compare_with_hand_written(method) for method in (Ontology, SemanticClusters)}
    return Reproduction(
        key="ayala2014",
        title="Ontology-based quality of value generalization hierarchies",
        citation="V. Ayala-Rivera, P. McDonagh, T. Cerqueus, L. Murphy: Ontology-Based Quality Evaluation of Value "
        "Generalization Hierarchies for Data Anonymization. Privacy in Statistical Databases, 2014.",
        introduction="Wu–Palmer on WordNet 3.0. The "
        "two hierarchies of Table 2 are reconstructed from its transitions, because the appendix that drew them "
        "does not survive in the text.",
        conventions=(
            "Wu–Palmer is 2·d / (a + b + 2·d), with d the depth of the common subsumer counted in nodes below a "
            f"virtual root, which adds 2 to every depth in links: this gives {_equal(first)} of "
            f"{len(first.transitions)} numbers of Table 1; "
            f"counted in links, as their appendix says, {_equal_in_links(first)} of them.",
            "A level's score is its largest loss (`max`), as in their tables; their text names others.",
            "A leaf has the sense whose hypernyms contain most of its ancestors.",
        ),
        claims=(*_table_1_claims(first), *_table_2_claims(second), *utility, *_beyond(comparisons)),
        tables=(_table_1(first), _table_2(second), spoiled, _comparison_table(comparisons)),
        figures=_figures(first, second),
        data=_data(first, second, comparisons),
        quick=quick,
    )


def _claim(text: str, published: float, ours: float, *, tolerance: float = 0.0, why: str = "") -> Claim:
    agrees = round(ours, 4) == published or abs(round(ours, 4) - published) <= tolerance
    return Claim(text, f"{published:.4f}", f"{ours:.4f}", verdict(agrees), why)


def _table_1_claims(first: SemanticQuality) -> list[Claim]:
    claims = [
        _claim(f"Table 1: TransGSL({t.leaf}, {t.ancestor})", TABLE_1[t.leaf][t.level - 1], t.loss or 0.0)
        for t in first.transitions
    ]
    claims += [
        _claim(f"Figure 2: LevelGSL of level {level.level}", published, level.gsl)
        for level, published in zip(first.levels, LEVELS_1, strict=True)
    ]
    lost = Claim("Figure 2: VghGSL with constant weights.", "lost in the text", f"{first.score:.4f}", UNDECIDED,
                 "The mean of their three published levels would be the same formula again.")  # fmt: skip
    return [*claims, lost]


def _equal(first: SemanticQuality) -> int:
    """How many losses of Table 1 come out to four digits."""
    return sum(round(t.loss or 0.0, 4) == TABLE_1[t.leaf][t.level - 1] for t in first.transitions)


def _equal_in_links(first: SemanticQuality) -> int:
    """How many do if the depth of the common subsumer is counted in links from the root."""
    taxonomy = load_ontology("wordnet")
    equal = 0
    for t in first.transitions:
        if t.leaf_sense is None or t.ancestor_sense is None:
            continue
        leaf, above = taxonomy.sense(t.leaf_sense), taxonomy.sense(t.ancestor_sense)
        common = deepest_common_subsumer(taxonomy, [leaf], [above])
        depth = int(taxonomy.depth[int(common.concept[0])])
        steps = (
            taxonomy.ancestors_of(leaf)[int(common.concept[0])] + taxonomy.ancestors_of(above)[int(common.concept[0])]
        )
        whole = steps + 2 * depth
        equal += round(1 - 2 * depth / whole if whole else 0.0, 4) == TABLE_1[t.leaf][t.level - 1]
    return equal


def _table_2_claims(second: dict[tuple[str, str], SemanticQuality]) -> list[Claim]:
    claims = []
    for (name, weights), quality in second.items():
        published = TABLE_2[name][weights]
        for level, number in zip(quality.levels, published[:-1], strict=True):
            why = _rounding(number, level.weighted)
            text = f"Table 2: {name}, level {level.level}, {weights} weights: weighted LevelGSL"
            claims.append(_claim(text, number, level.weighted, tolerance=ROUNDED_EACH_STEP, why=why))
        why = _rounding(published[-1], quality.score)
        text = f"Table 2: {name}, {weights} weights: VghGSL"
        claims.append(_claim(text, published[-1], quality.score, tolerance=ROUNDED_EACH_STEP, why=why))
    for weights in ("constant", "level"):
        one, two = second["VGH1", weights].score, second["VGH2", weights].score
        text = f"VGH1 is better specified than VGH2 ({weights} weights)."
        claims.append(Claim(text, "VGH1 < VGH2", f"{one:.4f} < {two:.4f}" if one < two else f"{one:.4f} ≥ {two:.4f}",
                            verdict(one < two)))  # fmt: skip
    peak = [f for f in second["VGH2", "constant"].faults if f.kind == "less-specific-than-parent"]
    claims.append(Claim("Figure 4: VGH2 has a peak at level 1, a child less specific than its parent.", "level 1",
                        ", ".join(f"level {fault.facts['level']}" for fault in peak) or "none",
                        verdict(any(fault.facts["level"] == 1 for fault in peak))))  # fmt: skip
    a, b = ([level.gsl for level in second[name, "constant"].levels] for name in ("VGH1", "VGH2"))
    losses_shown = f"level 1: {a[0]:.4f} and {b[0]:.4f}; level 3: {a[2]:.4f} and {b[2]:.4f}"
    claims.append(Claim("Figure 4: VGH1 is better after one generalization, VGH2 after three.", "the curves cross",
                        losses_shown, verdict(a[0] < b[0] and a[2] > b[2])))  # fmt: skip
    return claims


def _rounding(published: float, ours: float) -> str:
    same = round(ours, 4) == published
    return "" if same else "Their figures are rounded at each step, ours at the end."


def _beyond(comparisons: dict[str, list[Comparison]]) -> list[Claim]:
    """Their future work: hierarchies made from the ontology. These are our claims, and judged as such."""
    claims = []
    for item in comparisons["ontology"]:
        text = f"Beyond the paper: cut from WordNet, a hierarchy of {item.name} keeps more meaning than by hand."
        hand, ours = item.below_the_top
        why = (
            f"Without the top level, where hand-written ones end in '*': {hand:.4f} by hand, {ours:.4f} proposed. "
            "Same values, senses and height."
        )
        claims.append(Claim(text, f"hand-written {item.hand.score:.4f}", f"proposed {item.proposed.score:.4f}",
                            verdict(item.better), why, source="ours"))  # fmt: skip
    return claims


def _table_1(first: SemanticQuality) -> Table:
    rows = tuple(
        (t.leaf, t.ancestor, t.level, t.leaf_sense, t.ancestor_sense, TABLE_1[t.leaf][t.level - 1], t.loss)
        for t in first.transitions
    )
    return Table("table1", ("leaf", "ancestor", "level", "leaf sense", "ancestor sense", "published", "ours"), rows)


def _table_2(second: dict[tuple[str, str], SemanticQuality]) -> Table:
    rows: list[tuple[Any, ...]] = []
    for (name, weights), quality in second.items():
        for level, number in zip(quality.levels, TABLE_2[name][weights], strict=False):
            worst = ", ".join(t.leaf for t in level.worst) + " - " + level.worst[0].ancestor
            rows.append((name, weights, f"L0-L{level.level}", worst, number, level.weighted))
        rows.append((name, weights, "VghGSL", "", TABLE_2[name][weights][-1], quality.score))
    return Table("table2", ("hierarchy", "weights", "levels", "worst transitions", "published", "ours"), tuple(rows))


def _comparison_table(comparisons: dict[str, list[Comparison]]) -> Table:
    rows = []
    for method, items in comparisons.items():
        for item in items:
            hand, ours = item.below_the_top
            sizes = "-".join(map(str, item.hand_sizes)), "-".join(map(str, item.proposed.hierarchy.level_sizes))
            rows.append((method, item.name, item.hand.score, item.proposed.score, hand, ours, *sizes,
                         "; ".join(item.proposed.notes)))  # fmt: skip
    header = ("method", "column", "hand-written", "proposed", "hand-written below the top", "proposed below the top",
              "hand-written nodes", "proposed nodes", "notes")  # fmt: skip
    return Table("proposed_hierarchies", header, tuple(rows))


def _figures(first: SemanticQuality, second: dict[tuple[str, str], SemanticQuality]) -> tuple[Figure, ...]:
    panels = []
    for weights, title in (("constant", "constant weights"), ("level", "level-based weights")):
        values = [
            {"series": name, "level": level.level, "gsl": level.weighted}
            for name in ("VGH1", "VGH2")
            for level in second[name, weights].levels
        ]
        published = [
            {"series": name, "level": level, "gsl": number}
            for name in ("VGH1", "VGH2")
            for level, number in enumerate(TABLE_2[name][weights][:-1], 1)
        ]
        ours = curve(values, ["VGH1", "VGH2"], "weighted LevelGSL", width=340)
        at = {axis: ours["encoding"][axis] for axis in ("x", "y")}
        rings = {"data": {"values": published}, **mark("point", at, size=260, filled=False, strokeWidth=1.6, color=INK)}
        size = {"width": ours.pop("width"), "height": ours.pop("height")}
        panels.append({**size, "title": title, "layer": [ours, rings]})
    figure_4 = sheet("", "", {"hconcat": panels, "spacing": 40})
    return (
        Figure("figure2", "Their Figure 2: the animals, every edge coloured by its loss.", stacked([loss_tree(first)])),
        Figure("figure4", "Their Figure 4: LevelGSL per level. Lines: computed here; rings: published.", figure_4),
        Figure("table2_trees", "The hierarchies of Table 2 as reconstructed from its transitions.",
               stacked([loss_tree(second[name, "constant"], name) for name in ("VGH1", "VGH2")])),
    )  # fmt: skip


def _data(
    first: SemanticQuality, second: dict[tuple[str, str], SemanticQuality], comparisons: dict[str, list[Comparison]]
) -> dict[str, Any]:
    def numbers(quality: SemanticQuality) -> dict[str, Any]:
        return {
            "score": quality.score,
            "levels": [{"level": item.level, "gsl": item.gsl, "weighted": item.weighted} for item in quality.levels],
        }

    return {
        "table1": {
            **numbers(first),
            "transitions": [
                {"leaf": t.leaf, "ancestor": t.ancestor, "published": TABLE_1[t.leaf][t.level - 1], "ours": t.loss}
                for t in first.transitions
            ],
        },
        "table2": {
            name: {
                weights: {"published": list(TABLE_2[name][weights]), **numbers(second[name, weights])}
                for weights in ("constant", "level")
            }
            for name in ("VGH1", "VGH2")
        },
        "table2_is_a_reconstruction": True,
        "proposed": [
            {
                "method": method,
                "column": item.name,
                "hand_written": item.hand.score,
                "proposed": item.proposed.score,
                "better": item.better,
            }
            for method, items in comparisons.items()
            for item in items
        ],
    }
