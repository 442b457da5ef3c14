"""What values mean: codes however they are written, labels, both, ranges, lost zeros, other versions, bad input."""

from __future__ import annotations

import time

import numpy as np
import pytest

from kanopy._errors import HierarchyError
from kanopy.classifications.classification import Classification
from kanopy.classifications.matching import AMBIGUOUS, OTHER_VERSION, RANGE, UNKNOWN, match_values
from kanopy.classifications.registry import load_classification
from kanopy.classifications.search import find_codes
from kanopy.classifications.shapes import of_shape
from kanopy.hierarchy.builders.registry import build_hierarchy, make_builder
from kanopy.hierarchy.column import column_of


def meant(name: str, values: list[str]) -> list[str | None]:
    found = load_classification(name)
    return [found.codes[at] if at >= 0 else None for at in match_values(found, values).nodes.tolist()]


@pytest.mark.parametrize(
    ("name", "values", "codes"),
    [
        ("icd-10-cm", ["A00.0", "a000", " A00.0 ", "A00", "A00-A09"], ["A00.0", "A00.0", "A00.0", "A00", "A00-A09"]),
        ("icd-10-cm", ["A00.0 Cholera due to Vibrio cholerae 01", "Cholera", "Asthma"], ["A00.0", "A00", "J45"]),
        ("countries", ["Germany", "DEU", "de", "276"], ["DE"] * 4),
        (
            "countries",
            ["UK", "Ivory Coast", "Côte d'Ivoire", "COTE D'IVOIRE", "South Korea", "Korea, Rep.", "Allemagne", "U.S."],
            ["GB", "CI", "CI", "CI", "KR", "KR", "DE", "US"],
        ),
        (
            "countries",
            [
                "Kingdom of Belgium",
                "Egypt, Arab Rep.",
                "Armenia, Republic of",
                "Republic of China",
                "Republic of the Congo",
            ],
            ["BE", "EG", "AM", "TW", "CG"],
        ),
        ("us-counties", ["1001", "10001", "6037"], ["01001", "10001", "06037"]),
        ("us-zip3", ["2139", "02139", "02139-1234", "10001"], ["021", "021", "021", "100"]),
        ("naics", ["31", "31-33", "313300", "3133", "722511"], ["31-33", "31-33", "3133", "3133", "722511"]),
        ("nace", ["1.11", "01.11", "0111", "62.10"], ["01.11", "01.11", "01.11", "62.10"]),
        ("icd-9-cm", ["38.9", "038.9", "250.00", "E849.0", "V30.00"], ["038.9", "038.9", "250.00", "E849.0", "V30.00"]),
        ("languages", ["chi", "zho", "zh", "Chinese", "ger", "English"], ["zh", "zh", "zh", "zh", "de", "en"]),
        ("religions", ["Christian (Catholic)", "Christian (Other)", "Muslim"], ["Catholic", "Christianity", "Islam"]),
        ("months", ["Jan", "février", "03", "Dezember"], ["1", "2", "3", "12"]),
        ("soc", ["Chief Executives", "11-1011", "111011"], ["11-1011", "11-1011", "11-1011"]),
    ],
)
def test_values_mean_these_codes(name: str, values: list[str], codes: list[str]):
    assert meant(name, values) == codes


def test_numbers_of_answers_are_no_codes_of_education():
    assert meant("isced-2011", ["1. < HS Grad", "2. HS Grad", "4. College Grad"]) == [None] * 3
    assert meant("isced-2011", ["1 Primary education", "8 - Doctoral"]) == ["1", "8"]


def test_measurements_are_no_codes():
    assert meant("us-zip3", ["24.1", "18.4", "1970 Q1"]) == [None] * 3
    assert meant("naics", ["72.25", "11.1"]) == [None, None]
    assert meant("icd-9-cm", ["-139", "+250"]) == meant("us-zip3", ["18-23", "65-90"]) == [None, None]


