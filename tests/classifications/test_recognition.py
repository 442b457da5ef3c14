"""Which columns are recognised, what is said of them, and what is not taken for codes by chance."""

from __future__ import annotations

import itertools
from collections import Counter

import polars as pl
import pytest

import kanopy
from kanopy._errors import HierarchyError, JobError
from kanopy._job.guess import guess_job
from kanopy._table.datasets import adult
from kanopy._table.official.classified import OfficialColumns
from kanopy.classifications.recognition import covers, recognize
from kanopy.classifications.registry import load_classification
from kanopy.hierarchy.builders.semantic.builders import Ontology
from kanopy.hierarchy.suggest import official_suggestions, suggest_hierarchies

_LANGUAGES = "German English Dutch French Italian Spanish Russian Polish Czech Hindi Arabic Hebrew Turkish Finnish Zulu"
_STATES = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ"
STATES = _STATES.split(" ")


def triplet_agreement(official, made) -> float:
    """Of all triples (a, b | c) that the official tree separates, the share that the other separates alike."""

    def meets(h):
        rows = {row[0]: row for row in h.rows()}
        return lambda a, b: next(
            (level for level, (x, y) in enumerate(zip(rows[a], rows[b], strict=True)) if x == y), 99
        )

    one, other, won, total = meets(official), meets(made), 0.0, 0
    for a, b, c in itertools.permutations(official.values, 3):
        if a < b and one(a, b) < min(one(a, c), one(b, c)):
            near = min(other(a, c), other(b, c))
            won += (other(a, b) < near) + 0.5 * (other(a, b) == near)
            total += 1
    return won / total


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("country", ["DEU", "FRA", "ITA", "POL"], "countries"),
        ("x", ["Germany", "France", "Italy", "Ivory Coast", "Viet Nam", "USA", "Japan", "Chile"], "countries"),
        ("COUNTRY", ["USA"], "countries"),
        ("code", ["A00.0", "E11.9", "I10", "J45.20", "C50.111", "F32.1", "K21.9", "M54.50", "N39.0"], "icd-10-cm"),
        ("icd_code", ["Z71.3", "J00", "M54.5", "I10", "E11.9"], "icd-10-cm"),
        ("state", STATES, "us-states"),
        ("fips", ["19001", "19003", "1001", "6037"], "us-counties"),
        ("zip", ["02139", "10001", "90210-1234", "2140"], "us-zip3"),
        ("naics", ["722511", "541511", "621111", "236115"], "naics"),
        ("naics", ["454110", "722511", "443142", "442110", "448120", "517311"], "naics"),
        ("state", ["1", "2", "4", "5", "6", *map(str, set(range(8, 57)) - {14, 43, 52})], "us-states"),
        ("GEOID", ["1", "2", "4", "5", "6", "8"], "us-states"),
        ("iso_num", ["4", "8", "12", "24", "31"], "countries"),
        ("month", ["5", "6", "7", "8"], "months"),
        ("division", ["East North Central", "Mountain", "New England", "Pacific", "West South Central"], "us-states"),
        ("lang", ["eng", "chi", "rus"], "languages"),
        ("month", ["Jan", "Feb", "Dec"], "months"),
        ("soc_code", ["11-1011", "29-1141", "25-2021"], "soc"),
        ("nuts3", ["DE111", "DE212", "FR101", "AT130"], "nuts"),
        ("medication", ["A02BC01", "C09AA05", "N02BE01", "A10BA02", "C07AB02", "B01AC06"], "atc"),
        ("Religion", ["Catholic", "Muslim", "Hindu", "Jewish", "Christian (Other)", "Buddhist"], "religions"),
    ],
)
def test_recognised(name: str, values: list[str], expected: str):
    found = recognize(values, name=name)
    assert found and found[0].classification == expected


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("animal", ["cat", "dog", "cow", "pig", "hen", "bee", "ant", "fox", "owl", "elk"]),
        ("grade", ["A1", "A2", "B1", "B2", "C1", "C2"]),
        ("room", ["A12", "B07", "C33", "D04", "E11", "F20"]),
        ("answer", ["no", "be", "am", "is", "it", "do", "in"]),
        ("count", [str(n) for n in range(1, 57)]),
        ("score", ["24.1", "25", "22.8", "18.4", "17.3"]),
        ("openness", [str(half / 2).removesuffix(".0") for half in range(2, 15)]),  # means were taken for NACE or ICD-9
        ("score", [f"{tenth / 10:.2f}" for tenth in range(500, 900, 7)]),
        ("year", ["1999", "2000", "2001", "2010", "2011", "2012"]),
        ("quarter", ["1970 Q1", "1970 Q2", "1970 Q3", "1970 Q4"]),
        ("education", ["1. < HS Grad", "2. HS Grad", "3. Some College", "4. College Grad"]),
        ("first_name", ["Chad", "Georgia", "Jordan", "Anna", "Peter", "Maria", "Israel", "Kenia"]),
        ("sector", ["manufacturing", "other", "construction"]),
        ("size", ["S", "M", "L", "XL"]),
        ("income", ["111110", "250000", "48000", "72000", "39500"]),
        # Faults that tables of R packages showed: states by the alphabet, amounts, changes, counts, days, regions.
        ("state", [str(n) for n in range(1, 52) if n not in (2, 12)]),
        ("statecode", ["5", "10", "23", "35", "44", "45"]),
        ("county", [str(n) for n in range(1, 30)]),
        ("country", [str(n) for n in range(1, 26)]),
        ("gross_us", ["134806913", "176654505", "180202163", "181030624", "55414050"]),
        ("decrease", [str(-n) for n in range(1, 40)]),
        ("dx70_1948", [str(n) for n in range(3, 190)]),
        ("age", ["18-23", "24-28", "29-33", "34-38", "39-43", "44-48", "49-53", "54-58", "59+"]),
        ("day_of_week", [str(n) for n in range(1, 8)]),
        ("region", ["Africa", "Americas", "Asia", "Europe"]),
    ],
)
def test_not_recognised_by_chance(name: str, values: list[str]):
    assert recognize(values, name=name) == []


