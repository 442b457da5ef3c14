"""First guesses at the roles of columns."""

from __future__ import annotations

import polars as pl
import pytest

from kanopy._table import datasets
from kanopy._table.guessing.guess import guess_roles
from kanopy._table.guessing.identifying_values import distinct_values, more_values, why_pointing
from kanopy._table.guessing.structure import keys_of_people
from kanopy._table.roles import Role


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Name", Role.IDENTIFIER),
        ("E-Mail", Role.IDENTIFIER),
        ("Prénom", Role.IDENTIFIER),
        ("customer_id", Role.IDENTIFIER),
        ("SSN", Role.IDENTIFIER),
        ("phoneNumber", Role.IDENTIFIER),
        ("zip_code", Role.QUASI_IDENTIFIER),
        ("PLZ", Role.QUASI_IDENTIFIER),
        ("Geburtsdatum", Role.QUASI_IDENTIFIER),
        ("dateOfBirth", Role.QUASI_IDENTIFIER),
        ("ETÀ", Role.QUASI_IDENTIFIER),
        ("gender", Role.QUASI_IDENTIFIER),
        ("estado civil", Role.QUASI_IDENTIFIER),
        ("Nationality", Role.QUASI_IDENTIFIER),
        ("Diagnosis", Role.SENSITIVE),
        ("monthly salary", Role.SENSITIVE),
        ("wave", Role.INSENSITIVE),
        ("utbildning", Role.QUASI_IDENTIFIER),
        ("fødselsår", Role.QUASI_IDENTIFIER),
        ("woonplaats", Role.QUASI_IDENTIFIER),
        ("Efternavn", Role.IDENTIFIER),
        ("Estado Civil", Role.QUASI_IDENTIFIER),
        ("rendimento mensal", Role.SENSITIVE),
        ("Codice Fiscale", Role.IDENTIFIER),
        ("situation_familiale", Role.QUASI_IDENTIFIER),
        ("Krankenkasse Diagnose", Role.SENSITIVE),
        ("EDUC", Role.QUASI_IDENTIFIER),
        ("MARST", Role.QUASI_IDENTIFIER),
        ("RELATE", Role.QUASI_IDENTIFIER),
        ("STATEFIP", Role.QUASI_IDENTIFIER),
        ("INCTOT", Role.SENSITIVE),
        ("RIDAGEYR", Role.QUASI_IDENTIFIER),
        ("ethrace2a", Role.QUASI_IDENTIFIER),
        ("votetrump", Role.SENSITIVE),
        ("gndr", Role.QUASI_IDENTIFIER),
        ("clinic_name", Role.QUASI_IDENTIFIER),
        ("wrkclss", Role.QUASI_IDENTIFIER),
        ("studage", Role.QUASI_IDENTIFIER),
        ("lectage", Role.QUASI_IDENTIFIER),
        ("suffolk", Role.QUASI_IDENTIFIER),
        ("class", Role.QUASI_IDENTIFIER),
        ("Schulklasse", Role.QUASI_IDENTIFIER),
        ("youngkids", Role.QUASI_IDENTIFIER),
        ("Kidhome", Role.QUASI_IDENTIFIER),
        ("Standort", Role.QUASI_IDENTIFIER),
        ("centro_salud", Role.QUASI_IDENTIFIER),
        ("situación_laboral", Role.QUASI_IDENTIFIER),
        ("ancienneté", Role.QUASI_IDENTIFIER),
        ("médecin_traitant", Role.IDENTIFIER),
        ("Hausarzt", Role.IDENTIFIER),
        ("Zuzahlung", Role.SENSITIVE),
        ("montant_facturé", Role.SENSITIVE),
        ("student_loans", Role.SENSITIVE),
        ("Verweildauer", Role.SENSITIVE),
        ("tensión_sistólica", Role.SENSITIVE),
        ("consentement", Role.INSENSITIVE),
        ("Geschl", Role.QUASI_IDENTIFIER),
        ("unidade_saude", Role.QUASI_IDENTIFIER),
        ("BackProblems", Role.UNDECIDED),
        ("qzx", Role.UNDECIDED),
    ],
)
def test_names_in_several_languages(name: str, role: Role) -> None:
    (guess,) = guess_roles(pl.DataFrame({name: ["a", "b", "a", "c"]}))
    assert guess.role == role and guess.column == name
    assert "3 different values in 4 records" in guess.reason


