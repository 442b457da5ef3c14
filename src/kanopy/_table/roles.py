"""What a column is in a release, and a first guess at it from its name and values."""

from __future__ import annotations

import itertools
import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

import polars as pl


class Role(StrEnum):
    """The roles of a column."""

    IDENTIFIER = "identifier"
    """Says who a record is about (name, number); dropped by default."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """Others may know it about a person (age, post code); generalized."""
    SENSITIVE = "sensitive"
    """What must not be learnt about a person (diagnosis, income); published as it is, guarded by privacy models."""
    INSENSITIVE = "insensitive"
    """Neither; published as it is."""
    UNDECIDED = "undecided"
    """Nobody knows yet; not published until somebody decides."""


@dataclass(frozen=True)
class Guess:
    """A guess at a column's role, why, and what kind of hierarchy would suit it.

    `hierarchy_hint` is one of `numeric`, `date`, `mask` (codes cut from the right), `grouping` (few named values),
    `semantic` (words with a meaning) or `None`.
    """

    column: str
    role: Role
    reason: str
    hierarchy_hint: str | None


# Words as they appear in column names, in English, German, French, Spanish, Italian, Portuguese, Dutch, Turkish and
# some abbreviations, without accents. A group is what its words mean.
_IDENTIFIERS = {
    "a person's name": "name names firstname lastname surname forename fullname givenname familyname middlename maiden "
    "vorname nachname familienname nom prenom nombre apellido apellidos nome cognome sobrenome achternaam voornaam "
    "naam isim soyad soyadi soyisim username login",
    "an e-mail address": "email mail emailaddress correo courriel eposta",
    "a telephone number": "phone telephone tel mobile cell cellphone fax telefon telefono telefone handy gsm telefoon "
    "portable movil celular",
    "a personal number": "ssn socialsecurity nationalid passport passnumber taxid nhs nhsnumber cpf dni nif bsn tckn "
    "kimlik insee nir steuernummer steuerid ausweis iban account accountnumber konto kontonummer creditcard cardnumber "
    "licence license licenseplate plate kennzeichen vin mrn patientid patientnumber studentid employeeid customerid "
    "userid personid memberid caseid recordid uuid guid matricule matricula",
    "a street address": "address street streetaddress strasse adresse adress rue direccion indirizzo endereco straat "
    "adres housenumber hausnummer",
    "an address on a network": "ip ipaddress mac macaddress url website homepage cookie deviceid imei",
    "a record number": "id rowid index uid key identifier nr no number",
}
_QUASI = {
    "age": ("numeric", "age ages alter edad eta idade leeftijd yas"),
    "a date of birth": (
        "date",
        "birth birthdate birthday birthyear dob yob dateofbirth geburtsdatum geburtsjahr naissance nacimiento "
        "nascita nascimento geboortedatum dogum dogumtarihi",
    ),
    "a post code": (
        "mask",
        "zip zipcode postcode postalcode postal plz postleitzahl codepostal cp cap cep postakodu pincode",
    ),
    "sex or gender": ("grouping", "sex gender geschlecht sexe genre sexo genero sesso geslacht cinsiyet"),
    "origin": (
        "semantic",
        "nationality nation citizenship country nativecountry birthplace race ethnicity ethnic origin herkunft "
        "nationalitaet nationalitat staatsangehoerigkeit land pays nationalite nacionalidad pais nazionalita paese "
        "nacionalidade raca nationaliteit uyruk ulke",
    ),
    "a place": (
        "grouping",
        "city town municipality county state province region district residence location stadt ort gemeinde kreis "
        "bundesland ville commune departement ciudad provincia municipio citta comune cidade gemeente sehir ilce lat "
        "lon latitude longitude",
    ),
    "marital status": (
        "grouping",
        "marital maritalstatus civilstatus familienstand situationfamiliale etatcivil estadocivil statocivile "
        "burgerlijkestaat medenidurum relationship household children dependents",
    ),
    "education": (
        "grouping",
        "education educationnum educationlevel degree school schooling bildung abschluss etudes diplome educacion "
        "estudios istruzione escolaridade opleiding egitim",
    ),
    "work": (
        "semantic",
        "occupation job jobtitle profession workclass work employer employment industry beruf metier ocupacion "
        "profesion professione ocupacao profissao beroep meslek hoursperweek religion konfession language sprache",
    ),
    "body measures": ("numeric", "height weight groesse gewicht taille poids bmi altura peso"),
    "a date": (
        "date",
        "admission admissiondate discharge dischargedate visit visitdate deathdate date datum fecha data tarih",
    ),
}
_SENSITIVE = {
    "health": "diagnosis disease illness condition icd icd9 icd10 diagnose krankheit diagnostic maladie diagnostico "
    "enfermedad diagnosi malattia doenca ziekte hastalik tani medication drug drugs treatment therapy symptom hiv "
    "procedure disability bloodtype allergy outcome",
    "money": "income salary wage wages pay salaryclass earnings gehalt einkommen lohn salaire revenu ingreso ingresos "
    "salario sueldo reddito stipendio renda inkomen maas gelir debt loan balance credit creditscore capitalgain "
    "capitalloss",
    "conviction or opinion": "crime offense offence conviction vote party political opinion sexualorientation "
    "orientation union",
    "results": "grade grades score mark gpa note",
}

MANY_ALONE = 0.2
FEWEST_ROWS_TO_JUDGE = 20
LONG_TEXT = 40


def guess_roles(frame: pl.DataFrame) -> list[Guess]:
    """A guess for every column, with the reason in plain words; `kanopy init` shows and writes them down.

    Names are compared with lists of words in several languages; values tell columns that are nearly unique (they
    point at one person each) and long free texts (which may hold anything). It is a guess: read it before you rely
    on it.

    >>> [str(guess.role) for guess in guess_roles(pl.DataFrame({"Name": ["Ann"], "Alter": [41], "income": [9]}))]
    ['identifier', 'quasi-identifier', 'sensitive']
    """
    return [_guess(frame[name]) for name in frame.columns]


def _guess(column: pl.Series) -> Guess:
    name = column.name
    rows = len(column) - column.null_count()
    distinct = _distinct(column)
    numeric = _is_numeric(column)
    dates = column.dtype.is_temporal() or _looks_like_dates(column)
    shape = f"{distinct:,} different values in {rows:,} records"
    alone = _alone(column)
    unique = rows >= FEWEST_ROWS_TO_JUDGE and alone >= MANY_ALONE * rows
    measured = numeric and _has_fractions(column)

    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        return Guess(name, Role.IDENTIFIER, f"holds {column.dtype} values, which cannot be generalized", None)
    if rows == 0 or (distinct == 1 and rows > 1):
        return Guess(name, Role.INSENSITIVE, "has the same value in every record" if rows else "is empty", None)
    length = _typical_length(column)
    if length > LONG_TEXT and not dates and distinct > 50:
        reason = f"is free text ({length:.0f} characters on average): it may say anything about a person"
        return Guess(name, Role.IDENTIFIER, reason, None)

    words = _words(name)
    meaning = _meaning(words, _SENSITIVE)
    if meaning:
        return Guess(
            name, Role.SENSITIVE, f"its name speaks of {meaning}; {shape}", "numeric" if numeric else "grouping"
        )
    strong = {key: value for key, value in _IDENTIFIERS.items() if key != "a record number"}
    meaning = _meaning(words, strong)
    if meaning and not (meaning == "a person's name" and distinct < 0.1 * rows and rows >= 200):
        return Guess(name, Role.IDENTIFIER, f"its name speaks of {meaning}; {shape}", None)
    for meaning, (hint, listed) in _QUASI.items():
        if _meaning(words, {meaning: listed}):
            hint = "date" if dates else "numeric" if numeric and hint not in ("mask", "date") else hint
            return Guess(name, Role.QUASI_IDENTIFIER, f"its name speaks of {meaning}; {shape}", hint)
    if unique and not measured:
        reason = f"its value occurs only once in {alone:,} of {rows:,} records: there it points at one person"
        return Guess(name, Role.IDENTIFIER, reason, None)
    if _meaning(words, {"a record number": _IDENTIFIERS["a record number"]}) and distinct > 0.5 * rows:
        return Guess(name, Role.IDENTIFIER, f"its name speaks of a record number; {shape}", None)
    if dates:
        return Guess(name, Role.QUASI_IDENTIFIER, f"holds dates, which others may know; {shape}", "date")
    warning = f"; but {alone:,} values occur only once: check that nobody else knows them" if unique else ""
    reason = f"nothing in its name or values speaks of a person; {shape}{warning}"
    return Guess(name, Role.INSENSITIVE, reason, None)


def _words(name: str) -> set[str]:
    """The words of a column name, alone and joined, without accents: `Birth_Date` gives birth, date, birthdate."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    plain = unicodedata.normalize("NFKD", spaced.casefold().replace("ß", "ss").replace("ı", "i"))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    words = [word for word in re.split(r"[^a-z0-9]+", plain) if word]
    pairs = {first + second for first, second in itertools.pairwise(words)}
    return {*words, *pairs, "".join(words)}


