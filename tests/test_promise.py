"""Pages keep their promise: nothing that fewer than k rows have is in the bytes of what a release writes to hand on.

Values that one row alone has are planted into tables of several kinds: extremes, rare names, the values of a row that
will be suppressed, identifiers, rare sensitive values, columns left at home. Every page and file made to be handed on
is then searched for them, as they are and as pages, JSON, addresses and pictures would write them.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import re
import urllib.parse
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy

K, ROWS = 4, 240
PLANTED: dict[str, dict[int, Any]] = {
    "name": {0: "Zebulon Quux"},
    "age": {5: 713, 6: -419},
    "pay": {7: 98765.4321, 8: 0.00731},
    "born": {9: dt.date(1871, 3, 17)},
    "town": {10: "Ultima-Thule & <Co>"},
    "code": {11: "X9Q7Z"},
    "ill": {12: "Morbus Quuxensis"},
    "dose": {13: 8642.25, 5: 7531.75},
    "diary": {14: "met a jabberwock"},
    "when": {15: dt.datetime(1869, 7, 5, 3, 21, 9)},
}
"""Per column the rows with a value that nobody else has."""


def table() -> pl.DataFrame:
    """People in a few groups, so that much can be published, with the planted values among them."""
    draw = np.random.default_rng(11)
    days = [dt.date(1950 + 10 * int(i), 6, 15) for i in draw.integers(0, 4, ROWS)]
    columns: dict[str, list[Any]] = {
        "name": [f"Person No {i}" for i in range(ROWS)],
        "age": draw.choice([23, 31, 38, 47, 52], ROWS).tolist(),
        "pay": draw.choice([1200.5, 1900.25, 2500.75], ROWS).tolist(),
        "born": days,
        "town": draw.choice(["Lyon", "Nice", "Rome"], ROWS).tolist(),
        "code": draw.choice(["A1B2C", "A1B3D", "B7C8D"], ROWS).tolist(),
        "ill": draw.choice(["flu", "gout", "cold"], ROWS).tolist(),
        "dose": draw.choice([10.0, 20.0, 30.0], ROWS).tolist(),
        "diary": draw.choice(["slept well", "slept badly"], ROWS).tolist(),
        "when": [dt.datetime(2001, 1, 1 + int(i), 12) for i in draw.integers(0, 3, ROWS)],
    }
    for name, cells in PLANTED.items():
        for row, value in cells.items():
            columns[name][row] = value
    return pl.DataFrame(columns)


def forms(value: Any) -> Iterator[str]:
    """How a value may be written: with thousands parted, rounded as pages round, as text of a picture."""
    if isinstance(value, float):
        yield from {repr(value), f"{value:,}", f"{value:.6g}", f"{value:,.6g}", f"{value:g}"}
    elif isinstance(value, int):
        yield from {str(value), f"{value:,}", f"{value:g}", f"{value:.1f}", str(value).replace("-", "\u2212")}
    elif isinstance(value, (dt.date, dt.datetime)):
        yield from {value.isoformat(), str(value), value.strftime("%d.%m.%Y"), str(value.year)}
        yield str(float(value.toordinal()))
    else:
        yield value


def written(text: str) -> Iterator[bytes]:
    """A text as it is, escaped for pages and JSON, percent-encoded, and in base64 at each of its three offsets."""
    plain = text.encode()
    yield plain
    yield text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").encode()
    yield json.dumps(text)[1:-1].encode()
    yield urllib.parse.quote(text).encode()
    for offset in range(3):
        inside = base64.b64encode(b"\0" * offset + plain)
        yield inside[(0, 2, 3)[offset] : len(inside) // 4 * 4 - 4]


def found_in(content: bytes, published: bytes, plants: dict[str, dict[int, Any]]) -> list[str]:
    """The planted values that some bytes hold and the release does not."""
    content = re.sub(rb"\b[0-9a-f]{64}\b|\b\d+ ms\b", b"", content)  # checksums, and how long steps took
    if b"<svg" in content:  # where marks stand, which colours they have: no text
        content = re.sub(rb'\b(?:d|x|y|x1|x2|y1|y2|width|height|transform|viewBox|points)="[^"]*"', b"", content)
    seen = []
    for name, cells in plants.items():
        for value in cells.values():
            for form in forms(value):
                for text in set(written(form)):
                    if len(text) < 3 or not text:
                        continue
                    edge = (rb"(?<![\d.,])", rb"(?![\d])") if re.fullmatch(rb"[\d.,-]+", text) else (b"", b"")
                    if re.search(edge[0] + re.escape(text) + edge[1], content) and text not in published:
                        seen.append(f"{name}: {text!r}")
    return seen


AGES = kanopy.Hierarchy.from_rows(
    [[str(a), "young" if a < 35 else "old", "*"] for a in (23, 31, 38, 47, 52, 713, -419)]
)
OPEN = kanopy.Hierarchy.from_rows(
    [[str(a), "≤ 30" if a <= 30 else "> 30", "*"] for a in (23, 31, 38, 47, 52, 713, -419)]
)
WRONG = kanopy.Hierarchy.from_rows(
    [[str(a), "20-35" if a < 35 else "36-99", "*"] for a in (23, 31, 38, 47, 52, 713, -419)]
)
TOWNS = kanopy.Hierarchy.from_rows(
    [["Lyon", "France", "*"], ["Nice", "France", "*"], ["Rome", "Italy", "*"], ["Ultima-Thule & <Co>", "Far", "*"]]
)
JOBS: dict[str, dict[str, Any]] = {
    "optimal": {"quasi": ["age", "town"]},
    "every type": {"quasi": ["age", "pay", "born", "town", "code"], "suppress": 0.1},
    "moments": {"quasi": ["when", "code"], "suppress": 0.1},
    "given": {"quasi": ["age", "town"], "hierarchies": {"age": AGES, "town": TOWNS}},
    "given, local": {
        "quasi": ["age", "town"], "hierarchies": {"age": AGES, "town": TOWNS}, "algorithm": "mondrian",
    },
    "given, grouped": {
        "quasi": ["age", "town"], "hierarchies": {"age": AGES, "town": TOWNS}, "min_levels": {"age": 1, "town": 1},
    },
    "open ends": {"quasi": ["age"], "hierarchies": {"age": OPEN}, "min_levels": {"age": 1}},
    "groups of the job": {
        "quasi": ["town", "age"], "suppress": 0.1,
        "hierarchies": {
            "town": {"method": "groups", "groups": {"South": ["Nice", "Rome"], "Other": ["Lyon", PLANTED["town"][10]]}}
        },
    },
    "nodes of the job": {
        "quasi": ["town", "age"], "suppress": 0.1, "hierarchies": {"town": TOWNS},
        "models": [f"constrained:town:France|{PLANTED['town'][10]}"],
    },
    "called wrongly": {"quasi": ["age"], "hierarchies": {"age": WRONG}, "min_levels": {"age": 1}},
    "left out": {"quasi": ["age", "pay"], "suppress": 0.1, "suppressed_rows": "drop"},
    "mondrian": {"quasi": ["age", "pay", "town"], "algorithm": "mondrian"},
    "k-member": {"quasi": ["age", "town"], "algorithm": "k-member"},
    "one-pass-k-means": {"quasi": ["age", "town"], "algorithm": "one-pass-k-means"},
    "xu": {"quasi": ["age", "town"], "algorithm": "xu"},
    "best": {"quasi": ["age", "town"], "algorithm": "best", "parameters": {"steps": 2}},
    "model": {"quasi": ["age", "town"], "models": ["l-distinct:ill:2"], "suppress": 0.2},
    "values named": {"quasi": ["age", "town"], "models": ["l-plus:ill:Morbus Quuxensis=1.5"], "suppress": 0.2},
    "shuffled": {"quasi": ["age", "pay"], "shuffle": True},
}  # fmt: skip


def job(name: str) -> kanopy.Job:
    given = {"k": K, "suppress": 0.05, "sensitive": ["ill", "dose"], "identifiers": ["name"], **JOBS[name]}
    return kanopy.Job(**given)


def release_bytes(result: Any) -> bytes:
    return b"\n".join(str(value).encode() for column in result.frame for value in column.unique().to_list())


@pytest.mark.parametrize("name", list(JOBS))
def test_what_is_handed_on_shows_nothing_that_few_rows_have(name: str) -> None:
    result = kanopy.anonymize(table(), job(name))
    published = release_bytes(result)
    report = result.full_report(sampling_fraction=0.1)
    files = {
        "page": report.to_html(), "numbers": report.to_json(), "manifest": result.manifest(),
        "notebook": result._repr_html_(),
    }  # fmt: skip
    for file, text in files.items():
        assert not found_in(text.encode(), published, PLANTED), file
    assert found_in(report.to_html(values=True).encode(), published, PLANTED), "the steward's own page shows them"


def test_the_search_finds_what_is_hidden_in_many_ways() -> None:
    plants = {"town": PLANTED["town"], "pay": PLANTED["pay"], "age": PLANTED["age"]}
    for content in (
        b"in Ultima-Thule &amp; &lt;Co&gt; lived", base64.b64encode(b"xx Ultima-Thule & <Co> lives"), b"up to 98,765.4",
        json.dumps({"a": "Ultima-Thule & <Co>"}).encode(), b"?t=Ultima-Thule%20%26%20%3CCo%3E", b"713 and above",
        b"between 0.00731 and 3",
    ):  # fmt: skip
        assert found_in(content, b"", plants), content
    assert not found_in(b'<svg><path d="M713,0"/></svg> 7130 1713', b"", plants)
