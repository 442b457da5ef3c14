"""The 18 identifiers of Safe Harbor are found in 30 spellings and formats, and hardly anything else is."""

# ruff: noqa: E501 - formats
from __future__ import annotations

import gzip
import random

import polars as pl
import pytest

from kanopy.attacks.safe_harbor import LETTERS, safe_harbor
from tests.attacks.test_anonymeter import table_of
from tests.shared_input import needs_shared

FIRST, LAST = (
    ["Anna", "James", "Maria", "Peter", "Linda", "Susan"],
    ["Miller", "Garcia", "Chen", "Novak", "Brown", "Silva"],
)


def digits(draw: random.Random, form: str) -> str:
    return "".join(draw.choice("0123456789") if each == "#" else each for each in form)


def phone(draw: random.Random, form: str) -> str:
    return digits(draw, form.replace("N", str(draw.randint(2, 9))))


NAMES = {
    "A": ["name", "Last Name", "patient_name", "SURNAME", "FirstName", "next_of_kin"],
    "B": ["zip", "ZipCode", "street_address", "city", "County", "postal_code"],
    "C": ["dob", "Date of Birth", "admission_date", "DischargeDate", "visit date", "birthdate"],
    "D": ["phone", "Telephone", "mobile_no", "home phone", "tel", "CellPhone"],
    "E": ["fax", "Fax Number", "fax_no", "FAX", "facsimile", "telefax"],
    "F": ["email", "E-Mail", "email_address", "EMAIL", "contact", "mail"],
    "G": ["ssn", "SSN", "social_security_number", "SocialSecurity", "soc_sec_no", "col7"],
    "H": ["mrn", "MedicalRecordNumber", "chart_no", "patient_id", "MRN", "medical record number"],
    "I": ["member_id", "beneficiary number", "HICN", "policy_number", "MedicareNumber", "subscriber id"],
    "J": ["account", "acct_no", "IBAN", "credit card", "BankAccount", "account_number"],
    "K": ["license_no", "Passport", "drivers license", "certificate_number", "DriversLicence", "npi"],
    "L": ["vin", "VIN", "license_plate", "LicensePlate", "vehicle_id", "plate_no"],
    "M": ["device_id", "SerialNumber", "imei", "implant_id", "mac address", "serial_no"],
    "N": ["url", "website", "HomePage", "link", "web", "profile_url"],
    "O": ["ip", "ip_address", "IPAddr", "client ip", "ipv6", "remote_addr"],
    "P": ["fingerprint", "voice_print", "RetinaScan", "biometric", "face_template", "dna_profile"],
    "Q": ["photo", "Picture", "face_image", "portrait", "photo_file", "image"],
    "R": ["uuid", "subject", "participant_id", "RecordID", "study id", "user_id"],
}