def test_codes_are_known_by_the_names_beside_them():
    """UN numbers called LocID beside names of countries were not recognised; other numbers beside them are not."""
    places = {"Austria": 40, "Belgium": 56, "Chile": 152, "France": 250, "Japan": 392, "Spain": 724, "Togo": 768}
    frame = pl.DataFrame(
        {
            "Location": [*places] * 3,
            "LocID": [*places.values()] * 3,
            "rank": [*range(1, 8)] * 3,
            "other": [41, 57, 155, 251, 393, 725, 769] * 3,
        }
    )
    official = OfficialColumns(frame)
    found = {name: official.of(name) for name in frame.columns}
    assert found["LocID"] is not None and found["LocID"].classification == "countries"
    assert found["rank"] is None and found["other"] is None


def test_unmatched_values_are_listed_and_counted():
    found = recognize(["DEU", "FRA", "ITA", "ESP", "POL", "JPN", "BRA", "CHL", "XX1", "XX2"], name="country")[0]
    assert (found.match_rate, found.unmatched, found.unmatched_count) == (0.8, ("XX1", "XX2"), 2)
    assert found.role == "quasi-identifier" and "80 % of the values match; not: 'XX1', 'XX2'" in found.sentence()


def test_ambiguity_and_versions_are_said():
    found = recognize(["0111", "0112", "1011", "6201", "6202"], name="isic")
    assert {found[0].classification, *found[0].ambiguous} >= {"isic"}
    older = recognize(["454110", "443142", "442110", "448120", "517311", "722511"], name="naics")[0]
    assert older.version == "naics-2017"
    mixed = recognize(
        ["250.22", "401.9", "414.01", "E11.9", "I10", "J45.20", "M54.50", "V30.00", "493.90", "F32.1"] * 1, name="dx"
    )
    assert mixed[0].classification == "icd-10-cm+icd-9-cm"


def test_init_proposes_the_classification_and_the_job_runs():
    table = {
        "age": [20 + i % 50 for i in range(120)],
        "country": [["DEU", "FRA", "ITA", "POL", "USA", "CAN"][i % 6] for i in range(120)],
        "diagnosis": [["E11.9", "I10", "J45.20", "C50.111", "F32.1"][i % 5] for i in range(120)],
    }
    guessed = guess_job(table)
    roles = {each["column"]: each["role"] for each in guessed.columns}
    assert roles["diagnosis"] == "sensitive" and guessed.job.hierarchies["country"]["classification"] == "countries"
    assert "countries (countries-2025): 100 % of the values match" in guessed.text
    assert kanopy.anonymize(table, guessed.job.replaced(k=3)).smallest_class >= 3


def test_a_job_file_names_the_classification():
    job = kanopy.Job.from_toml(
        'k = 2\n[columns.c]\nrole = "quasi-identifier"\nhierarchy = { classification = "countries", labels = "code" }\n'
    )
    released = kanopy.anonymize({"c": ["DEU", "FRA", "CHN", "JPN"]}, job).data["c"]
    assert released == ["155", "155", "030", "030"]
    assert kanopy.Job.from_toml(job.to_toml()) == job


def test_suggest_shows_the_classification_beside_the_default():
    codes = ["A00.0", "A00.1", "A01.0", "E11.9", "E11.8", "E10.9", "I10", "I11.0", "J45.20", "J44.9"]
    ranking = suggest_hierarchies(codes * 10, k=5, name="diagnosis")
    methods = [each.method for each in ranking]
    assert "classification" in methods and "redact" in methods


def test_the_app_offers_the_classification_of_a_column_of_many_codes():
    from kanopy.app.tasks import trees

    codes = list(load_classification("icd-10-cm").codes)[::20]
    assert len(codes) > trees.MOST_TRIED
    found = official_suggestions(codes * 2, k=5)
    assert [each.builder.fit for each in found] == [True, False] and all(each.reads_well for each in found)


