"""Numbers that are given to people, told by their check digits (python-stdnum) and not by their form alone.

A column holds such numbers if four in five of its different values pass the check. A single check digit lets one in ten
of any numbers pass, so a few values of another kind are not mistaken for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from kanopy._table.guessing.value_kinds import MOSTLY, TEXTS, Values

FORMS: tuple[tuple[str, str], ...] = (
    ("iban", "IBANs"),
    ("gb.nhs", "numbers of the British health service (NHS)"),
    ("it.codicefiscale", "Italian tax codes"),
    ("es.dni", "Spanish identity numbers (DNI)"),
    ("es.nie", "Spanish numbers of foreigners (NIE)"),
    ("fr.nir", "French social security numbers (NIR)"),
    ("de.idnr", "German tax numbers"),
    ("at.vnr", "Austrian social security numbers"),
    ("ch.ssn", "Swiss social security numbers"),
    ("be.nn", "Belgian national numbers"),
    ("nl.bsn", "Dutch citizen numbers (BSN)"),
    ("dk.cpr", "Danish personal numbers (CPR)"),
    ("se.personnummer", "Swedish personal numbers"),
    ("no.fodselsnummer", "Norwegian birth numbers"),
    ("fi.hetu", "Finnish personal codes"),
    ("is_.kennitala", "Icelandic identity numbers"),
    ("pl.pesel", "Polish personal numbers (PESEL)"),
    ("cz.rc", "Czech birth numbers"),
    ("ro.cnp", "Romanian personal numbers (CNP)"),
    ("bg.egn", "Bulgarian personal numbers (EGN)"),
    ("hr.oib", "Croatian personal numbers (OIB)"),
    ("ee.ik", "Estonian personal codes"),
    ("gr.amka", "Greek social security numbers"),
    ("pt.nif", "Portuguese tax numbers (NIF)"),
    ("ie.pps", "Irish personal public service numbers"),
    ("ru.inn", "Russian tax numbers (INN)"),
    ("ua.rntrc", "Ukrainian tax numbers"),
    ("tr.tckimlik", "Turkish identity numbers"),
    ("il.idnr", "Israeli identity numbers"),
    ("za.idnr", "South African identity numbers"),
    ("br.cpf", "Brazilian personal numbers (CPF)"),
    ("cl.rut", "Chilean identity numbers (RUT)"),
    ("ar.cuit", "Argentine tax numbers (CUIT)"),
    ("mx.curp", "Mexican population codes (CURP)"),
    ("ec.ci", "Ecuadorian identity numbers"),
    ("uy.rut", "Uruguayan tax numbers"),
    ("cn.ric", "Chinese identity numbers"),
    ("kr.rrn", "Korean resident numbers"),
    ("in_.aadhaar", "Indian identity numbers (Aadhaar)"),
    ("th.pin", "Thai personal numbers"),
    ("ca.sin", "Canadian social insurance numbers"),
    ("luhn", "card numbers"),
)
"""Modules of python-stdnum, and what their numbers are called."""
SHORTEST, LONGEST, FEWEST, TRIED, ENOUGH = 8, 40, 5, 5, 200
CARD = re.compile(r"(?:\d[ -]?){13,19}")
IDENTITY = re.compile(r"(?=(?:.*\d){6})[A-Za-z0-9][A-Za-z0-9 ./+-]{6,38}[A-Za-z0-9]")


@cache
def _check(module: str) -> Any:
    return import_module(f"stdnum.{module}").is_valid


def number_of_people(seen: Values) -> str | None:
    """What kind of numbers of people the values of a column are, by their check digits; `None` if they are none.

    >>> import polars as pl
    >>> nhs = pl.Series(["943 476 5919", "943 476 5870", "987 654 4321", "401 023 2137", "912 345 6702"])
    >>> number_of_people(Values(nhs.head(4))), number_of_people(Values(pl.Series([1, 2, 3])))
    (None, None)
    """
    if seen.nested or seen.distinct < FEWEST or seen.fractions or seen.column.dtype.is_temporal():
        return None
    if not (isinstance(seen.column.dtype, TEXTS) or seen.column.dtype.is_integer()):
        return None
    return kind_of_numbers(seen.sample.head(ENOUGH).to_list())


def kind_of_numbers(texts: Sequence[str]) -> str | None:
    """What kind of numbers of people these texts are.

    >>> kind_of_numbers(["RSSMRA85T10A562S", "RSSMRA85T10A562S", "BNCGVN70A01H501S", "VRDLGI80A01F205N"])
    """
    likely = [text for text in texts if SHORTEST <= len(text) <= LONGEST and IDENTITY.fullmatch(text)]
    if len(likely) < max(FEWEST, MOSTLY * len(texts)):
        return None
    for module, words in FORMS:
        if module == "luhn" and sum(bool(CARD.fullmatch(text)) for text in likely[:TRIED]) < TRIED:
            continue
        valid = _check(module)
        if sum(map(valid, likely[:TRIED])) >= TRIED // 2 and sum(map(valid, likely)) >= MOSTLY * len(texts):
            return words
    return None
