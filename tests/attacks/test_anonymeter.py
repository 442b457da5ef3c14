"""On data without protection the attacks agree with anonymeter 1.1.0 within its 95 % intervals, with the same settings.

Source of the figures: anonymeter 1.1.0 (Giomi, Boenisch, Wehmeyer, Tasnádi 2023, PoPETs 2023), run on 19 November 2026
with `syn` equal to `ori`, 500 attacks, singling out by three columns (seed 1), linkability with one neighbour,
inference of a text; columns and splits are those below. Its inference takes the value of one nearest row, hence `one_row`.
"""

# ruff: noqa: E501 - tables
from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest

from kanopy.attacks.inference import inference
from kanopy.attacks.linking import linkability
from kanopy.attacks.singling_out import _measure, unique_predicates
from kanopy.attacks.tables import read_tables
from tests.shared_input import needs_shared

ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
CASES = {
    "adult": {
        "rows": (6000, 2000), "first": ["age", "education", "sex", "race"],
        "second": ["workclass", "occupation", "hours-per-week", "native-country"],
        "known": ["age", "sex", "race", "education", "native-country"], "secret": "income",
        "singling out": (0.9918854, 1.0), "linkability": (0.0276912, 0.0727264), "inference": (0.1670640, 0.4947664),
    },
    "chile": {
        "rows": (1000, None), "first": ["region", "age", "sex"], "second": ["education", "income", "population"],
        "known": ["region", "sex", "education", "income"], "secret": "vote",
        "singling out": (0.9918328, 1.0), "linkability": (0.0154651, 0.0582344), "inference": (0.0127896, 0.2051765),
    },
    "fair": {
        "rows": (1000, None), "first": ["age", "yrs_married", "children"], "second": ["religious", "educ", "occupation"],
        "known": ["age", "yrs_married", "educ", "religious"], "secret": "rate_marriage",
        "singling out": (0.9914960, 1.0), "linkability": (0.0, 0.0215938), "inference": (0.1988512, 0.3308197),
    },
}  # fmt: skip


def table_of(name: str) -> pl.DataFrame:
    if name == "adult":
        text = gzip.decompress(needs_shared("data", "adult.data.gz").read_bytes())
        frame = pl.read_csv(text, has_header=False, new_columns=ADULT).with_columns(pl.col(pl.String).str.strip_chars())
        return frame.drop("fnlwgt", "education-num", "capital-gain", "capital-loss")
    file = {"chile": "p_Chile.csv.gz", "fair": "s_fair.csv.gz"}[name]
    frame = pl.read_csv(gzip.decompress(needs_shared("data", "tables", file).read_bytes()), null_values=["NA"])
    return frame.drop_nulls() if name == "chile" else frame


@pytest.mark.parametrize("name", CASES)
def test_the_attacks_agree_with_anonymeter(name: str) -> None:
    case, table = CASES[name], table_of(name)
    rows, others = case["rows"]
    one, other = table[:rows], table[rows:] if others is None else table[rows : rows + others]
    count = min(500, other.height)

    tables = read_tables(one, one, other, quasi=table.columns)
    drawn = unique_predicates(tables, 500, np.random.default_rng(1), 3)
    found = {"singling out": _measure(tables, "three columns", drawn, np.random.default_rng(2))}

    names = case["first"] + case["second"]
    tables = read_tables(one.select(names), one.select(names), other.select(names), quasi=names)
    measured = linkability(tables, count, np.random.default_rng(1), first=case["first"], neighbours=(1,))
    found["linkability"] = measured[1]

    names = [*case["known"], case["secret"]]
    tables = read_tables(
        one.select(names), one.select(names), other.select(names), quasi=case["known"], sensitive=[case["secret"]]
    )
    found["inference"] = inference(tables, count, np.random.default_rng(1), learn=False, one_row=True)[0][0]
    for attack, each in found.items():
        low, high = case[attack]
        assert low <= each.risk.value <= high, (attack, each.risk)
