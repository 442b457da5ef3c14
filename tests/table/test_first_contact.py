"""What people try first: surveys, trials, linking columns and words that earlier versions guessed wrong (issue 30)."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy._table.guessing.guess import Guess, guess_roles
from kanopy._table.roles import Role

ROWS = 300
DRAW = random.Random(30)
HOUSEHOLDS = [row // 3 for row in range(ROWS)]


def guesses(columns: dict[str, list[Any]]) -> dict[str, Guess]:
    return {guess.column: guess for guess in guess_roles(pl.DataFrame(columns, strict=False))}


def drawn(values: list[Any], rows: int = ROWS) -> list[Any]:
    return [DRAW.choice(values) for _ in range(rows)]


def test_eu_silc_has_households_and_weights() -> None:
    weights = [600.5 + 37.25 * (household % 9) for household in HOUSEHOLDS]
    table = {
        "db030": HOUSEHOLDS,
        "db040": drawn(["Tyrol", "Vienna", "Styria"]),
        "age": [DRAW.randrange(0, 90) for _ in range(ROWS)],
        "rb090": drawn(["male", "female"]),
        "pl030": drawn([1, 2, 3, 4]),
        "pb220a": drawn(["AT", "EU", "Other"]),
        "db090": weights,
        "rb050": weights,
    }
    found = guesses(table)
    assert found["db030"].role == Role.WITHHELD and found["db030"].kind == "household"
    assert found["db090"].role == found["rb050"].role == Role.WITHHELD and found["rb050"].kind == "weight"
    assert "EU-SILC" in found["db030"].reason and "place" not in found["db090"].reason
    guessed = kanopy.guess_job(table)
    assert guessed.job.sampling_weight == "rb050"
    assert [model.name for model in guessed.job.models][:1] == ["individual-risk"]
    assert {"db030", "db090", "rb050"} <= set(guessed.job.withheld)


def test_the_example_file_of_sdcmicro() -> None:
    found = guesses(
        {
            "urbrur": drawn([1, 2]),
            "roof": drawn([2, 4, 5, 9]),
            "walls": drawn([2, 3, 9]),
            "water": drawn([1, 3, 4, 7]),
            "electcon": drawn([1, 2, 4]),
            "relat": drawn([1, 2, 3, 5]),
            "sex": drawn([1, 2]),
            "age": [DRAW.randrange(1, 90) for _ in range(ROWS)],
            "hhcivil": drawn([1, 2, 3, 4]),
            "ori_hid": HOUSEHOLDS,
            "sampling_weight": [100] * ROWS,
            "household_weights": [25.0 + household % 4 for household in HOUSEHOLDS],
        }
    )
    assert (found["sampling_weight"].role, found["sampling_weight"].kind) == (Role.WITHHELD, "weight")
    assert found["household_weights"].role == Role.WITHHELD
    assert (found["ori_hid"].role, found["ori_hid"].kind) == (Role.WITHHELD, "household")
    assert {name for name, guess in found.items() if guess.role == Role.QUASI_IDENTIFIER} >= {"age", "sex", "relat"}


def test_the_design_of_nhanes_is_withheld() -> None:
    found = guesses(
        {
            "SEQN": [*range(1000, 1000 + ROWS)],
            "SDMVPSU": drawn([1, 2]),
            "SDMVSTRA": [DRAW.randrange(90, 105) for _ in range(ROWS)],
            "WTMEC2YR": [5000 + 91.5 * (row % 83) for row in range(ROWS)],
            "RIAGENDR": drawn([1, 2]),
            "RIDRETH1": drawn([1, 2, 3, 4, 5]),
            "RIDAGEYR": [DRAW.randrange(1, 80) for _ in range(ROWS)],
        }
    )
    assert found["RIDRETH1"].role == Role.QUASI_IDENTIFIER, "origin is what others may know"
    assert {found[name].role for name in ("SDMVPSU", "SDMVSTRA", "WTMEC2YR")} == {Role.WITHHELD}
    assert found["WTMEC2YR"].kind == "weight" and found["SEQN"].role == Role.IDENTIFIER


def test_strata_and_clusters_beside_a_weight_are_withheld() -> None:
    table = {
        "weight": [3.8 + 1.25 * (row % 90) for row in range(ROWS)],
        "stratum": drawn([101, 102, 203, 210, 212]),
        "psu": drawn([270530, 391710, 10530, 40130, 60130]),
        "age": drawn([*range(18, 80)]),
    }
    found = guesses(table)
    assert [found[name].kind for name in ("weight", "stratum", "psu")] == ["weight", "stratum", "cluster"]
    assert guesses({name: table[name] for name in ("stratum", "age")})["stratum"].role == Role.QUASI_IDENTIFIER


def test_short_words_do_not_publish_numbers_of_records() -> None:
    """`pid` is a party or a person, `rx` a prescription or a register: the values tell."""
    rows = 4 * ROWS
    households = [10_000 + 7 * (row // 2) for row in range(rows)]
    persons = [household + (row % 2 + 1) / 10 for row, household in enumerate(households)]
    hsize = [1 + household % 5 for household in households]
    found = guesses({"pid": persons, "personid": persons, "rx": households, "hsize": hsize})
    assert not {found[name].role for name in ("pid", "rx")} & {Role.SENSITIVE, Role.INSENSITIVE}, found
    parties = guesses({"pid": drawn([1, 2, 3, 4]), "age": drawn([*range(18, 80)])})
    assert parties["pid"].role == Role.SENSITIVE


def test_answers_that_many_columns_share_are_a_battery() -> None:
    table = {f"zq{word}": drawn(["nul", "fai", "moy", "for"]) for word in ("ab", "ec", "id", "of", "ug")}
    found = guesses(table | {"zqli": drawn(["nord", "mitte", "hafen"])})
    assert {found[name].role for name in table} == {Role.SENSITIVE} and found["zqli"].role == Role.UNDECIDED


def test_replicate_weights_are_withheld() -> None:
    weight = [20 + 3.5 * (row % 23) for row in range(ROWS)]
    table: dict[str, list[Any]] = {"finalwgt": weight, "age": [DRAW.randrange(18, 90) for _ in range(ROWS)]}
    table |= {f"bsrw{at}": [each * DRAW.choice([0, 1, 2]) for each in weight] for at in range(1, 13)}
    found = guesses(table)
    assert {guess.role for name, guess in found.items() if name != "age"} == {Role.WITHHELD}
    assert found["finalwgt"].kind == "weight" and "replicate weight" in found["bsrw7"].reason


def trial(rows_of_each: int = 5, persons: int = 60) -> dict[str, list[Any]]:
    persons_of_rows = [row // rows_of_each for row in range(rows_of_each * persons)]
    rows = len(persons_of_rows)
    return {
        "STUDYID": ["CDISCPILOT01"] * rows,
        "DOMAIN": ["AE"] * rows,
        "USUBJID": [f"01-701-{1000 + person}" for person in persons_of_rows],
        "AESEQ": [1 + row % rows_of_each for row in range(rows)],
        "AETERM": drawn(["HEADACHE", "NAUSEA", "RASH", "PRURITUS", "DIZZINESS"], rows),
        "AESEV": drawn(["MILD", "MODERATE", "SEVERE"], rows),
        "AGE": [50 + person % 30 for person in persons_of_rows],
        "SEX": ["FM"[person % 2] for person in persons_of_rows],
        "DTHFL": ["Y" if person == 7 else "" for person in persons_of_rows],
    }


def test_a_clinical_trial_counts_people() -> None:
    found = guesses(trial())
    assert found["USUBJID"].role == Role.UNIT and found["AETERM"].role == Role.SENSITIVE
    assert found["DTHFL"].role not in (Role.INSENSITIVE,) and "same value" not in found["DTHFL"].reason
    guessed = kanopy.guess_job(trial())
    assert guessed.job.unit == ("USUBJID",)
    published = kanopy.anonymize(trial(), guessed.job.replaced(algorithm="datafly", parameters={}))
    assert "USUBJID" not in published.data and not any("key of people" in note for note in published.notes)


def test_a_blank_is_no_value() -> None:
    marked = guesses({"zqfl": ["Y"] * 3 + [""] * 297, "age": drawn([*range(20, 60)])})["zqfl"]
    assert marked.role != Role.INSENSITIVE and "same value in every record" not in marked.reason


def test_a_number_that_links_the_visits_of_a_person_is_withheld() -> None:
    persons = [row // 4 for row in range(240)]
    found = guesses(
        {
            "id": persons,
            "futime": [400 + 37 * person for person in persons],
            "sex": ["fm"[person % 2] for person in persons],
            "bili": [round(0.5 + DRAW.random() * 9, 1) for _ in persons],
        }
    )
    assert found["id"].role == Role.UNIT and found["futime"].role == Role.WITHHELD
    assert "links their records" in found["futime"].reason


def test_a_difference_of_weights_is_no_survey_weight() -> None:
    before = [round(50 + DRAW.random() * 60, 2) for _ in range(ROWS)]
    after = [round(each + DRAW.gauss(2, 8), 2) for each in before]
    table = {
        "wt71": before,
        "wt82": after,
        "wt82_71": [round(b - a, 2) for a, b in zip(before, after, strict=True)],
        "sex": drawn([0, 1]),
        "age": [DRAW.randrange(25, 75) for _ in range(ROWS)],
    }
    assert guesses({"wgt.z": [b - 80 for b in before], "sex": table["sex"]})["wgt.z"].kind == ""
    guess = guesses(table)["wt82_71"]
    assert "survey weight" not in guess.reason and guess.role != Role.INSENSITIVE
    job = kanopy.guess_job(table).job
    assert "wt82_71" not in (*job.insensitive, *job.sensitive)


def test_what_is_weighed_is_no_sampling_weight() -> None:
    """The weight of a car became the sampling weight of its job, which then ended in an error."""
    around_one = [0.4 + 0.3 * (row % 5) + (4.5 if row == 7 else 0) for row in range(ROWS)]
    people = {"age": [DRAW.randrange(18, 90) for _ in range(ROWS)], "educ": drawn([8, 10, 12, 16])}
    assert guesses({"weight": around_one, **people})["weight"].kind == "weight"
    assert guesses({"weight": around_one, "colour": drawn(["red", "blue"])})["weight"].kind == ""
    pounds = [1800 + DRAW.randrange(2500) for _ in range(ROWS)]
    cars = {"Weight": pounds, "Length": [120 + weight // 25 for weight in pounds], "Type": drawn(["van", "sedan"])}
    grams = [DRAW.gauss(3300, 500) for _ in range(ROWS)]
    fish = {
        "weight": [weight // 10 for weight in pounds],
        "length": pounds,
        "age": drawn([*range(9)]),
        "sex": drawn("fm"),
    }
    for things in (cars, fish, {"weight": grams, **people}):
        name = next(iter(things))
        assert guesses(things)[name].role == Role.QUASI_IDENTIFIER, name
        assert kanopy.guess_job(things).job.sampling_weight is None


@pytest.mark.parametrize("odd", ["NA", None, "-1", "0", "many"])
def test_a_weight_that_is_missing_somewhere_is_not_used_and_the_job_runs(odd: str | None) -> None:
    weights = [f"{100.5 + 7 * (row % 90)}" for row in range(ROWS)]
    table = {"age": [20 + row % 40 for row in range(ROWS)], "sex": drawn(["m", "f"]), "sampling_weight": weights}
    assert kanopy.guess_job(table).job.sampling_weight == "sampling_weight"
    guessed = kanopy.guess_job({**table, "sampling_weight": [*weights[:-1], odd]})
    assert guessed.job.sampling_weight is None and kanopy.anonymize(table, guessed.job).smallest_class >= 5


def test_chances_of_being_drawn_are_no_weights() -> None:
    table = {"age": [20 + row % 40 for row in range(ROWS)], "incl.prob": drawn([0.02, 0.14, 0.05])}
    guessed = kanopy.guess_job(table)
    assert guessed.job.sampling_weight is None and any("'incl.prob' is not used" in note for note in guessed.decide)


def test_numbers_that_say_what_dates_say_are_not_called_dates() -> None:
    """The number of a week's stories, and the days of a treatment, were dates in an unknown format."""
    weeks = [f"2019-{1 + row // 40:02}-{1 + row // 10 % 4 * 7:02}" for row in range(ROWS)]
    stories = ["NA" if row // 10 == 3 else f"{900 + 17 * (row // 10)}.5" for row in range(ROWS)]
    guessed = kanopy.guess_job({"week": weeks, "all_stories": stories, "age": drawn([*range(20, 60)])})
    assert not any("unknown format" in note for note in guessed.decide)


def test_subjects_of_lessons_are_no_persons() -> None:
    lessons = drawn(["Modern Art", "Human Biology", "World History", "Art and Design", "Applied Mathematics"] * 5)
    found = guesses({"subject": lessons, "room": [f"R{lesson[:3]}" for lesson in lessons], "age": drawn([*range(9)])})
    assert found["subject"].role not in (Role.UNIT, Role.IDENTIFIER)


def test_names_of_things_are_not_called_names_of_people() -> None:
    """A weather station's name and a column of answers called doctor were called names of people."""
    stations = [
        f"{place} AIRPORT, {state} US"
        for place in ["ADAK", "BOISE", "CAIRO", "DOVER", "ELKO"]
        for state in ["NY", "PA"]
    ]
    weather = guesses({"NAME": stations * 30, "TMAX": drawn([*range(40)]), "PRCP": drawn([0.1, 0.3, 2.5])})["NAME"]
    assert weather.role == Role.UNDECIDED and "person" not in weather.reason.partition(";")[0]
    cars = guesses({"name": [f"chevrolet model {row}" for row in range(ROWS)], "hp": drawn([*range(90)])})["name"]
    assert cars.role == Role.IDENTIFIER and "look like names of things" in cars.reason
    doctor = guesses({"doctor": drawn(["never", "once", "often"]), "age": drawn([*range(20, 60)])})["doctor"]
    assert doctor.role != Role.IDENTIFIER and "name of a" not in doctor.reason
    somebody = {"age": drawn([*range(20, 60)]), "educ": drawn([8, 10, 12, 16])}
    for names in (["Ann Lee", "Ben Shaw", "Cleo Katz"], ["Nkiruka Obi", "Zdzislaw Wrona", "Yerlan Abay"]):
        listed = [
            f"{name}{'abcdefghij'[row % 10]}{'klmnopqrst'[row // 10 % 10]}" for row in range(100) for name in names
        ]
        assert guesses({"name": listed, **somebody})["name"].role == Role.IDENTIFIER


def test_values_that_most_people_have_alone_are_named_once() -> None:
    table = {"Fare": [round(7 + 0.37 * row, 2) for row in range(ROWS)], "Sex": drawn(["male", "female"])}
    decide = kanopy.guess_job(table).decide
    assert sum("'Fare'" in line for line in decide) == 1


@pytest.mark.parametrize(
    ("name", "values", "roles"),
    [
        ("Group", ["Demented", "Nondemented", "Converted"], "s?"),
        ("demo_group", ["patient", "client", "other adult", "misc adult"], "q?s"),
        ("grade", ["9", "10", "11", "12", "other"], "q"),
        ("zon", ["A", "B", "C", "D"], "q?"),
        ("性别", ["男", "女"], "q"),
        ("年龄", [23, 35, 47, 59, 61, 30], "q"),
        ("возраст", [23, 35, 47, 59, 61, 30], "q"),
        ("성별", ["남", "여"], "q"),
        ("診断名", ["糖尿病", "高血圧", "喘息"], "s"),
        ("الجنس", ["ذكر", "أنثى"], "q"),
        ("आयु", [23, 35, 47, 59, 61, 30], "q"),
    ],
)
def test_words_of_names_and_values(name: str, values: list[Any], roles: str) -> None:
    guess = guesses({name: drawn(values), "k": [*range(ROWS)]})[name]
    letter = {"quasi-identifier": "q", "sensitive": "s", "undecided": "?"}.get(guess.role, "-")
    assert letter in roles, guess
    assert not (guess.certainty == "sure" and guess.role == Role.INSENSITIVE)


def test_names_of_persons_in_chinese_are_identifiers() -> None:
    names = ["王伟", "李娜", "张敏", "刘静", "陈丽", "杨强", "赵磊", "黄军", "周洋", "吴勇", "徐艳", "孙杰", "马娟"]
    assert guesses({"姓名": drawn(names), "性别": drawn(["男", "女"])})["姓名"].role == Role.IDENTIFIER


def italian(at: int) -> str:
    """A valid Italian tax code of nobody."""
    from stdnum.it import codicefiscale

    body = f"RSS{'BCDFGLMN'[at % 8]}RA{50 + at % 50:02}A{1 + at % 28:02}H501"
    return body + codicefiscale.calc_check_digit(body)


def nhs(at: int) -> str:
    """A number with the check digit of the National Health Service."""
    digits = f"9{at:08}"
    check = 11 - sum(int(digit) * (10 - place) for place, digit in enumerate(digits)) % 11
    return "" if check == 10 else f"{digits[:3]} {digits[3:6]} {digits[6:]}{check % 11}"


def iban(at: int, right: bool = True) -> str:
    account = f"50010517{5407324000 + at:010}"
    check = 98 - int(f"{account}131400") % 97
    return f"DE{check if right else (check + 1) % 97:02}{account}"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([italian(at) for at in range(100)], "Italian tax codes"),
        ([number for at in range(120) if (number := nhs(at * 7919))][:100], "National Health|NHS"),
        ([iban(at * 7) for at in range(100)], "IBAN"),
    ],
)
def test_numbers_of_people_are_known_by_their_check_digits(values: list[str], said: str) -> None:
    (guess,) = guess_roles(pl.DataFrame({"zq": values}))
    assert guess.role == Role.IDENTIFIER and any(each in guess.reason for each in said.split("|")), guess.reason
    assert "telephone" not in guess.reason


