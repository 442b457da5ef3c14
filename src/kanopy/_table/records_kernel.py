"""Scan the bytes of a delimited file for records with too few or too many fields."""

from __future__ import annotations

from kanopy._arrays import Bytes, LongRows, Longs
from kanopy._compiler import kernel


@kernel(makes_arrays=False)
def scan_records(
    data: Bytes, separator: int, quote: int, newline: int, fields: int, bad: LongRows, blank: Longs, totals: Longs
) -> None:
    """Count the records of a delimited file, header included, and find the ones that do not have `fields` fields.

    `quote` is 0 where nothing is quoted. `bad[:, 2]` receives the line and the number of fields of the first
    wrong records; `blank` the record numbers of the first empty lines (not in files of one column, where an empty
    line is a missing value). `totals` receives how many records, wrong records and blank records there are, and the
    line of a quote that is never closed (0 if none). Empty lines above the header do not count.
    """
    records = 0
    bad_count = 0
    blank_count = 0
    open_line = 0
    line = 1
    record_line = 1
    start = 0
    field_start = 0
    found = 1
    inside = False
    size = len(data)
    i = 0
    while i <= size:
        if i == size:
            if start == size:
                break
            byte = newline
        else:
            byte = data[i]
            if inside:
                if byte == newline:
                    line += 1
                elif byte == quote:
                    if i + 1 < size and data[i + 1] == quote:
                        i += 1
                    else:
                        inside = False
                i += 1
                continue
            if byte == separator:
                found += 1
                field_start = i + 1
                i += 1
                continue
            if byte == quote and quote != 0:
                if i == field_start:
                    inside = True
                    open_line = line
                i += 1
                continue
        if byte == newline:
            empty = i == start or (i == start + 1 and data[start] == 13)
            if not (empty and records == 0):
                if empty and fields > 1:
                    if blank_count < len(blank):
                        blank[blank_count] = records
                    blank_count += 1
                elif found != fields:
                    if bad_count < len(bad):
                        bad[bad_count, 0] = record_line
                        bad[bad_count, 1] = found
                    bad_count += 1
                records += 1
            line += 1
            record_line = line
            found = 1
            start = i + 1
            field_start = i + 1
        i += 1
    totals[0], totals[1], totals[2] = records, bad_count, blank_count
    totals[3] = open_line if inside else 0
