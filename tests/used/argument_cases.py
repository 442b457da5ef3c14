"""What the generated test of arguments needs to know: a plain call of every public function, and a value per argument.

`PLAIN` makes the arguments of a plain call. `GIVEN` says per argument what it is given: a value (`of`), beside other
arguments where the plain call cannot show it; `needs` says that it is refused without those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import kanopy
from kanopy._table.formats.layout import Layout
from tests.used.argument_inputs import (
    ANIMALS,
    ILLS,
    KIN,
    SEXES,
    animal_tree,
    animals,
    baskets,
    beasts,
    choices,
    deep_tree,
    earlier,
    even_tree,
    everybody,
    fine,
    gaps,
    gone,
    job,
    judged,
    many,
    many_released,
    mapped,
    other_tree,
    others,
    paid,
    people,
    placed,
    problem,
    read_kin,
    recoded,
    released,
    seen_steps,
    skipped,
    timing,
    tree,
    turned,
    twice_tree,
    two_splits,
    wordnet,
    wrong_tree,
)


class Case(NamedTuple):
    """A value of an argument, or what makes one; what is given beside it; whether it is refused without that."""

    value: Any
    beside: dict[str, Any] = {}  # noqa: RUF012
    refused_alone: bool = False
    refused: str = ""
    """The reason why every value but the default is refused in this call, where it is."""


def of(value: Any, **beside: Any) -> Case:
    """A value, beside other arguments."""
    return Case(value, beside)


def needs(value: Any, **beside: Any) -> Case:
    """A value that is refused without the other arguments."""
    return Case(value, beside, refused_alone=True)


PLAIN: dict[str, Callable[[], dict[str, Any]]] = {
    "anonymize": lambda: {"data": people(), "job": job()},
    "assess": lambda: {"original": people(), "released": released(), "quasi": ("age", "sex"), "queries": 20,
                       "learn": False},
    "attack": lambda: {"original": people(), "released": released(), "quasi": ("age", "sex"), "sensitive": "ill",
                       "guesses": 40, "learn": False},
    "assess_risk": lambda: {"data": people(), "quasi": ("age", "sex")},
    "build_hierarchy": lambda: {"values": [1, 2, 3, 7, 8, 9, 20, 31]},
    "check": lambda: {"data": people(), "quasi": ("age", "sex")},
    "compare": lambda: {"data": people(), "job": job(), "algorithms": ["optimal"]},
    "evaluate_hierarchy": lambda: {"hierarchy": animal_tree(), "taxonomy": beasts()},
    "explore": lambda: {"data": people(), "job": job(), "ks": [3]},
    "guess_job": lambda: {"data": people()},
    "improve_hierarchy": lambda: {"hierarchy": animal_tree(), "taxonomy": beasts()},
    "load_ontology": lambda: {"name_or_path": "words.csv"},
    "lower_bound": lambda: {"data": people(), "job": job(k=5)},
    "mask": lambda: {"data": animals(), "job": kanopy.MaskJob(text="animal", k=4)},
    "read_hierarchy": lambda: {"path": "animal.csv"},
    "read_table": lambda: {"source": "people.csv"},
    "suggest_hierarchies": lambda: {"values": [1, 2, 3, 7, 8, 9, 20, 31], "k": 2},
    "write_hierarchy": lambda: {"h": animal_tree(), "path": "made.json"},
    "datasets.adult": dict,
    "datasets.adult_hierarchies": dict,
    "datasets.path": lambda: {"name": "adult.parquet"},
    "datasets.write_adult_csv": lambda: {"target": "adult.csv"},
    "extend.check": lambda: {"thing": kanopy.privacy.KMap},
    "extend.contract": lambda: {"thing": kanopy.privacy.KMap},
    "hierarchy.compare_hierarchies": lambda: {"hierarchies": [animal_tree(), other_tree()]},
    "hierarchy.drop_level": lambda: {"h": animal_tree(), "level": 1},
    "hierarchy.find_hierarchies": lambda: {"folder": "trees", "columns": ["age"]},
    "hierarchy.halving_note": lambda: {"suggestions": kanopy.suggest_hierarchies(range(64), k=2)},
    "hierarchy.insert_level": lambda: {"h": animal_tree(), "level": 2, "groups": {"hairy": ["mammal", "bird"]}},
    "hierarchy.make_builder": lambda: {"method": "equal_width"},
    "hierarchy.merge": lambda: {"h": animal_tree(), "labels": ["mammal", "fish"], "into": "other"},
    "hierarchy.move": lambda: {"h": animal_tree(), "label": "horse", "under": "mammal"},
    "hierarchy.rename": lambda: {"h": animal_tree(), "label": "bird", "to": "fowl"},
    "hierarchy.split": lambda: {"h": animal_tree(), "label": "bird", "parts": {"prey": ["hawk"], "other": ["eagle",
                                "horse"]}},
    "hierarchy.tree_html": lambda: {"h": animal_tree()},
    "hierarchy.tree_svg": lambda: {"h": animal_tree()},
    "hierarchy.tree_text": lambda: {"h": animal_tree()},
    "extend.Optional": lambda: {"kind": kanopy.extend.Name()},
    "extend.Name": lambda: {"what": "the name of a column"},
    "extend.recoding_from_nodes": lambda: recoded(),
    "extend.release_levels": lambda: {"name": "mine", "problem": problem(), "best": judged()},
    "ontology.information_content": lambda: {"taxonomy": beasts(), "kind": "seco"},
    "ontology.marginality": lambda: {"taxonomy": beasts(), "concepts": [0, 1, 2]},
    "ontology.nearest_concepts": lambda: {"taxonomy": beasts(), "rows": [0, 1]},
    "ontology.read_ontology": lambda: {"path": "words.csv"},
    "ontology.read_senses": lambda: {"path": "own.senses.toml"},
    "ontology.save_ontology": lambda: {"taxonomy": beasts(), "path": "made.npz"},
    "ontology.senses_of_hierarchy": lambda: {"taxonomy": wordnet(), "rows": ANIMALS[:2]},
    "ontology.senses_of_values": lambda: {"taxonomy": wordnet(), "values": ["dog", "cat"]},
    "ontology.senses_toml": lambda: {"senses": kanopy.ontology.senses_of_values(wordnet(), ["dog"])},
    "ontology.similarities": lambda: {"taxonomy": beasts(), "a": [0, 1], "b": [2, 2]},
    "ontology.similarity_blocks": lambda: {"taxonomy": beasts(), "rows": [0, 1, 2]},
    "ontology.similarity_matrix": lambda: {"taxonomy": beasts(), "rows": [0, 1, 2]},
    "ontology.word_matrix": lambda: {"taxonomy": beasts(), "words": ["dog", "cat"]},
    "ontology.word_similarities": lambda: {"taxonomy": beasts(), "pairs": [("dog", "cat")]},
    "ontology.word_similarity": lambda: {"taxonomy": beasts(), "a": "dog", "b": "cat"},
    "privacy.make_model": lambda: {"source": "k:3"},
}  # fmt: skip


CONTRACTS = {
    "parameters": Case({"widths": "no"}, {"thing": kanopy.hierarchy.BUILDERS["widths"]}, refused="it does not fit"),
    "suffix": needs(".kin", thing=read_kin, sample=KIN),
    "sample": needs(KIN, thing=read_kin, suffix=".kin"),
}


Wanted = dict[str, dict[str, Case]]
TABLE = {"population": needs(everybody, job=job(models="k-map:4"))}
PROGRESS = {"progress": of(seen_steps)}
JOINED = {
    "on": needs("id", beside=turned),
    "beside_quasi": needs("zip", beside=earlier),
    "in_order": needs(False, beside=earlier),
    "one_level": needs(True, data=fine, quasi="age", beside=fine, in_order=False),
    "beside": of(earlier),
}
FORM_REFUSED = Case("cp1250", refused="is not a file")
"""What says how a file is read is refused for a table in memory."""
STUDIED_CASES: dict[str, Case] = {
    "k": of(9),
    "unit": of("person"),
    "known": needs(2, unit="person"),
    "separators": of({"bought": ";"}, data=baskets, quasi="bought"),
    "skip_rows": of(1, data=skipped),
    "missing_tokens": of("99, ?", data=gaps),
    "column_tokens": of({"age": ["99", "?"]}, data=gaps),
    "decimals": of({"pay": ","}, data=paid, quasi="pay"),
    "places": needs({"flat": ["lat", "lon"]}, data=mapped, quasi="flat"),
    "encoding": FORM_REFUSED,
    "delimiter": Case(";", refused="is not a file"),
    "sheet": FORM_REFUSED,
    "header_row": Case(2, refused="is not a file"),
}
GIVEN: Wanted = {
    "anonymize": {
        "data": of(others),
        "job": of(lambda: job(k=9)),
        "engine": of("stream", data="people.csv", output="out.csv"),
        "output": of("out.csv"),
        "overwrite": needs(True, data="people.csv", job=job(k=4), output="held.sqlite::people"),
        **PROGRESS,
        "clock": of(timing),
        "source": of("the survey"),
        **TABLE,
        "key": needs(b"a secret that is long enough", job=job(identifiers="id", pseudonymize="id")),
        "bound": of(True),
    },
    "assess": {
        "original": of(others),
        "places": needs({"flat": ["lat", "lon"]}, quasi="flat", original=mapped, released=placed),
        **{name: STUDIED_CASES[name] for name in ("encoding", "delimiter", "sheet", "header_row")},
        "released": of(lambda: released().with_columns(pl.lit("*").alias("sex"))),
        "job": of(lambda: job(unit="person")),
        "quasi": of("age"),
        "on": of("id", released=turned),
        "target": of("sex"),
        "learn": of(True),
        "queries": of(7),
        "disturbed": of(True, released=turned),
        "seed": of(5),
        "sensitive": needs("sex", learn=True, quasi="age"),
        "unit": of("person"),
        "separators": of({"bought": ";"}, quasi="bought", original=baskets, released=baskets),
        "skip_rows": of(1, original=skipped),
        **{
            name: of(STUDIED_CASES[name].value, original=gaps, released=gone)
            for name in ("missing_tokens", "column_tokens")
        },
        "decimals": of({"pay": ","}, quasi="pay", original=paid, released=lambda: {"pay": [1.5, 1.5, 2, 2]}),
        "hierarchies": of({"sex": SEXES}, released=lambda: released().with_columns(pl.lit("person").alias("sex"))),
    },
    "attack": {
        "original": of(others),
        "released": of(lambda: released().with_columns(pl.lit("*").alias("sex"))),
        "job": of(lambda: job(unit="person")),
        "control": of(lambda: {**others(), "id": [str(3000 + i) for i in range(48)]}),
        "beside": of(lambda: earlier().with_columns(pl.Series("ill", people()["ill"]))),
        "secrets": of("age"),
        "first": of("id"),
        "guesses": of(9),
        "learn": of(True),
        "seed": of(5),
        "progress": of(seen_steps),
        "quasi": of("age"),
        "sensitive": of("sex", quasi="age"),
        "unit": of("person"),
        "skip_rows": of(1, original=skipped),
        **{
            name: of(STUDIED_CASES[name].value, original=gaps, released=gone)
            for name in ("missing_tokens", "column_tokens")
        },
        "decimals": of(
            {"pay": ","}, quasi="pay", sensitive=None, original=paid, released=lambda: {"pay": [1.5, 1.5, 2, 2]}
        ),
        "hierarchies": of({"sex": SEXES}, released=lambda: released().with_columns(pl.lit("person").alias("sex"))),
    },
    "assess_risk": {
        "data": of(others),
        "engine": Case("stream", refused="this table is in memory"),
        "job": of(lambda: job(unit="person")),
        "quasi": of("zip"),
        "sensitive": of("ill"),
        "population": of(everybody),
        "as_release": of(True, job=job(skip_rows=1), data=skipped),
        "released": of(released),
        **JOINED,
        "settings": of({"threshold": 0.5}),
        "threshold": of(0.5),
        "population_size": of(500),
        "sampling_fraction": of(0.1),
        "largest_subset": of(1),
        "suda": of(2),
        "every": of("1:4"),
        "missing_means": needs(
            "any", sampling_weight="w", data=lambda: {**people(), "age": [None, *people()["age"][1:]]}
        ),
        "exact": needs(True, sampling_weight="w"),
        "seed": needs(3, data=many, quasi="zip", released=many_released),
        **STUDIED_CASES,
        "sampling_weight": of("w"),
        "household": needs("home", sampling_weight="w"),
        "models": of("l-distinct:ill:2"),
        "k": Case(9, refused="a risk is measured against a threshold"),
        "hierarchies": needs({"sex": SEXES}, released=lambda: released().with_columns(pl.lit("person").alias("sex"))),
    },
    "check": {
        "data": of(others),
        "engine": Case("stream", {"beside": earlier}, refused="needs single rows"),
        "job": of(lambda: job(unit="person")),
        "quasi": of("zip"),
        "sensitive": of("ill"),
        "models": of("l-distinct:ill:2"),
        "population": needs(everybody, models="k-map:4"),
        "as_release": of(True, job=job(skip_rows=1), data=skipped),
        **JOINED,
        **STUDIED_CASES,
        "hierarchies": needs({"ill": ILLS}, models="t-hierarchical:ill:0.3"),
        "sampling_weight": needs("w", models="individual-risk:0.3"),
        "household": needs("home", models="household-risk:0.1", sampling_weight="w"),
    },
    "compare": {
        "data": of(others),
        "job": of(lambda: job(k=9)),
        "algorithms": of("datafly"),
        "budget": of("60s"),
        **TABLE,
        **PROGRESS,
    },
    "explore": {
        "data": of(others),
        "job": of(lambda: job(suppress=0)),
        "ks": of([5]),
        "limits": of([0]),
        "models": of([["l-distinct:ill:2"]]),
        "algorithms": of("datafly"),
        **TABLE,
        **PROGRESS,
        "state": of("state.json"),
    },
    "lower_bound": {
        "data": of(others),
        "job": of(lambda: job(k=9)),
        "passes": of(1),
        "budget": of("60s"),
        **PROGRESS,
        **TABLE,
    },
    "mask": {
        "data": of(lambda: {**animals(), "animal": animals()["animal"][:15] * 2}),
        "job": of(lambda: kanopy.MaskJob(text="animal", k=9)),
        **PROGRESS,
        "clock": of(timing),
        "source": of("the survey"),
        "key": needs(
            b"a secret that is long enough", job=kanopy.MaskJob(text="animal", identifiers="id", pseudonymize="id")
        ),
        "engine": Case("stream", {"data": "people.csv", "output": "out.csv"}, refused="compares all answers"),
        "output": of("out.csv"),
        "overwrite": Case(True, {"output": "out.csv"}, refused="overwrite has no effect"),
    },
    "guess_job": {
        "data": of(animals),
        "source": of("the survey"),
        "layout": Case(Layout("cp1250"), refused="is not a file"),
    },
    "build_hierarchy": {
        "values": of([1, 2, 3]),
        "method": of("order"),
        "counts": of([9, 1, 1, 1, 1, 1, 1, 9], method="equal_frequency"),
        "name": of("pay"),
        "parameters": of({"fan_out": 3}, method="equal_width"),
    },
    "evaluate_hierarchy": {
        "hierarchy": of(other_tree),
        "taxonomy": of(wordnet),
        "measure": of("path"),
        "weights": of("level"),
        "choices": of(lambda: choices(dog="dog#3"), taxonomy=wordnet),
        "senses": of(
            lambda: kanopy.ontology.senses_of_hierarchy(wordnet(), ANIMALS, choices(dog="dog#3")), taxonomy=wordnet
        ),
    },
    "improve_hierarchy": {
        "hierarchy": of(other_tree),
        "taxonomy": of(wordnet),
        "measure": of("path"),
        "weights": of("level"),
        "choices": of(lambda: choices(dog="dog#3"), taxonomy=wordnet),
        "max_edits": of(1, hierarchy=wrong_tree),
        "level_score": of("max", hierarchy=wrong_tree),
    },
    "load_ontology": {"name_or_path": of("others.obo")},
    "read_hierarchy": {
        "path": of("trees/sex.csv"),
        "column": of("beast"),
        "require_nesting": of(False, path="broken_animal.csv"),
    },
    "read_table": {
        "source": of("others.csv"),
        "columns": of(["age"]),
        "encoding": of("cp437", source="umlauts.csv"),
        "delimiter": of(";"),
        "sheet": Case("2024", refused="sheet"),
        "header_row": of(2),
    },
    "suggest_hierarchies": {
        "values": of([1, 2, 3, 4]),
        "k": of(4),
        "rule": of("cut"),
        "counts": of([9, 1, 1, 1, 1, 1, 1, 9]),
        "name": of("pay"),
        "style": needs("taxonomy", values=["dog", "cat", "horse", "eagle", "hawk", "trout"] * 3),
    },
    "write_hierarchy": {"h": of(other_tree), "path": of("made.csv"), "parents": needs(True, path="made.csv")},
    "datasets.adult": {"complete": of(True)},
    "datasets.path": {"name": of("answer_words.toml")},
    "datasets.write_adult_csv": {"target": of("other.csv"), "complete": of(True)},
    "extend.check": {"thing": of(kanopy.hierarchy.BUILDERS["equal_width"]), **CONTRACTS},
    "extend.contract": {
        "thing": of(kanopy.hierarchy.BUILDERS["order"]),
        **CONTRACTS,
        "parameters": needs({"widths": "no"}, thing=kanopy.hierarchy.BUILDERS["widths"]),
    },
    "extend.Optional": {"kind": of(kanopy.extend.Flag)},
    "extend.Name": {"what": of("a name")},
    "extend.recoding_from_nodes": {
        "domain": of(lambda: recoded(others)["domain"], **recoded(low=True)),
        "group_of_row": of(lambda: np.where(np.arange(48) < 4, -1, 0).astype(np.int32)),
        "nodes": of(lambda: recoded(low=True)["nodes"]),
    },
    "extend.release_levels": {
        "name": of("ours"),
        "problem": of(lambda: problem(k=30), best=lambda: judged(2)),
        "best": of(lambda: judged(1)),
        "judged": of(7),
        "facts": of({"notes": ("a note",)}),
    },
    "hierarchy.compare_hierarchies": {"hierarchies": of(lambda: [animal_tree(), animal_tree()])},
    "hierarchy.drop_level": {"h": of(other_tree), "level": of(2, h=deep_tree)},
    "hierarchy.find_hierarchies": {"folder": of("more", columns=["sex"]), "columns": of(["sex"])},
    "hierarchy.halving_note": {"suggestions": of(lambda: kanopy.suggest_hierarchies([1, 2, 90, 91, 95], k=2))},
    "hierarchy.insert_level": {
        "h": of(lambda: animal_tree().renamed("other")),
        "level": of(1, h=even_tree, groups={"all": ["a"]}),
        "groups": of({"hairless": ["bird", "fish"]}),
    },
    "hierarchy.make_builder": {"method": of("order"), "parameters": of({"widths": (5, 50)}, method="widths")},
    "hierarchy.merge": {
        "h": of(lambda: animal_tree().renamed("other")),
        "labels": of(["bird", "fish"]),
        "into": of("all others"),
        "level": of(1, h=twice_tree),
    },
    "hierarchy.move": {
        "h": of(lambda: animal_tree().renamed("other")),
        "label": of("hawk"),
        "under": of("fish"),
        "level": of(0, h=lambda: tree("hawk bird *", "trout fish *", "hawk2 hawk *"), label="hawk", under="fish"),
        "under_level": of(1, h=twice_tree, label="horse", under="mammal"),
    },
    "hierarchy.rename": {
        "h": of(lambda: animal_tree().renamed("other")),
        "label": of("fish"),
        "to": of("avian"),
        "level": of(1, h=twice_tree),
    },
    "hierarchy.split": {
        "h": of(lambda: animal_tree().renamed("other")),
        "label": of("other", h=two_splits, parts={"x": ["a"], "y": ["b"]}),
        "parts": of({"prey": ["hawk", "horse"], "other": ["eagle"]}),
        "level": of(1, h=twice_tree, parts={"prey": ["hawk", "bird"], "other": ["eagle", "horse"]}),
    },
    "hierarchy.tree_html": {
        "h": of(other_tree),
        "level": of(1),
        "edge_values": of({0: 0.5, 1: 0.7}),
        "edge_title": needs("loss", edge_values={0: 0.5}),
        "whole_page": of(False),
        "open_nodes": of(1),
    },
    "hierarchy.tree_svg": {"h": of(other_tree), "level": of(1), "leaves": of(2)},
    "hierarchy.tree_text": {"h": of(other_tree), "lines": of(2)},
    "ontology.information_content": {"taxonomy": of(wordnet), "kind": of("sanchez")},
    "ontology.marginality": {
        "taxonomy": of(wordnet),
        "concepts": of([0, 1]),
        "counts": of([5, 1, 1]),
        "measure": of("path"),
    },
    "ontology.nearest_concepts": {
        "taxonomy": of(wordnet, count=3),
        "rows": of([2]),
        "columns": of([1, 2]),
        "measure": of("path"),
        "count": of(1),
        "threads": of(1),
    },
    "ontology.read_ontology": {"path": of("others.obo"), "is_a": needs(["kind"], path="others.obo"), "name": of("zoo")},
    "ontology.read_senses": {"path": of("other.senses.toml")},
    "ontology.save_ontology": {
        "taxonomy": of(lambda: kanopy.ontology.Taxonomy.from_hierarchy(other_tree())),
        "path": of("other.npz"),
    },
    "ontology.senses_of_hierarchy": {
        "taxonomy": of(beasts),
        "rows": of(ANIMALS),
        "choices": of(lambda: choices(dog="dog#3")),
    },
    "ontology.senses_of_values": {
        "taxonomy": of(beasts),
        "values": of(["dog"]),
        "choices": of(lambda: choices(dog="dog#3")),
        "header": of("animal", values=["bat", "crane", "seal"]),
    },
    "ontology.senses_toml": {
        "senses": of(lambda: kanopy.ontology.senses_of_values(wordnet(), ["cat"])),
        "name": of("animal"),
        "synonyms": of({"pussy": "cat"}),
    },
    "ontology.similarities": {
        "taxonomy": of(lambda: kanopy.ontology.Taxonomy.from_hierarchy(other_tree())),
        "a": of([4, 5]),
        "b": of([0, 1]),
        "measure": of("path"),
    },
    "ontology.similarity_blocks": {
        "taxonomy": of(lambda: kanopy.ontology.Taxonomy.from_hierarchy(other_tree())),
        "rows": of([2]),
        "columns": of([1, 2]),
        "measure": of("path"),
        "threads": of(1),
    },
    "ontology.similarity_matrix": {
        "taxonomy": of(lambda: kanopy.ontology.Taxonomy.from_hierarchy(other_tree())),
        "rows": of([2]),
        "columns": of([1, 2]),
        "measure": of("path"),
        "threads": of(1),
        "dtype": of("float32"),
    },
    "ontology.word_matrix": {"taxonomy": of(wordnet), "words": of(["cat", "hawk"]), "measure": of("path")},
    "ontology.word_similarities": {"taxonomy": of(wordnet), "pairs": of([("dog", "hawk")]), "measure": of("path")},
    "ontology.word_similarity": {"taxonomy": of(wordnet), "a": of("hawk"), "b": of("hawk"), "measure": of("path")},
    "privacy.make_model": {"source": of("k:4")},
}

NO_EFFECT: dict[tuple[str, str], str] = {
    ("ontology.nearest_concepts", "threads"): "it says how fast, and every number of threads gives the same",
    ("ontology.similarity_blocks", "threads"): "it says how fast, and every number of threads gives the same",
    ("ontology.similarity_matrix", "threads"): "it says how fast, and every number of threads gives the same",
}
"""Arguments that change no output and are not refused, each with the reason."""