def test_an_iban_with_a_wrong_checksum_is_not_called_one_and_stays_in() -> None:
    (guess,) = guess_roles(pl.DataFrame({"zq": [iban(at * 7, right=False) for at in range(100)]}))
    assert guess.role == Role.IDENTIFIER and "IBAN" not in guess.reason


def test_sure_needs_values_that_agree() -> None:
    contradicted = guesses({"wave": [f"{row * 7919 % 99991}" for row in range(ROWS)], "age": drawn([*range(9)])})
    assert contradicted["wave"].certainty != "sure"


def test_words_for_peoples_are_not_grouped_by_a_thesaurus() -> None:
    table = {"ethnicity": drawn(["arabic", "caucasian", "asian", "african", "black"]), "age": drawn([*range(20, 60)])}
    guessed = kanopy.guess_job(table)
    assert guessed.columns[0]["hierarchy"] != "ontology"


def test_the_key_of_a_panel_is_the_person_although_nothing_is_constant_within_one() -> None:
    people, years = range(40), range(1979, 1989)
    rows = [(person, year, 7.0 + (person * year) % 13 / 10, (person + year) % 5) for person in people for year in years]
    panel = pl.DataFrame(rows, schema=["id", "year", "wage", "kids"], orient="row")
    assert {each["column"]: each["role"] for each in kanopy.guess_job(panel).columns}["id"] == "unit"
    torn = kanopy.guess_job(panel[:-1])  # a panel with a gap is none for sure: a note asks
    assert {each["column"]: each["role"] for each in torn.columns}["id"] != "unit"