def test_unknown_codes_share_a_label_and_are_listed():
    builder = make_builder("classification", classification="icd-10-cm")
    made = builder.classify_column(column_of(["A00.0", "A01.0", "E11.9", "foo", "bar"]))
    assert made.hierarchy.generalize("foo", 1) == made.hierarchy.generalize("bar", 1) == "not in icd-10-cm-2026"
    assert "2 of 5 values are not in icd-10-cm-2026: 'bar', 'foo'." in made.notes
    apart = make_builder("classification", classification="icd-10-cm", unknown="top").build(["A00.0", "A01.0", "foo"])
    assert apart.generalize("foo", apart.height - 1) == "foo"
    with pytest.raises(HierarchyError, match="1 values are not in icd-10-cm-2026: 'foo'"):
        make_builder("classification", classification="icd-10-cm", unknown="error").build(["A00.0", "foo"])
    with pytest.raises(HierarchyError, match="no codes or labels of countries-2025: 'x', 'y'"):
        build_hierarchy(["x", "y"], "classification", classification="countries")


def test_codes_of_another_version_lie_under_the_nearest_one():
    found = load_classification("naics-2022")
    matches = match_values(found, ["454110", "722511"])  # 454110 is a code of NAICS 2017
    assert matches.how[0] == OTHER_VERSION and found.codes[found.chain(int(matches.nodes[0]))[-1]] == "44-45"
    old = load_classification("icd-10-cm")
    matches = match_values(old, ["A00.99", "E11.9"])
    assert old.codes[int(matches.nodes[0])] == "A00.9" and matches.how[0] == OTHER_VERSION
    assert "Not in this version" in " ".join(matches.notes())
    assert (match_values(old, ["A00.99"], nearest=False).nodes == -1).all()


def test_versions_mixed_in_one_column_are_understood_together():
    found = load_classification("icd-10-cm+icd-9-cm")
    matches = match_values(found, ["250.22", "E11.9", "V30.00", "M54.50"])
    assert matches.rate == 1.0
    chapters = [found.label(found.chain(at)[-1]) for at in matches.nodes.tolist()]
    assert chapters[1] == "Endocrine, nutritional and metabolic diseases"


def test_half_free_text_is_said_to_be_unknown():
    values = ["A00.0", "E11.9", "patient fell at home and was brought in by neighbours", "see letter of 3 May"]
    matches = match_values(load_classification("icd-10-cm"), values)
    assert matches.rate == 0.5 and matches.unmatched == values[2:]
    assert matches.of(UNKNOWN) == values[2:]


def test_mixed_levels_in_one_column():
    h = build_hierarchy(["A00", "A00.0", "A00.1", "A01", "E11.9"], "classification", classification="icd-10-cm")
    assert h.generalize("A00", 1) == h.generalize("A00.0", 1) == "A00 Cholera"
    assert any(
        "several levels" in note for note in match_values(load_classification("icd-10-cm"), ["A00", "A00.0"]).notes()
    )


def test_ranges_mean_what_lies_above_both_ends():
    found = load_classification("icd-10-cm")
    matches = match_values(found, ["A00-A03", "A00–A09", "A00-Z99"])
    assert [found.codes[at] if at >= 0 else None for at in matches.nodes.tolist()] == ["A00-A09", "A00-A09", None]
    assert matches.how[0] == RANGE and matches.how[2] == UNKNOWN


def test_a_label_of_several_codes_goes_to_what_lies_above_them_or_is_named():
    rows = [("A", "Fruit", ""), ("A1", "Other", "A"), ("A2", "Other", "A"), ("B", "Meat", ""), ("B1", "Raw", "B")]
    found = Classification.from_rows([*rows, ("A3", "Raw", "A")], name="food")
    matches = match_values(found, ["Other", "Raw"])
    assert found.codes[int(matches.nodes[0])] == "A"
    assert matches.of(AMBIGUOUS) == ["Raw"] and "belong to several codes" in matches.notes()[0]


def test_a_loop_or_an_unknown_parent_in_a_users_rows_is_an_error():
    with pytest.raises(HierarchyError, match="cycle through 'A', 'B'"):
        Classification.from_rows([("A", "a", "B"), ("B", "b", "A"), ("C", "c", "")], name="x")
    with pytest.raises(HierarchyError, match="parents that are not codes: 'Z'"):
        Classification.from_rows([("A", "a", "Z")], name="x")
    with pytest.raises(HierarchyError, match="codes with two labels: 'A'"):
        Classification.from_rows([("A", "a", ""), ("A", "b", "")], name="x")


def test_several_roots_of_a_users_file_meet_at_the_top(tmp_path):
    (tmp_path / "two.csv").write_text(
        "code,label,parent\nF,Fruit,\nF1,Apple,F\nF2,Pear,F\nM,Meat,\nM1,Ham,M\nM2,Beef,M\n"
    )
    h = build_hierarchy(["F1", "F2", "M1", "M2"], "classification", classification=str(tmp_path / "two.csv"))
    assert h.labels_at(1) == ("F Fruit", "M Meat") and h.labels_at(h.height) == ("*",)


