"""Files of odd shape are read right, or refused in words: never misread in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.table.odd_files import Odd, cases, outcome
from tests.table.odd_tables import FIRST, SECOND

pytest.importorskip("fastexcel", reason="pip install 'kanopy[excel]'")
pytest.importorskip("xlsxwriter", reason="pip install 'kanopy[excel]'")


@pytest.mark.parametrize("odd", list(cases(FIRST)), ids=lambda odd: odd.name)
def test_an_odd_file_is_read_right_or_refused(odd: Odd, tmp_path: Path) -> None:
    assert outcome(odd, tmp_path) == ("refused" if odd.refused else "right")


@pytest.mark.parametrize("odd", list(cases(SECOND, 3)), ids=lambda odd: odd.name)
def test_other_odd_files_are_never_misread_in_silence(odd: Odd, tmp_path: Path) -> None:
    found = outcome(odd, tmp_path)
    assert found.startswith(("right", "refused")), found


def test_there_are_enough_of_them() -> None:
    assert sum(1 for _ in cases(FIRST)) >= 120