def test_words_of_countries_go_to_the_regions_of_the_united_nations():
    names = ["Germany", "France", "Japan", "Chile", "Ivory Coast", "Holland", "Italy", "Atlantis", "dog", "cat"]
    made = Ontology().propose(names, name="country")
    h = made.hierarchy
    assert h.generalize("Germany", 1) == "Western Europe" and h.generalize("Germany", h.height - 1) == "Europe"
    assert h.generalize("Holland", 1) == "Western Europe" and h.generalize("Ivory Coast", h.height - 1) == "Africa"
    assert h.generalize("dog", h.height - 1) == h.generalize("cat", h.height - 1) == "mammal"
    assert "countries (countries-2025)" in made.notes[0]


def test_names_that_a_classification_covers_agree_with_its_tree():
    diseases = ["Asthma", "COPD", "Pneumonia", "Hypertension", "Stroke", "Heart attack", "Diabetes", "Gout", "Migraine",
                "Epilepsy", "Breast cancer", "Lung cancer", "Psoriasis", "Eczema", "Cataract", "Glaucoma"]  # fmt: skip
    for name, values, source in (
        ("country", sorted(adult()["native-country"].drop_nulls().unique().to_list()), "countries"),
        ("language", _LANGUAGES.split(" "), "languages"),
        ("disease", diseases, "icd-10-cm"),
    ):  # fmt: skip
        found = covers(values, name=name)
        assert found is not None and found[0] == source, name
        known = [value for value, at in zip(values, found[1].nodes.tolist(), strict=True) if at >= 0]
        official = kanopy.build_hierarchy(known, "classification", classification=source, labels="code")
        made = Ontology().build(known, name=name)
        assert triplet_agreement(official, made) >= 0.95, name


def test_other_words_are_grouped_as_before():
    assert covers(["dog", "cat", "horse", "eagle"]) is None
    assert covers(["Bachelors", "Masters", "HS-grad", "10th"], name="education") is None


def test_integer_columns_of_codes():
    frame = pl.DataFrame({"county_fips": [1001, 6037, 19001, 36061] * 5, "sex": ["m", "f"] * 10})
    guessed = guess_job(frame)
    assert guessed.job.hierarchies.get("county_fips") == {"classification": "us-counties", "fit": True}


def test_codes_of_diagnoses_are_sensitive_and_named():
    codes = ["A00.0", "E11.9", "I10", "J45.20", "C50.111", "F32.1", "K21.9", "M54.50", "N39.0", "G43.909", "L40.0"]
    guessed = guess_job({"xq": codes * 20, "age": list(range(20, 75)) * 4})
    assert {each["column"]: each["role"] for each in guessed.columns}["xq"] == "sensitive"
    assert "codes or names of icd-10-cm (icd-10-cm-2026): 100 % of the values match" in guessed.text


def test_a_column_of_diagnoses_as_a_quasi_identifier_is_generalized_by_chapters():
    codes = ["A00.0", "A01.0", "E11.9", "E10.9", "I10", "I11.0", "J45.20", "J44.9"]
    job = kanopy.Job(quasi=["dx"], k=10, hierarchies={"dx": {"classification": "icd-10-cm"}})
    released = kanopy.anonymize({"dx": codes * 5}, job)
    assert set(released.data["dx"]) <= set(released.report.columns[0].published_labels)
    assert all(label[0] in "AEIJ1234567890*" for label in released.data["dx"]) and released.smallest_class >= 10


def test_a_wrong_setting_of_a_classification_is_told_when_the_job_is_made():
    with pytest.raises(JobError, match="label"):
        kanopy.Job(quasi=["c"], hierarchies={"c": {"classification": "countries", "label": "code"}})


def test_fitted_levels_keep_frequent_codes_and_say_other_of_the_rest():
    column = ["United States"] * 900 + ["Canada"] * 3 + ["Mexico"] * 40 + ["Cuba"] * 4 + ["Haiti"] * 3 + ["Japan"] * 30
    h = kanopy.build_hierarchy(column, "classification", classification="countries", fit=True, k=5)
    first = {row[0]: row[1] for row in h.rows()}
    assert first["United States"] == "United States"  # three Canadians do not put it into Northern America
    assert first["Cuba"] == first["Haiti"] == first["Canada"] == "Americas, other"
    assert h.nested and all(len(set(h.labels_at(level))) == len(h.labels_at(level)) for level in range(h.height + 1))
    for level in range(1, h.height):
        held = Counter(h.generalize(value, level) for value in column)
        assert min(held.values()) >= 5
    with pytest.raises(HierarchyError, match="k is for fit = true"):
        kanopy.build_hierarchy(column, "classification", classification="countries", k=5)


@pytest.mark.slow
def test_an_official_tree_loses_hardly_more_than_one_that_is_fitted_to_the_data():
    table = adult().drop_nulls().select("native-country", "sex", "age")
    for k, algorithm in ((5, "optimal"), (20, "optimal")):
        losses = [
            kanopy.anonymize(
                table,
                kanopy.Job(
                    quasi=table.columns, k=k, suppress=0.02, algorithm=algorithm, hierarchies={"native-country": given}
                ),
            ).losses["loss"]
            for given in ({"classification": "countries", "fit": True}, {"method": "auto"})
        ]
        assert losses[0] <= 1.15 * losses[1], (k, algorithm, losses)
