"""The scanner of delimited text agrees with one that hops from mark to mark, and with the csv module."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._arrays import Bytes, Longs
from kanopy._table.records_kernel import scan_records


def scan_by_hops(
    data: Bytes, separator: int, quote: int, newline: int, fields: int, bad: Longs, blank: Longs
) -> tuple[int, int, int, int]:
    """Hops from one special byte to the next."""
    raw = data.tobytes()
    special = re.compile(b"[" + re.escape(bytes([separator, newline] + ([quote] if quote else []))) + b"]")
    records = bad_count = blank_count = open_line = 0
    line = record_line = 1
    start = field_start = 0
    found = 1
    inside = False
    position = -1
    for match in [*(m.start() for m in special.finditer(raw)), len(raw)]:
        if match < position:
            continue
        at_end = match == len(raw)
        byte = newline if at_end else raw[match]
        if inside and not at_end:
            if byte == newline:
                line += 1
            elif byte == quote:
                if match + 1 < len(raw) and raw[match + 1] == quote:
                    position = match + 2
                else:
                    inside = False
            continue
        if byte == quote and quote and not at_end:
            if match == field_start:
                inside, open_line = True, line
            continue
        if byte == separator and not at_end:
            found += 1
            field_start = match + 1
            continue
        if at_end and start == len(raw):
            break
        length = match - start
        empty = length == 0 or (length == 1 and raw[start] == 13)
        if not (empty and records == 0):
            if empty and fields > 1:
                if blank_count < len(blank):
                    blank[blank_count] = records
                blank_count += 1
            elif found != fields:
                if bad_count < len(bad):
                    bad[bad_count] = record_line, found
                bad_count += 1
            records += 1
        line += 1
        record_line, found = line, 1
        start = field_start = match + 1
    return records, bad_count, blank_count, open_line if inside else 0


def scan(scanner, text: str, fields: int, quote: int = 34):  # type: ignore[no-untyped-def]
    bad, blank = np.zeros((5, 2), np.int64), np.zeros(5, np.int64)
    data = np.frombuffer(text.encode(), np.uint8)
    if scanner is scan_by_hops:
        return scanner(data, ord(","), quote, 10, fields, bad, blank), bad.tolist(), blank.tolist()
    totals = np.zeros(4, np.int64)
    scanner(data, ord(","), quote, 10, fields, bad, blank, totals)
    return tuple(totals.tolist()), bad.tolist(), blank.tolist()


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='ab,"\n\r', max_size=40), st.integers(1, 3), st.sampled_from([0, 34]))
def test_scanner_agrees_with_hops(text: str, fields: int, quote: int) -> None:
    expected = scan(scan_by_hops, text, fields, quote)
    assert scan(scan_records, text, fields, quote) == scan(scan_records.plain, text, fields, quote) == expected


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
