"""Bad and unusual input: a clear result or a clear error each; nothing is dropped or left unmasked."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

from kanopy._errors import DataError, InputError, JobError, MissingDependency, OntologyError
from kanopy.masking.job import MaskJob
from kanopy.masking.meanings import vectors_of
from kanopy.release.run import mask


def why(values: list[Any], k: int = 2, **options: Any) -> Any:
    return mask({"why": values}, MaskJob(text=["why"], k=k, **{"targets": "any", **options}))


def groups(result: Any) -> Counter[Any]:
    return Counter(result.data["why"])


def test_empty_strings_blanks_and_nulls_are_one_missing_value() -> None:
    result = why(["beach", "beach", "", None, "  ", "\t"])
    assert result.data["why"] == ["beach", "beach", None, None, None, None]
    assert "Missing or empty" in result.notes[0]


def test_a_single_missing_answer_is_masked_like_any_other() -> None:
    assert why(["beach", "beach", None]).data["why"] == ["beach"] * 3


def test_missing_answers_can_be_refused() -> None:
    with pytest.raises(DataError, match="rows 2"):
        why(["beach", "", "beach"], missing="error")


def test_a_column_of_nothing_but_nulls() -> None:
    assert groups(
        mask(pl.DataFrame({"why": pl.Series([None, None, None], dtype=pl.String)}), MaskJob(text=["why"], k=2))
    ) == {None: 3}


def test_answers_of_ten_thousand_characters() -> None:
    long = ["very " * 2000 + "long", "x" * 10_000, "long story " * 900]
    result = why([*long, "beach", "beach"])
    assert len(result.unknown) == 3
    assert min(groups(result).values()) >= 2
    assert result.verification.rows == 5


def test_mixed_languages_and_emoji() -> None:
    values = ["playa", "海滩", "пляж", "🏖️", "شاطئ", "beach", "beach", "étang", "Strand"]
    result = why(values, k=3)
    assert min(groups(result).values()) >= 3
    assert {"海滩", "пляж", "🏖️"} <= {each["value"] for each in result.unknown}


def test_numbers_in_a_text_column() -> None:
    assert min(groups(why(["7", "beach", "beach", "1234567", "7"])).values()) >= 2
    numbers = why([7, 7, 8, 1234567, 1234567])
    assert numbers.data["why"][:2] == [7, 7]
    assert min(groups(numbers).values()) >= 2


def test_all_values_unknown_are_fused_by_size_and_seed() -> None:
    values = [f"qx{i}z" for i in range(7)]
    result = why(values, k=3)
    assert min(groups(result).values()) >= 3
    assert len(result.unknown) == 7
    with pytest.raises(DataError, match="does not know 7 of 7 values"):
        why(values, unknown="error")


def test_unknown_values_come_with_suggestions() -> None:
    with pytest.raises(DataError, match="crocodile"):
        why(["crocodyle", "beach"], unknown="error")
    assert why(["crocodyle", "beach", "beach"]).unknown[0]["suggestions"][0] == "crocodile"


def test_one_distinct_value_stays() -> None:
    result = why(["beach"] * 4)
    assert groups(result) == {"beach": 4}
    assert result.summary()["semantic_quality"] == 1.0
    assert result.evaluation.substitutions() == []
    assert "Nothing: every combination" in result.to_html()


@pytest.mark.parametrize("k", [0, 1, -3, True, 2.5, "5"])
def test_impossible_k(k: Any) -> None:
    with pytest.raises(JobError, match="k must be a whole number"):
        MaskJob(text=["why"], k=k)


def test_k_above_the_row_count() -> None:
    with pytest.raises(JobError, match="only 3 rows"):
        why(["a", "b", "c"], k=4)


def test_k_equal_to_the_row_count_leaves_one_group() -> None:
    assert len(groups(why(["beach", "coast", "wine"], k=3))) == 1


def test_an_empty_table_and_unknown_columns() -> None:
    with pytest.raises(DataError):
        mask({"why": []}, MaskJob(text=["why"]))
    with pytest.raises(DataError, match="Did you mean 'why'"):
        mask({"why": ["a", "b"]}, MaskJob(text=["whi"], k=2))


def test_answers_that_are_only_a_star_do_not_count_as_suppressed() -> None:
    result = why(["*", "*", "*", "beach", "beach", "wine"], k=2)
    assert min(groups(result).values()) >= 2
    assert result.verification.rows == 6


def test_an_answer_that_looks_like_a_sense() -> None:
    result = why(["we are #1", "we are #1", "tiger#9", "beach", "beach"])
    assert min(groups(result).values()) >= 2


def test_case_and_plural_are_other_texts_of_the_same_meaning() -> None:
    result = why(["Beach", "beach", "beaches", "wine", "wine"], k=2)
    assert result.evaluation.semantic_quality == 1.0
    assert set(result.data["why"][:3]) != {"Beach", "beach", "beaches"}


def test_the_kind_of_table_and_other_columns_are_kept() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"why": ["walk", "walk", "hike"], "n": [1, 2, 3]}, index=[5, 6, 7])
    out = mask(frame, MaskJob(text=["why"], k=2, rest="publish")).data
    assert list(out.index) == [5, 6, 7]
    assert out["why"].tolist() == ["walk"] * 3
    assert out["n"].tolist() == [1, 2, 3]


def test_identifying_columns_are_left_out() -> None:
    result = mask({"patient_name": ["a", "b"], "why": ["walk", "walk"]}, MaskJob(text=["why"], k=2))
    assert list(result.data) == ["why"]
    assert result.notes[0].startswith("Not published") and "'patient_name' (a person's name)" in result.notes[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": []}, "Name the columns to mask"),
        ({"guide": "wu-plamer"}, "Did you mean 'wu-palmer'"),
        ({"measure": "nope"}, "measure must be"),
        ({"algorithm": "fuson"}, "Did you mean 'fusion'"),
        ({"search": "best"}, "search must be"),
        ({"heuristics": "14"}, "Heuristics are named by their numbers"),
        ({"search": "refined", "guide": "random"}, "needs a similarity"),
        ({"algorithm": "semantic-swapping", "guide": "random"}, "needs a similarity measure"),
        ({"unknown": "drop"}, "unknown must be"),
        ({"seed": -1}, "seed"),
        ({"quasi": ["why"]}, "two roles"),
        ({"weights": {"other": 1}}, "weights names columns"),
        ({"weights": {"why": -1}}, "must be a number of at least 0"),
        ({"diversity": {"why": 2}}, "diversity names columns"),
        ({"sensitive": ["s"], "diversity": {"s": 0}}, "whole number of at least 1"),
    ],
)
def test_contradictory_jobs(options: dict[str, Any], message: str) -> None:
    with pytest.raises(JobError, match=message):
        MaskJob(**{"text": ["why"], "k": 2, **options})


def test_weights_of_zero_throughout() -> None:
    with pytest.raises(JobError, match="not all 0"):
        mask({"why": ["a", "b"], "x": ["c", "c"]}, MaskJob(text=["why", "x"], k=2, weights={"why": 0, "x": 0}))


@pytest.mark.parametrize("algorithm", ["local-recoding", "semantic-microaggregation", "semantic-swapping"])
def test_only_fusion_looks_at_confidential_columns(algorithm: str) -> None:
    with pytest.raises(JobError, match="fusion"):
        MaskJob(text=["why"], k=2, algorithm=algorithm, sensitive=["s"], diversity={"s": 2})


def test_a_missing_ontology_or_senses_file() -> None:
    with pytest.raises(OntologyError):
        why(["beach", "wine"], ontology="nowhere.obo")
    with pytest.raises(OntologyError):
        why(["beach", "wine"], senses="nowhere.senses.toml")


class TestEmbedding:
    @staticmethod
    def encode(texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if text.startswith("b") else [0.0, 1.0] for text in texts]

    def test_unknown_values_are_compared_by_vectors(self) -> None:
        values = ["bqq", "beach", "beach", "wine", "wine", "wqq"]
        result = why(values, unknown="embedding", embedding=self.encode)
        assert result.data["why"] == ["beach"] * 3 + ["wine"] * 3
        assert result.evaluation.semantic_quality == pytest.approx(1.0)

    def test_vectors_are_needed_and_checked(self) -> None:
        with pytest.raises(JobError, match="needs vectors"):
            why(["bqq", "beach"], unknown="embedding")
        for wrong in (lambda t: [1.0] * len(t), lambda t: [[1.0]], lambda t: [[np.nan]] * len(t)):
            with pytest.raises(DataError, match="one row of finite numbers"):
                why(["bqq", "beach"], unknown="embedding", embedding=wrong)

    def test_a_model_folder_must_exist(self, tmp_path: Any) -> None:
        with pytest.raises(JobError, match="never downloaded"):
            why(["bqq", "beach"], unknown="embedding", embedding=tmp_path / "absent")
        with pytest.raises((MissingDependency, InputError, OSError, ValueError)):
            vectors_of(tmp_path, ["a"])


def test_progress_can_stop_the_work() -> None:
    from kanopy._errors import Cancelled

    with pytest.raises(Cancelled):
        mask({"why": ["a", "b"]}, MaskJob(text=["why"], k=2), progress=lambda step: step.stage != "masking" and None)
        mask({"why": ["a", "b"]}, MaskJob(text=["why"], k=2), progress=lambda step: False)