def value_of(draw: random.Random, letter: str, form: int) -> str:
    hexes = "".join(draw.choice("0123456789abcdef") for _ in range(32))
    first, last = draw.choice(FIRST), draw.choice(LAST)
    code = draw.choice(["A#######", "########", "###-##-####X", "B##-#####", "####-####-#", "Z#########"])
    forms = {
        "A": [f"{first} {last}", f"{last}, {first}", f"{first}", f"{first} X. {last}", f"{last}"],
        "B": [digits(draw, "1####"), digits(draw, "9####-####"), f"{draw.randint(1, 999)} Oak Street", last + "ville", last],
        "C": [f"19{draw.randint(50, 99)}-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}", f"0{draw.randint(1, 9)}/2{draw.randint(0, 8)}/19{draw.randint(50, 99)}",
              f"{draw.randint(1, 28)} March 19{draw.randint(50, 99)}", f"Mar {draw.randint(1, 28)}, 2001", f"2003-0{draw.randint(1, 9)}"],
        "D": [phone(draw, "(N##) N##-####"), phone(draw, "N##-N##-####"), phone(draw, "+1 N## N## ####"), phone(draw, "N##.N##.####"), phone(draw, "+49 30 #######")],
        "E": [phone(draw, "(N##) N##-####"), phone(draw, "N##-N##-####"), phone(draw, "+1 N## N## ####"), phone(draw, "N##.N##.####"), phone(draw, "+44 20 ########")],
        "F": [f"{first}.{last}@example.org", f"{last}{draw.randint(1, 99)}@mail.example.com", f"{first} <{first}@example.net>", f"{last} (at) example.com", f"mailto:{last}@example.org"],
        "G": [f"{draw.randint(100, 665)}-{draw.randint(10, 99)}-{draw.randint(1000, 9999)}", f"{draw.randint(100, 665)} {draw.randint(10, 99)} {draw.randint(1000, 9999)}"],
        "N": [f"https://example.org/{last}", f"www.example.com/{first}", f"http://{last}.example.net", f"example.org/{last}{draw.randint(1, 99)}"],
        "O": [f"{draw.randint(1, 223)}.{draw.randint(0, 255)}.{draw.randint(0, 255)}.{draw.randint(1, 254)}", f"2001:db8::{draw.randint(1, 9999):x}", f"10.0.{draw.randint(0, 255)}.7:80"],
        "P": [hexes, hexes[:20], "template-" + hexes[:8]],
        "Q": [f"{last}{draw.randint(1, 99)}.jpg", f"img_{draw.randint(1, 9999)}.PNG", f"scans/{last}.jpeg"],
        "R": [f"{hexes[:8]}-{hexes[8:12]}-{hexes[12:16]}-{hexes[16:20]}-{hexes[20:]}", hexes, digits(draw, "S-#####"), digits(draw, "P#######")],
    }.get(letter, [digits(draw, code)])  # fmt: skip
    return forms[form % len(forms)]


@pytest.mark.parametrize("form", range(30))
def test_all_18_are_found(form: int) -> None:
    """Names change with every form, formats of values as well: 30 tables with 18 identifiers each."""
    draw = random.Random(form)
    columns = {
        "region": ["north", "south"] * 20,
        "diagnosis": ["flu", "cold", "asthma", "none"] * 10,
        "age": ["30-39"] * 40,
    }
    called = {}
    for letter in LETTERS:
        name = NAMES[letter][form % 6]
        # One format per column, which is how tables come.
        own = draw.randrange(30)
        if letter == "B" and "zip" not in name.lower() and "postal" not in name:
            own = 2 + own % 3
        elif letter == "B":
            own = own % 2
        columns[name] = [value_of(draw, letter, own) for _ in range(40)]
        called[letter] = name
    found = {each.column: each.letter for each in safe_harbor(pl.DataFrame(columns))}
    assert {letter: found.get(name) for letter, name in called.items()} == {letter: letter for letter in LETTERS}
    assert not set(found) - set(called.values())


def test_ages_dates_and_places() -> None:
    table = pl.DataFrame({
        "age": ["34", "90+", "≥ 90"], "patient age": ["[90, 94]", "34", "50"], "year": [1999, 2001, 2004],
        "birth_year": [1920, 1980, 1990], "zip": ["021", "100", "000"], "zip3": ["036", "100", "100"],
        "quarter": ["2020-Q1", "2020-Q2", "2020-Q3"], "decade": ["1990s", "2000s", "1990s"],
    })  # fmt: skip
    found = {each.column: each.letter for each in safe_harbor(table)}
    assert found == {"patient age": "C", "birth_year": "C", "zip3": "B", "quarter": "C"}


@pytest.mark.parametrize("name", ["adult", "eusilc", "chile", "fair", "wage1"])
def test_at_most_one_false_alarm(name: str) -> None:
    """Ages above 89 in Adult and EU-SILC are identifiers of letter C, and no false alarms."""
    if name == "eusilc":
        raw = gzip.decompress(needs_shared("data", "eusilc.csv.gz").read_bytes())
        table = pl.read_csv(raw, infer_schema_length=10_000, null_values=["NA"])
    elif name == "wage1":
        table = pl.read_csv(gzip.decompress(needs_shared("data", "tables", "w_wage1.csv.gz").read_bytes()))
    else:
        table = table_of(name)
    alarms = [each for each in safe_harbor(table) if "ages above" not in each.why]
    assert len(alarms) <= 1, alarms