def test_of_several_parents_the_one_that_loses_least_is_taken_and_listed(tmp_path):
    (tmp_path / "dag.csv").write_text(
        "code,label,parent\nALL,Everything,\nBIG,Big,ALL\nSMALL,Small,ALL\n"
        "x,X,BIG|SMALL\ny,Y,SMALL\nz1,Z1,BIG\nz2,Z2,BIG\nz3,Z3,BIG\n"
    )
    builder = make_builder("classification", classification=str(tmp_path / "dag.csv"), labels="label")
    made = builder.classify_column(column_of(["x", "y", "z1", "z2", "z3"]))
    assert made.hierarchy.generalize("x", 1) == "Small"
    assert any("x under SMALL, not BIG" in note for note in made.notes)


def test_half_a_million_codes(tmp_path):
    rows = [("R", "Root", "")] + [(f"G{i}", f"Group {i}", "R") for i in range(500)]
    rows += [(f"C{i}", f"Code {i}", f"G{i % 500}") for i in range(500_000)]
    before = time.process_time()
    found = Classification.from_rows(rows, name="many")
    matches = match_values(found, [f"c{i}" for i in range(0, 500_000, 1000)])
    assert matches.rate == 1.0 and found.size == 500_501
    assert time.process_time() - before < 30


def test_the_shape_of_codes_without_labels():
    h = build_hierarchy(["A02BC01", "A02BC02", "A02BA02", "C09AA05"], "classification", classification="atc")
    assert h.generalize("A02BC01", 1) == "A02BC" and h.generalize("A02BA02", 2) == "A02B"
    occupations = of_shape("isco", ["2211", "2212", "9112"])
    assert occupations.counts()["major group"] == 2
    with pytest.raises(HierarchyError, match="format of a code of atc"):
        of_shape("atc", ["aspirin"], name="atc")
    with pytest.raises(HierarchyError, match=r"does not come with Kanopy.*its licence forbids it"):
        load_classification("snomed")
    with pytest.raises(HierarchyError, match="Did you mean 'countries'"):
        load_classification("contries")


def test_labels_are_code_label_or_both_in_a_language():
    values = ["01.11", "01.12", "62.10"]
    made = {
        style: build_hierarchy(values, "classification", classification="nace", labels=style).generalize("01.11", 1)
        for style in ("code", "label", "both")
    }
    assert made == {
        "code": "01.1",
        "label": "Growing of non-perennial crops",
        "both": "01.1 Growing of non-perennial crops",
    }
    german = build_hierarchy(["DEU", "FRA", "JPN"], "classification", classification="countries", language="de")
    assert german.generalize("DEU", german.height - 1) in ("Westeuropa", "Europa")
    with pytest.raises(HierarchyError, match="no labels in the language 'xx'"):
        build_hierarchy(values, "classification", classification="nace", language="xx").labels  # noqa: B018


def test_only_some_levels_by_name():
    values = ["A00.0", "A01.0", "E11.9", "E78.5"]
    h = build_hierarchy(values, "classification", classification="icd-10-cm", levels=("chapter",))
    assert h.height == 2 and h.generalize("E11.9", 1).startswith("4 Endocrine")
    with pytest.raises(HierarchyError, match="no level 'chapters'"):
        build_hierarchy(values, "classification", classification="icd-10-cm", levels=("chapters",))


def test_each_node_is_above_the_values_it_is_true_of():
    found = load_classification("icd-10-cm")
    values = [code for at, code in enumerate(found.codes) if at % 97 == 0]
    h = build_hierarchy(values, "classification", classification="icd-10-cm", labels="code")
    for value, row in zip(h.values, h.rows(), strict=True):
        chain = {found.codes[at] for at in found.chain(found.find(value))}
        assert set(row[1:-1]) <= chain
    assert np.all(np.diff(h.level_sizes) < 0)


def test_search_finds_codes_and_words():
    assert find_codes("A00.0", ["icd-10-cm"])[0]["code"] == "A00.0"
    assert find_codes("ivory coast", ["countries"])[0]["label"].startswith("Côte")
    assert find_codes("no such thing at all", ["countries"]) == []
