"""Privacy models against tables worked out by hand, and how they are written."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kanopy._core.classes import Classes, ClassLabels, ColumnFacts
from kanopy._errors import DataError, HierarchyError, JobError
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import MODELS, Model, failing, make_model, make_models, parse_model

TREE = Hierarchy.from_rows(
    [["flu", "lung", "*"], ["asthma", "lung", "*"], ["ulcer", "gut", "*"], ["cancer", "gut", "*"]], name="ill"
)


def classes(*rows: list[int], totals: list[int] | None = None, numbers: list[float] | None = None, **more) -> Classes:
    """Classes with one sensitive column "ill"; each row is the histogram of a class."""
    histogram = np.array(rows, np.int32)
    whole = np.array(totals if totals is not None else histogram.sum(axis=0), np.int64)
    values = TREE.values if histogram.shape[1] == 4 else tuple("abcdefgh"[: histogram.shape[1]])
    hierarchy = TREE if histogram.shape[1] == 4 else None
    facts = ColumnFacts(values, whole, None if numbers is None else np.array(numbers, float), hierarchy)
    return Classes(histogram.sum(axis=1).astype(np.int64), histograms={"ill": histogram}, facts={"ill": facts}, **more)


def bad(text: str, found: Classes) -> list[bool]:
    return parse_model(text).violated(found).tolist()


def test_diversity_by_hand() -> None:
    # Class 1: 4 of one value. Class 2: 2 + 2. Class 3: 3 + 1. Class 4: 1 + 1 + 1 + 1.
    found = classes([4, 0, 0, 0], [2, 2, 0, 0], [3, 1, 0, 0], [1, 1, 1, 1])
    assert bad("l-distinct:ill:2", found) == [True, False, False, False]
    assert bad("p-sensitive:ill:3", found) == [True, True, True, False]
    # Entropies: 0, ln 2, 0.5623, ln 4; the second and fourth meet their thresholds exactly.
    assert bad("l-entropy:ill:2", found) == [True, False, True, False]
    assert bad("l-entropy:ill:4", found) == [True, True, True, False]
    assert bad("l-entropy:ill:1.7", found) == [True, False, False, False]
    # (c,2): r1 < c·(r2+…): 4 < 0; 2 < 2c; 3 < c; 1 < 3c.
    assert bad("l-recursive:ill:1,2", found) == [True, True, True, False]
    assert bad("l-recursive:ill:3,2", found) == [True, False, True, False]
    assert bad("l-recursive:ill:3.1,2", found) == [True, False, False, False]
    assert bad("l-recursive:ill:3,5", classes([1, 1, 1, 1])) == [True]
    assert bad("alpha-k:ill:0.5,2", found) == [True, False, True, False]
    assert bad("alpha-k:ill:0.75,5", found) == [True, True, True, True]
    assert bad("l-plus:ill:flu=2", found) == [True, False, True, False]
    assert bad("l-plus:ill:asthma=4|*=1", found) == [False, True, False, False]


def test_closeness_by_hand() -> None:
    # The table: a quarter each. Class 1 has only flu; class 2 flu and asthma; class 3 flu and ulcer.
    found = classes([4, 0, 0, 0], [2, 2, 0, 0], [2, 0, 2, 0], totals=[10, 10, 10, 10], numbers=[1, 2, 3, 4])
    equal, ordered, tree = (parse_model(f"t-{kind}:ill:0.5") for kind in ("equal", "ordered", "hierarchical"))
    assert equal.distances(found) == pytest.approx([0.75, 0.5, 0.5])
    # Moved over the order: class 1 .75 + .5 + .25 of 3 steps; class 2 .25 + .5 + .25; class 3 .25 + 0 + .25.
    assert ordered.distances(found) == pytest.approx([1.5 / 3, 1.0 / 3, 0.5 / 3])
    # Over the tree: inside "lung" half way up, across at the top. Class 1: .25·½ + .5; class 2: .5; class 3: 2·.25·½.
    assert tree.distances(found) == pytest.approx([0.625, 0.5, 0.25])
    assert equal.violated(found).tolist() == [True, False, False]
    assert bad("t-ordered:ill:0.4", found) == [True, False, False]


def test_published_closeness_examples() -> None:
    # Li, Li, Venkatasubramanian (2007), section 5.2: incomes 3k…11k; {3k,4k,5k} has distance 0.375 to the table,
    # {6k,8k,11k} 0.167.
    found = classes(
        [1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1],
        totals=[1] * 9, numbers=[3, 4, 5, 6, 7, 8, 9, 10, 11],
    )  # fmt: skip
    assert parse_model("t-ordered:ill:0.2").distances(found) == pytest.approx([0.375, 1 / 6])


def test_disclosure_and_likeness_by_hand() -> None:
    # Table: 50 %, 30 %, 20 %. Class 1 as the table; class 2 without the third; class 3 doubles the third.
    found = classes([5, 3, 2], [5, 5, 0], [2, 4, 4], totals=[50, 30, 20])
    assert bad(f"delta-disclosure:ill:{math.log(2.5)}", found) == [False, True, False]
    assert bad(f"delta-disclosure:ill:{math.log(2)}", found) == [False, True, True]  # 0.2 is 2.5 times rarer
    assert bad(f"delta-disclosure:ill:{math.log(2.5)},ignored", found) == [False, False, False]
    # Gains: 0, 2/3, 1.
    assert bad("beta-basic:ill:0.6", found) == [False, True, True]
    assert bad("beta-basic:ill:0.7", found) == [False, False, True]
    assert bad("beta-basic:ill:1", found) == [False, False, False]
    # Enhanced: for a value of share .3 the gain is at most -ln .3 = 1.2, for .5 at most .693, for .2 at most 1.609.
    assert bad("beta-enhanced:ill:5", classes([9, 1, 0], [8, 1, 1], totals=[50, 30, 20])) == [True, False]
    assert bad("beta-basic:ill:5", classes([9, 1, 0], [8, 1, 1], totals=[50, 30, 20])) == [False, False]


def test_epsilon_m_by_hand() -> None:
    found = classes([1, 1, 1, 1], [2, 1, 1, 0], [2, 0, 0, 2], numbers=[10, 20, 30, 100])
    # Within 10 of 20 lie 10, 20 and 30: three of four rows.
    assert bad("epsilon-m:ill:10,2", found) == [True, True, False]
    assert bad("epsilon-m:ill:9,2", found) == [False, False, False]
    assert bad("epsilon-m:ill:9,4", found) == [False, True, True]


def test_population_models_by_hand() -> None:
    found = Classes(np.array([2, 5, 0]), population=np.array([10, 5, 3]))
    assert bad("k-map:6", found) == [False, True, True]
    assert bad("delta-presence:0,0.5", found) == [False, True, False]
    assert bad("delta-presence:0.1,1", found) == [False, False, True]
    some = Classes(np.array([2, 5]), population=np.array([10, 5]))
    assert not parse_model("delta-presence:0.1,1").satisfied(some, found)
    with pytest.raises(JobError, match="compares with a population"):
        parse_model("k-map:3").violated(Classes(np.array([2])))


def test_models_of_the_release_by_hand() -> None:
    kept = Classes(np.array([1, 4, 5]))
    assert parse_model("risk-average:0.3").satisfied(kept, kept)
    assert not parse_model("risk-average:0.29").satisfied(kept, kept)
    assert parse_model("uniqueness:10%").satisfied(kept, kept)
    assert not parse_model("uniqueness:0").satisfied(kept, kept)
    assert failing(parse_model("uniqueness:0"), kept).all()


def test_constrained_by_hand() -> None:
    labels = ("flu", "lung", "gut", "*")
    found = Classes(np.array([3, 3, 3, 3]), labels={"ill": ClassLabels(np.arange(4), labels, TREE)})
    assert bad("constrained:ill:lung", found) == [False, False, False, True]
    assert bad("constrained:ill:flu|gut", found) == [False, True, False, True]
    with pytest.raises(JobError, match="no node 'lungs'"):
        bad("constrained:ill:lungs", found)


def test_guarding_by_hand() -> None:
    # One row of class 1 guards "lung"; 2 of its 4 rows are lung diseases. Class 2 has 3 of 4, guarded by nobody.
    base = classes([1, 1, 2, 0], [2, 1, 1, 0])
    guards = ColumnFacts(("(missing)", "lung"), np.array([7, 1]))
    found = Classes(
        base.sizes,
        histograms={**base.histograms, "guard": np.array([[3, 1], [4, 0]])},
        facts={**base.facts, "guard": guards},
    )
    assert bad("guarding:ill:guard,0.5", found) == [False, False]
    assert bad("guarding:ill:guard,0.4", found) == [True, False]
    wrong = {**found.facts, "guard": ColumnFacts(("lungs",), np.array([8]))}
    with pytest.raises(DataError, match="'lungs'"):
        parse_model("guarding:ill:guard,0.4").check(wrong)


# ---- how models are written -------------------------------------------------------------------------------------


def test_every_model_has_an_example_a_sentence_and_a_file_form() -> None:
    for name, kind in MODELS.items():
        model = parse_model(kind.example)
        assert type(model) is kind
        assert model.name == name
        assert model.explain().endswith(".")
        assert kind.summary.endswith(".")
        assert make_model(model.to_dict()) == model


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("t-equals:ill:0.2", "Did you mean 't-equal'"),
        ("t-equal:0.2", "does not name a column"),
        ("t-equal:ill:1.5", "between 0 and 1"),
        ("t-equal:ill:-0.1", "between 0 and 1"),
        ("t-ordered:ill:x", "must be a share"),
        ("l-distinct:ill:1", "at least 2"),
        ("l-distinct:ill:2.5", "whole number"),
        ("l-recursive:ill:3", "takes c, l"),
        ("l-recursive:ill:0,2", "above 0"),
        ("alpha-k:ill:0", "above 0"),
        ("delta-presence:0.6,0.5", "exchange"),
        ("delta-disclosure:ill:1,maybe", "absent"),
        ("l-plus:ill:HIV", "not a threshold"),
        ("l-plus:ill:HIV=0.5", "at least 1"),
        ("k:1", "at least 2"),
        ("k-map:1", "at least 2"),
        ("beta-basic:ill:0", "above 0"),
        ("guarding:ill:ill,0.4", "column with the nodes"),
        ("epsilon-m:pay:-1,2", "at least 0"),
        ("uniqueness", "one parameter"),
    ],
)  # fmt: skip
def test_wrong_forms_are_explained(text: str, says: str) -> None:
    with pytest.raises(JobError, match=says):
        parse_model(text)


def test_wrong_tables_are_explained() -> None:
    with pytest.raises(JobError, match="no parameter 'q'"):
        make_model({"name": "t-equal", "column": "ill", "q": 2})
    with pytest.raises(JobError, match="needs 't'"):
        make_model({"name": "t-equal", "column": "ill"})
    with pytest.raises(JobError, match="written as"):
        make_model({"column": "ill"})
    assert len(make_models(["k:3", "k:3", {"name": "k", "k": 3}])) == 1


def test_what_the_data_cannot_fulfil_is_refused() -> None:
    three = {"ill": ColumnFacts(("a", "b", "c"), np.array([3, 2, 0]))}
    for text, says in (
        ("l-distinct:ill:3", "has only 2"),
        ("l-entropy:ill:2.5", "has only 2"),
        ("l-recursive:ill:3,3", "has only 2"),
        ("p-sensitive:ill:3", "has only 2"),
        ("alpha-k:ill:0.4", "has only 2"),
        ("l-plus:ill:d=3", "does not have: 'd'"),
        ("t-ordered:ill:0.2", "needs an order"),
        ("t-hierarchical:ill:0.2", "needs a hierarchy"),
    ):
        with pytest.raises(JobError, match=says):
            parse_model(text).check(three)
    with pytest.raises(DataError, match="needs numbers"):
        parse_model("epsilon-m:ill:1,2").check(three)
    with pytest.raises(DataError, match="which the table does not have"):
        parse_model("l-distinct:sick:2").check(three)
    crossed = Hierarchy.from_rows([["a", "x", "p"], ["b", "x", "q"]], require_nesting=False)
    with pytest.raises(HierarchyError, match="does not nest"):
        parse_model("t-hierarchical:ill:0.2").check({"ill": ColumnFacts(("a", "b"), np.array([1, 1]), None, crossed)})


def test_all_models_are_models() -> None:
    assert all(issubclass(kind, Model) for kind in MODELS.values())
