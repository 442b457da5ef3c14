"""Every field of a job that masks changes what `mask` publishes or says, or is refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kanopy
from kanopy._errors import KanopyError
from kanopy._parameters import parameters_of
from kanopy.masking.algorithms.registry import MASKINGS
from tests.used.argument_cases import Case, needs, of
from tests.used.argument_inputs import animals
from tests.used.test_arguments import shown

KEPT = kanopy.Hierarchy.from_rows([[f"{letter}{i}", str(i), "*"] for letter in "ab" for i in range(3)], name="kept")
PETS = kanopy.Hierarchy.from_rows(
    [
        ["dog", "pet", "*"],
        ["cat", "pet", "*"],
        ["horse", "other", "*"],
        ["eagle", "other", "*"],
        ["hawk", "other", "*"],
        ["trout", "other", "*"],
    ]
)
SENSES = kanopy.ontology.SenseChoices(synonyms={"dog": "hawk", "12": "cat"})
NUMBERS: dict[str, Any] = {"text": (), "quasi": ("legs", "kept")}
"""A job without texts: what texts need is refused there."""


def odd() -> dict[str, Any]:
    """Animals, with answers that are none."""
    table = animals()
    return {
        **table,
        "animal": [*table["animal"], "12", "12", "12", "12", "qxz", None],
        "kept": [*table["kept"]] + ["a0"] * 6,
        "legs": [*table["legs"], 1, 1, 1, 1, 2, 2],
        "id": [str(100 + i) for i in range(36)],
    }


class Vectors:
    """Vectors of texts, without a model."""

    def __call__(self, texts: Any) -> Any:
        return np.array([[len(text), ord(text[0]), 1.0] for text in texts])


PLAIN: dict[str, Any] = {"text": ("animal",), "k": 4}
FIELDS: dict[str, Case] = {
    "text": of(("animal", "kept")),
    "k": of(9),
    "targets": of("any"),
    "allow": of(("number",)),
    "quasi": of(("legs",)),
    "algorithm": of("semantic-swapping"),
    "guide": of("discernibility"),
    "measure": of("path"),
    "heuristics": of("1", targets="any", k=7),
    "search": of("refined", targets="any", k=7),
    "seed": of(3, guide="random", targets="any"),
    "ontology": of(PETS),
    "senses": of(SENSES),
    "decisions": of(Path(__file__).with_name("decided.csv")),
    "unknown": of("error"),
    "embedding": needs(Vectors(), unknown="embedding"),
    "weights": needs({"animal": 9}, quasi=("legs",), targets="any"),
    "hierarchies": of({"kept": KEPT}, quasi=("kept",), k=9),
    "sensitive": of(("kept",)),
    "diversity": of({"kept": 3}, sensitive=("kept",)),
    "identifiers": of(("kept",), rest="publish"),
    "insensitive": of(("kept",)),
    "missing": of("error"),
    "missing_tokens": of(("eagle",)),
    "pseudonymize": of(("id",), identifiers=("id",)),
    "rest": of("publish"),
    "undecided": of(("kept",), rest="publish"),
    "withheld": of(("kept",), rest="publish"),
    "shuffle": of(False),
}
IN_VAIN = ("targets", "allow", "measure", "ontology", "senses", "decisions", "unknown", "embedding")
"""Fields that only columns with free text look at."""


def masked(folder: Path, job: dict[str, Any]) -> Any:
    """What is published and said of a masking, and the file of its release."""
    folder.mkdir()
    asked = {**PLAIN, **job}
    try:
        key = b"a secret that is long enough" if asked.get("pseudonymize") else None
        result = kanopy.mask(odd(), kanopy.MaskJob(**asked), key=key)
        result.write(folder / "out.csv")
        report = result.full_report().to_dict() if hasattr(result.full_report(), "to_dict") else None
    except KanopyError as refusal:
        return refusal
    quality = {name: value for name, value in (report or {}).items() if name not in ("job", "seconds", "made")}
    rows = (folder / "out.csv").read_text(encoding="utf-8")
    return shown(result.data), sorted(result.notes), str(quality), rows


@pytest.mark.parametrize("name", parameters_of(kanopy.MaskJob))
def test_a_field_changes_something_or_is_refused(tmp_path: Path, name: str) -> None:
    assert name in FIELDS, f"Give {name} a value in tests/used/test_mask_job.py."
    case = FIELDS[name]
    base, changed = (
        masked(tmp_path / each, given)
        for each, given in (("base", case.beside), ("changed", {**case.beside, name: case.value}))
    )
    if case.refused_alone:
        alone = masked(tmp_path / "alone", {name: case.value})
        assert isinstance(alone, KanopyError) and name in str(alone)
    assert name == "embedding" or not isinstance(base, KanopyError), base
    if isinstance(changed, KanopyError):
        assert name in ("unknown", "missing"), changed  # a wrong value is an error, which shows that it is looked for
    else:
        assert base != changed, f"{name}: no effect, no word"


@pytest.mark.parametrize("name", IN_VAIN)
def test_what_only_texts_need_is_refused_without(tmp_path: Path, name: str) -> None:
    plain = {**NUMBERS, "unknown": "embedding"} if name == "embedding" else NUMBERS
    refused = masked(tmp_path / "numbers", {**plain, name: FIELDS[name].value})
    assert isinstance(refused, KanopyError) and f"{name} has no effect without" in str(refused)


@pytest.mark.parametrize("name", ["heuristics", "search", "seed"])
def test_what_an_algorithm_does_not_have_is_refused(tmp_path: Path, name: str) -> None:
    for algorithm in ("semantic-swapping", "semantic-microaggregation", "local-recoding"):
        given = {"algorithm": algorithm, name: FIELDS[name].value}
        found = masked(tmp_path / algorithm, given)
        if name not in parameters_of(MASKINGS[algorithm]):
            assert isinstance(found, KanopyError), f"{algorithm} has no {name}, and no word says so"
