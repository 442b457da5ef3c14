"""The scanner of delimited text agrees with its plain twin and with the csv module."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._table.records_kernel import scan_records


def scan(scanner, text: str, fields: int, quote: int = 34):  # type: ignore[no-untyped-def]
    bad, blank = np.zeros((5, 2), np.int64), np.zeros(5, np.int64)
    data = np.frombuffer(text.encode(), np.uint8)
    return scanner(data, ord(","), quote, 10, fields, bad, blank), bad.tolist(), blank.tolist()


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='ab,"\n\r', max_size=40), st.integers(1, 3), st.sampled_from([0, 34]))
def test_scanner_agrees_with_its_twin(text: str, fields: int, quote: int) -> None:
    assert scan(scan_records, text, fields, quote) == scan(scan_records.plain, text, fields, quote)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.lists(st.text(alphabet='ab,"\n ', min_size=1, max_size=4), min_size=2, max_size=4), min_size=1, max_size=8
    )
)
def test_well_formed_text_has_the_fields_it_was_written_with(rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    (records, bad, blank, open_line), _, _ = scan(scan_records, text.getvalue(), 2)
    assert (records, blank, open_line) == (len(rows), 0, 0)
    assert bad == sum(len(row) != 2 for row in rows)


@pytest.mark.parametrize("scanner", [scan_records, scan_records.plain])
def test_lines_are_counted_as_an_editor_does(scanner) -> None:  # type: ignore[no-untyped-def]
    result, bad, _ = scan(scanner, '\na,b\n"x\ny",1\n2\n', 2)
    assert result == (3, 1, 0, 0)
    assert bad[0] == [5, 1]
    assert scan(scanner, 'a,b\n1,"x\n', 2)[0][3] == 2
