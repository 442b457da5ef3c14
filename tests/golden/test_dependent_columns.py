"""Derived columns of public tables: what is made of a quasi-identifier is found, and at most one other per table.

The tables are not part of the project. `KANOPY_TABLES` names a folder with those of Rdatasets by their names there
(`wooldridge/wage1.csv`); Adult comes from where `kanopy.datasets` finds it. What is absent is skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

import kanopy
from kanopy._table.guessing.narrowing import told_of_hidden

FOLDER = Path(os.environ.get("KANOPY_TABLES", "no such folder"))
NUMBERS = ("rownames", "seqn", "id", "case")
STATES = ("hightax82", "price71", "price82", "tax71", "tax82", "price71_82", "tax71_82")
"""Prices and taxes of the state a person is from."""

TABLES: dict[str, tuple[str, str]] = {
    # table: quasi-identifiers, and columns that are made of them (or they of it)
    "adult": ("age workclass education marital-status occupation race sex native-country", "education-num"),
    "causaldata/nhefs": (
        "sex age race marital education school ht wt71 wt82 birthplace income",
        f"wt82_71 older birthcontrol {' '.join(STATES)}",
    ),
    "wooldridge/wage1": ("educ exper tenure nonwhite female married numdep", "expersq tenursq"),
    "wooldridge/card": ("age educ fatheduc motheduc black married exper south66 smsa66", "expersq"),
    "wooldridge/mroz": ("age educ husage huseduc kidslt6 kidsge6 hushrs exper city", "expersq"),
    "wooldridge/bwght": ("bwght fatheduc motheduc parity male white cigs faminc", "lbwght bwghtlbs packs lfaminc"),
    "wooldridge/sleep75": ("age educ male marr yngkid worknrm workscnd exper", "agesq totwrk"),
    "wooldridge/fertil2": ("age educ yearborn children urban electric heduc", "agesq educ0 yearfm"),
    "AER/CPS1985": ("age education ethnicity gender married region", "experience"),
    "wooldridge/affairs": (
        "male age yrsmarr kids educ occup relig ratemarr",
        "vryhap hapavg avgmarr unhap vryrel smerel slghtrel notrel",
    ),
}
HELD_OUT: dict[str, tuple[str, str]] = {
    "wooldridge/wage2": ("age educ exper tenure married black south urban sibs brthord meduc feduc", ""),
    "wooldridge/htv": ("educ exper motheduc fatheduc ne nc west south urban", "expersq"),
    "openintro/births14": ("fage mage weeks weight sex whitemom visits", "mature premie lowbirthweight"),
    "wooldridge/fringe": ("age educ exper tenure married male white depends", "tenuresq expersq"),
    "wooldridge/smoke": ("age educ income white cigs", "lincome agesq"),
}
"""Looked at once, when all thresholds were settled."""


def read(name: str) -> pl.DataFrame:
    if name == "adult":
        try:
            return kanopy.datasets.adult()
        except kanopy.KanopyError:
            pytest.skip("Adult is not here")
    if not (FOLDER / f"{name}.csv").exists():
        pytest.skip(f"KANOPY_TABLES has no {name}.csv")
    return pl.read_csv(FOLDER / f"{name}.csv", null_values=["NA", ""], infer_schema_length=None)


@pytest.mark.parametrize("name", [*TABLES, *HELD_OUT])
def test_derived_columns_are_found(name: str) -> None:
    quasi, derived = (text.split() for text in {**TABLES, **HELD_OUT}[name])
    table = read(name)
    others = [column for column in table.columns if column not in quasi and column not in NUMBERS]
    found = told_of_hidden(table, others, quasi)
    assert set(derived) <= set(found)
    assert len(set(found) - set(derived)) <= 1, {column: str(why) for column, why in found.items()}