def _meaning(words: set[str], groups: dict[str, str]) -> str | None:
    for meaning, listed in groups.items():
        if words & set(listed.split()):
            return meaning
    return None


def _distinct(column: pl.Series) -> int:
    return 0 if column.dtype.is_nested() or column.dtype == pl.Object else column.drop_nulls().n_unique()


def _alone(column: pl.Series) -> int:
    """How many records have a value that no other record has."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        return 0
    return int(column.drop_nulls().is_unique().sum())


def _has_fractions(column: pl.Series) -> bool:
    sample = column.drop_nulls().head(1000).cast(pl.Float64, strict=False).drop_nulls()
    return bool((sample != sample.floor()).any())


def _is_numeric(column: pl.Series) -> bool:
    if column.dtype.is_numeric():
        return True
    sample = column.drop_nulls().head(1000)
    return column.dtype == pl.String and len(sample) > 0 and sample.cast(pl.Float64, strict=False).null_count() == 0


def _looks_like_dates(column: pl.Series) -> bool:
    sample = column.drop_nulls().head(200)
    if column.dtype != pl.String or not len(sample):
        return False
    return bool(sample.str.contains(r"^\d{4}-\d\d?-\d\d?([T ].*)?$|^\d\d?[./]\d\d?[./]\d{4}$").all())


def is_text(column: pl.Series) -> bool:
    """Whether a column holds text (also as categories).

    >>> is_text(pl.Series(["a"])), is_text(pl.Series([1]))
    (True, False)
    """
    return isinstance(column.dtype, (pl.String, pl.Categorical, pl.Enum))


def _typical_length(column: pl.Series) -> float:
    if column.dtype != pl.String:
        return 0.0
    mean = column.drop_nulls().head(10_000).str.len_chars().mean()
    return float(mean) if isinstance(mean, (int, float)) else 0.0


def identifying_name(name: str) -> str | None:
    """What a column's name says about whose row it is, or `None`: such columns never leave unless the job says so.

    >>> identifying_name("patient_name"), identifying_name("age")
    ("a person's name", None)
    """
    strong = {meaning: words for meaning, words in _IDENTIFIERS.items() if meaning != "a record number"}
    return _meaning(_words(name), strong)


def identifying_column(column: pl.Series) -> str | None:
    """What makes a column point at people: its name, or the name of a record number with nearly unique values.

    >>> identifying_column(pl.Series("id", [1, 2, 3])), identifying_column(pl.Series("id", [1, 1, 1, 2]))
    ('a record number', None)
    """
    meaning = identifying_name(column.name)
    if meaning is None and _meaning(_words(column.name), {"a record number": _IDENTIFIERS["a record number"]}):
        rows = len(column) - column.null_count()
        if rows > 1 and _distinct(column) > 0.5 * rows:
            meaning = "a record number"
    return meaning