def test_values_speak_too() -> None:
    frame = pl.DataFrame(
        {
            "code": [f"X{i:05d}" for i in range(100)],
            "remark": [f"patient {i} came in with a long story to tell about everything" for i in range(100)],
            "when": [f"2020-01-{i % 28 + 1:02d}" for i in range(100)],
            "same": ["x"] * 100,
            "measure": [i + 0.25 for i in range(100)],
            "qn": [48.1 + i / 7000 for i in range(100)],
            "qc": [100 + i // 2 for i in range(100)],
            "father": [62 + i / 8 for i in range(100)],
            "void": pl.Series([None] * 100, dtype=pl.String),
            "many": [[[1], [2]]] * 100,
            "bought": [[1, 2]] * 100,
            "kind": ["a", "b"] * 50,
        }
    )
    guesses = {guess.column: guess for guess in guess_roles(frame)}
    assert guesses["code"].role == Role.IDENTIFIER and "100 of 100 records" in guesses["code"].reason
    assert guesses["remark"].role == Role.IDENTIFIER and "free text" in guesses["remark"].reason
    assert guesses["when"].role == Role.QUASI_IDENTIFIER and guesses["when"].hierarchy_hint == "date"
    assert guesses["same"].role == Role.INSENSITIVE and "same value" in guesses["same"].reason
    assert guesses["measure"].role == Role.SENSITIVE and "measured, not counted" in guesses["measure"].reason
    assert "100 records have a unique value" in guesses["measure"].reason
    for name in ("qn", "qc", "father"):  # what may be degrees of a place, counts, or the height of a father
        assert guesses[name].role in (Role.UNDECIDED, Role.QUASI_IDENTIFIER), guesses[name]
    assert guesses["void"].role == Role.INSENSITIVE and "is empty" in guesses["void"].reason
    assert guesses["many"].role == Role.IDENTIFIER
    assert guesses["kind"].role in (Role.SENSITIVE, Role.UNDECIDED)  # two kinds of what is not known
    assert guesses["bought"].role == Role.QUASI_IDENTIFIER and "lists of 2 different" in guesses["bought"].reason
    assert "neither name nor values suggest" in guesses["kind"].reason and guesses["kind"].certainty == "unsure"


def test_logarithms_are_no_degrees_of_places() -> None:
    (guess,) = guess_roles(pl.DataFrame({"qz": [7 + i * 0.01234567 for i in range(300)]}))
    assert guess.role == Role.SENSITIVE and "measured, not counted" in guess.reason


def test_yes_and_no_point_at_nobody() -> None:
    assert verdict("fin", [0, 1] * 20) is None and verdict("email", ["yes", None] * 20) is None
    assert verdict("name", ["Ann", "Bob"]) == "its name suggests a person's name"
    assert verdict("q7", [None] * 40 + ["ann@example.org"]) == "it holds an e-mail address"


def verdict(name: str, values: list[object]) -> str | None:
    return why_pointing(name, distinct_values(pl.Series(values)))


TELLING = {
    "mail": ([f"v{i % 7}" for i in range(300)] + ["ann@example.org"], "an e-mail address"),
    "phone": ([*range(100)] * 3 + ["+34 600 123 456"], "a telephone number"),
    "number": (["a", "b"] * 50 + [str(10**19 + i) for i in range(200)], "a unique text"),
    "names": (["Anna Weber", "Hans Koch", "Maria Klein", "Peter Wolf", "Claire Moreau"] * 20, "names of people"),
    "words": (["ale", "nuts", "rye"] * 100, None),
    "measure": ([i / 7 for i in range(300)], None),
    "measure as text": ([str(i / 7) for i in range(300)], None),
    "counts": ([1.0, 2.0, None] * 50, None),
    "1.5 and 1.50": (["1.5", "1.50", "2"], None),
    "lists": ([[1], [2]] * 20, "not examined"),
}


@pytest.mark.parametrize("kind", TELLING)
@pytest.mark.parametrize("seed", range(4))
def test_what_holds_a_column_back_depends_on_its_values_not_on_their_order(kind: str, seed: int) -> None:
    values, wanted = TELLING[kind]
    column = pl.Series([None if each is None else str(each) for each in values] if kind == "phone" else values)
    said = why_pointing("zq", distinct_values(column))
    assert said == wanted if wanted is None else wanted in str(said)
    again = column.sample(fraction=1, shuffle=True, seed=seed)
    assert why_pointing("zq", distinct_values(again)) == said
    if not column.dtype.is_nested():
        table = None
        for at in range(0, len(again), 37):
            table = more_values(table, again[at : at + 37])
        assert why_pointing("zq", table) == said
        assert why_pointing("zq", distinct_values(column, 2) if column.n_unique() > 2 else None) is not None


def test_a_measure_is_no_key_of_people() -> None:
    few = {"a": [i // 2 % 7 for i in range(200)], "b": [i // 4 % 5 for i in range(200)]}
    assert keys_of_people(pl.DataFrame({"platelet": [i // 2 for i in range(200)], **few})) == []
    (key,) = keys_of_people(pl.DataFrame({"zq": [i // 2 for i in range(200)], **few}))
    assert key.column == "zq" and key.hanging == ("a", "b")


def test_adult() -> None:
    for frame in (datasets.adult(), datasets.adult().cast(pl.String)):
        guesses = {guess.column: guess for guess in guess_roles(frame)}
        quasi = {name for name, guess in guesses.items() if guess.role == Role.QUASI_IDENTIFIER}
        assert quasi >= set(datasets.ADULT_QUASI_IDENTIFIERS)
        assert guesses["income"].role == Role.SENSITIVE and guesses["fnlwgt"].role == Role.WITHHELD
        assert guesses["age"].hierarchy_hint == "numeric" and guesses["sex"].hierarchy_hint == "grouping"


def test_words_of_values_speak_where_the_name_does_not() -> None:
    frame = pl.DataFrame(
        {
            "q1": ["Married", "divorced", "never married", "Widowed"] * 10,
            "q2": ["Hauptschule", "Realschule", "Abitur", "Studium"] * 10,
            "q3": ["m", "f", "f", "m"] * 10,
            "q4": ["cocaine", "heroin", "alcohol", "alcohol"] * 10,
            "q5": ["Catholic", "Muslim", "none", "Protestant"] * 10,
            "q6": ["low", "high", "high", "low"] * 10,
        }
    )
    roles = [str(guess.role) for guess in guess_roles(frame)]
    assert roles == ["quasi-identifier"] * 3 + ["sensitive"] * 3
    assert "its values suggest marital status" in guess_roles(frame)[0].reason


def test_columns_beside_each_other_share_a_role() -> None:
    frame = pl.DataFrame(
        {
            "height": [170, 180, 165, 174] * 20,
            "xheight": [160, 172, 181, 175] * 20,
            "white": [1, 0, 0, 0] * 20,
            "zzq": [0, 1, 0, 0] * 20,
            "zzr": [0, 0, 1, 1] * 20,
            "prof": [i // 2 for i in range(80)],
            "born": [1950 + i // 2 for i in range(80)],
            "weight": [1.0, 0.5, 1.5, 1.2, 0.8] * 16,
        }
    )
    guesses = {guess.column: guess for guess in guess_roles(frame)}
    assert guesses["xheight"].role == guesses["zzq"].role == guesses["zzr"].role == Role.QUASI_IDENTIFIER
    assert "excludes 'white'" in guesses["zzq"].reason
    assert guesses["prof"].role == Role.UNIT and "number them; several rows have the same" in guesses["prof"].reason
    assert guesses["weight"].role == Role.WITHHELD


def test_sensitive_values_of_one_record_each_are_named() -> None:
    (guess,) = guess_roles(pl.DataFrame({"income": [1000 + 7 * i for i in range(90)]}))
    assert guess.role == Role.SENSITIVE and "90 records have a unique value" in guess.reason


def test_keys_of_people_that_repeat_are_units_and_households_are_not() -> None:
    frame = pl.DataFrame(
        {
            "record": range(120),
            "subject_id": [row // 3 for row in range(120)],
            "sex": ["f" if row // 3 % 2 else "m" for row in range(120)],
            "household": [row // 6 for row in range(120)],
        }
    )
    roles = {guess.column: str(guess.role) for guess in guess_roles(frame)}
    assert roles["subject_id"] == "unit" and roles["record"] == "identifier" and roles["household"] == "withheld"


def roles_of(columns: dict[str, list[object]]) -> dict[str, str]:
    return {guess.column: str(guess.role) for guess in guess_roles(pl.DataFrame(columns))}


def test_what_tables_out_of_the_sample_taught() -> None:
    """General causes of wrong guesses on tables that nobody had looked at before."""
    rows = 600
    year = [2000 + i % 8 for i in range(rows)]
    found = roles_of(
        {
            "sex": ["M"] * rows,  # the same for all: still what others know
            "hiv": ["positive"] * rows,
            "batch": ["x"] * rows,
            "num_open_accounts": [i % 20 for i in range(rows)],  # counted, no number of an account
            "grade": [7 + i % 6 for i in range(rows)],  # of a school
            "year": year,
            "d3": [int(each == 2003) for each in year],  # says less of the same
            "qx": [["low", "mid", "high"][(i * 7 + i // 11) % 3] for i in range(rows)],
            "onset_sensory": [i * 3 % 40 for i in range(rows)],  # minutes, no date
            "Note": [f"remark {i % 200} on her" for i in range(rows)],
        }
    )
    wanted = {
        "sex": "quasi-identifier", "hiv": "sensitive", "batch": "insensitive", "grade": "quasi-identifier",
        "d3": "quasi-identifier", "qx": "sensitive", "Note": "identifier",
    }  # fmt: skip
    assert {name: found[name] for name in wanted} == wanted
    assert found["num_open_accounts"] != "identifier" and found["onset_sensory"] != "quasi-identifier"
    marks = roles_of({"grade": ["A", "B+", "C"] * 100})
    assert marks["grade"] == "sensitive"


def test_answers_that_exclude_known_ones_share_their_role_wherever_they_stand() -> None:
    sector = [i % 5 for i in range(500)]
    found = roles_of(
        {
            "agric": [int(s == 0) for s in sector],
            "married": [i // 7 % 2 for i in range(500)],
            "construc": [int(s == 1) for s in sector],
            "height": [150 + i % 40 for i in range(500)],
            "zq": [int(s == 2) for s in sector],
        }
    )
    assert found["zq"] == "quasi-identifier"


def test_a_row_of_answers_that_others_know_speaks_for_the_rest_of_it() -> None:
    jobs = ["Web_developer", "Systems_administrator", "Designer", "Data_scientist", "DevOps", "Graphics_xyz"]
    found = roles_of({name: [int((i * (place + 3)) % 11 < 4) for i in range(400)] for place, name in enumerate(jobs)})
    assert set(found.values()) == {"quasi-identifier"}


def test_a_part_of_a_name_does_not_publish_texts_that_point_at_one_record() -> None:
    found = roles_of({"incorporation": [f"{a}{b}holm" for a in "ABCDEFGH" for b in "uvwxyzklmno"], "age": [*range(88)]})
    assert found["incorporation"] in ("identifier", "undecided")


def test_few_values_of_unknown_meaning_are_undecided_where_they_may_be_what_others_know() -> None:
    columns: dict[str, list[object]] = {
        "qa": [0, 1, 2, 3] * 50,  # as many as children
        "qb": ["nord", "zentrum", "hafen", "berg"] * 50,  # kinds of something
        "qc": [1, 2, 5, 4, 3] * 40,  # a scale
        "qd": ["never", "rarely", "very often", "always"] * 50,  # answers
        "qe": ["x", "y"] * 100,
        "class": ["good", "bad"] * 100,  # an outcome, no social class
    }
    found = {name: roles_of({name: values})[name] for name, values in columns.items()}
    # People of a family, no numbers of them.
    assert roles_of({"num": [1, 2, 3, 4, 5, 6] * 33})["num"] == "quasi-identifier"
    assert {name: found[name] for name in ("qa", "qb")} == {"qa": "undecided", "qb": "undecided"}
    assert {found[name] for name in ("qc", "qd", "class")} == {"sensitive"}
    assert found["qe"] in ("sensitive", "undecided")


def test_values_decide_what_a_word_of_two_meanings_says() -> None:
    names = ["García", "Weber", "O'Neill", "Moreau", "Koch"]
    found = roles_of(
        {
            "zuständig": [f"Dr. {name}" for name in names] * 40,  # names of people, though each many times
            "housing_exp": [7 * i % 9000 for i in range(200)],  # expenses
            "years_exp": [i % 40 for i in range(200)],  # experience
            "cp": [i % 4 for i in range(200)],  # no post code
            "fin_indy_num": [1000 * (i % 90) for i in range(200)],  # no personal number
            "change": [(i * 37 % 200) - 100 for i in range(200)],  # below zero: no number of a record
            "capital-gains": [i * 7 for i in range(200)],
            "agent": [i % 90 for i in range(200)],  # no age
        }
    )
    assert found["zuständig"] == "identifier" and found["housing_exp"] == "sensitive"
    assert found["years_exp"] == "quasi-identifier" and found["cp"] != "quasi-identifier"
    assert found["fin_indy_num"] != "identifier" and found["change"] != "identifier"
    assert found["capital-gains"] == "sensitive" and found["agent"] != "quasi-identifier"


def test_dates_are_known_to_others_whatever_happened() -> None:
    """The day a patient was drawn into a trial was published as it is, because `random` speaks of treatment."""
    days = [f"1989-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(200)]
    for name in ("random", "diagnosis", "treatment"):
        (guess,) = guess_roles(pl.DataFrame({name: days}))
        assert guess.role == Role.QUASI_IDENTIFIER, guess


def test_numbers_of_unknown_meaning_are_judged_by_their_company() -> None:
    def numbers(place: int) -> list[int]:
        return [i * i * (place + 3) // 7 % 97 for i in range(400)]

    marks = ["skilful_qa", "skilful_qb", "skilful_qc", "skilful_qd", "skilful_qe"]
    found = roles_of({name: numbers(place) for place, name in enumerate([*marks, "zq"])})
    assert [found[name] for name in marks] == ["sensitive"] * 5 and found["zq"] == "undecided"
    ill = {name: [i * 7 % 3 for i in range(400)] for name in ("diabetes", "stroke", "asthma", "cancer")}
    clinic = ill | {"age": numbers(1), "zq": numbers(2), "zr": [3001 + 7 * each for each in numbers(3)]}
    found = roles_of(clinic)  # and codes of four digits may be those of places
    assert found["zq"] == "sensitive" and found["zr"] in ("undecided", "quasi-identifier")


def test_names_of_people_are_known_by_first_names() -> None:
    surnames = ["Koch", "Weber", "Moreau", "García", "Klein", "Wolf", "Simon"]
    first = ["Anna", "Peter", "Maria", "Hans", "Claire", "Sabine"]
    found = roles_of(
        {
            "qa": [f"{surnames[i % 7]}, {first[i % 6]}" for i in range(210)],  # each several times
            "qb": [first[i % 6] for i in range(210)],
            "qc": [
                ["North Bay", "San Jose", "Port Ann", "Lake View", "New Haven", "Santa Fe"][i % 6] for i in range(210)
            ],
            "EMERG_CONT": [f"{first[i % 6]} {surnames[i % 7]}" for i in range(210)],
            "judge": [f"Hon. {surnames[i % 7]}" for i in range(210)],
        }
    )
    assert {found[name] for name in ("qa", "qb", "EMERG_CONT", "judge")} == {"identifier"}
    assert found["qc"] != "identifier"


def test_words_that_say_a_unit_a_form_or_another_thing() -> None:
    rows = range(300)
    found = roles_of(
        {
            "PT_SEX_CD": ["F", "M", "U"] * 100,  # a code, nothing of the blood
            "CD4": [200 + i * 7 % 300 for i in rows],
            "sentence_months": [i * 7 % 240 for i in rows],
            "exp_years": [i % 40 for i in rows],
            "time": [i * 13 % 290 for i in rows],
            "accident_time": [f"{i % 24:02}:{i % 60:02}" for i in rows],
            "years": [i / 20 for i in rows],
            "default_next_month": [int(i % 3 == 0) for i in rows],
            "review": [i % 14 for i in rows],  # no free text
            "english": [i * 7 % 80 for i in rows],  # marks, no origin
            "cosign": [i * i % 5 % 2 for i in rows],  # no sign of the zodiac
            "value_eur": [1000 * (i % 90) for i in rows],
        }
    )
    assert found["PT_SEX_CD"] == found["exp_years"] == "quasi-identifier" and found["accident_time"] != "sensitive"
    for name in ("CD4", "sentence_months", "time", "years", "default_next_month", "english", "value_eur"):
        assert found[name] == "sensitive", name
    assert found["review"] == "undecided" and found["cosign"] == "sensitive"


def test_running_numbers_are_not_published() -> None:
    """The number of an interview or within a household was taken for a scale and published."""
    found = roles_of(
        {
            "enum": [1 + i % 4 for i in range(200)],
            "pernum": [1 + i * 7 % 5 for i in range(200)],
            "scale": [1 + i * i % 7 for i in range(200)],
        }
    )
    assert found == {"enum": "undecided", "pernum": "undecided", "scale": "sensitive"}
    categories = pl.DataFrame({"enum": pl.Series([str(1 + i % 4) for i in range(200)], dtype=pl.Categorical)})
    assert guess_roles(categories)[0].role == "undecided"  # numbers in categories ended in an error of Polars


def test_short_words_and_counts_that_may_be_what_others_know_are_undecided() -> None:
    rows = 400
    found = roles_of(
        {
            "rep": [["sales", "stock", "yard", "desk"][i * 7 % 4] for i in range(rows)],  # a department, not a party
            "med": [4 + i * 7 % 15 for i in range(rows)],  # a mother's years of school
            "zh": [1 + (i % 3 if i % 50 else i // 50) for i in range(rows)],  # few have many: people in a home
            "last_txn": [f"2023-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(rows)],
        }
    )
    assert found["rep"] == found["zh"] == "undecided" and found["med"] == found["last_txn"] == "quasi-identifier"
    assert roles_of({"zq": [2 + i * i % 5 for i in range(rows)]})["zq"] == "undecided"


def test_what_says_a_part_of_an_undecided_column_stays_with_it() -> None:
    years = [i * 7 % 5 for i in range(400)]
    found = roles_of(
        {"zyrs": years, "zyrs2": [int(y == 2) for y in years], "zq": [int(i * i % 7 < 3) for i in range(400)]}
    )
    assert found == {"zyrs": "undecided", "zyrs2": "undecided", "zq": "sensitive"}


def test_a_code_for_missing_makes_no_survey_weight_of_a_body_weight() -> None:
    """Weights of people were published as they are because some were 999."""
    kilos = [999 if i % 9 == 0 else 45 + i * 7 % 70 for i in range(300)]
    (guess,) = guess_roles(pl.DataFrame({"weight": kilos}))
    assert guess.role == Role.QUASI_IDENTIFIER and guess.missing == ("999",)


def test_several_codes_for_missing_are_found_together() -> None:
    columns = {
        "eduyrs": [[77, 88, 99][i % 3] if i % 10 == 0 else i % 21 for i in range(300)],
        "gndr": [9 if i % 50 == 0 else 1 + i % 2 for i in range(300)],
        "age": [18 + i % 82 for i in range(300)],  # people of 77, 88 and 99 years
        "rooms": [i % 10 for i in range(300)],
    }
    missing = {guess.column: guess.missing for guess in guess_roles(pl.DataFrame(columns))}
    assert missing == {"eduyrs": ("77", "88", "99"), "gndr": ("9",), "age": (), "rooms": ()}


def test_dates_of_what_is_harmless_are_known_to_others() -> None:
    (guess,) = guess_roles(pl.DataFrame({"visit": [f"November {1 + i % 30}, {1990 + i % 33}" for i in range(200)]}))
    assert guess.role == Role.QUASI_IDENTIFIER and guess.hierarchy_hint == "date"


def test_money_is_known_by_its_signs_and_schooling_by_its_years() -> None:
    bands = ["$0-$19,999", "$20,000-$49,999", "$50,000-$99,999", "$100,000+", "Refused"]
    found = roles_of(
        {
            "Q9": bands * 60,
            "zq": [f"{900 + i * 7 % 800} €" for i in range(300)],
            "grade76": [i * i % 19 for i in range(300)],
            "pctime": [700 + i * 13 for i in range(300)],
        }
    )
    assert found == {"Q9": "sensitive", "zq": "sensitive", "grade76": "quasi-identifier", "pctime": "sensitive"}
