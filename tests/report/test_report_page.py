"""The page: well-formed, alone in the world, harmless whatever the data says, and right."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

import kanopy
from kanopy.report.charts import release_charts as charts
from kanopy.report.text import percent
from tests.report.report_inputs import EVIL, SECRET

KINDS = ["full", "local", "free"]


def parsed(page: str) -> ElementTree.Element:
    """The page is also well-formed XML, which is stricter than what browsers ask for."""
    assert page.startswith("<!DOCTYPE html>\n")
    return ElementTree.fromstring(page.split("\n", 1)[1])


def text_of(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def table(root: ElementTree.Element, caption: str) -> list[list[str]]:
    """The body of the table with a caption, as text."""
    found = [t for t in root.iter("table") if text_of(t.find("caption")).startswith(caption)]
    assert len(found) == 1, caption
    return [[text_of(cell) for cell in row] for row in found[0].find("tbody")]


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_well_formed_and_self_contained(make, kind, values):
    page = make(kind).report.to_html(values=values)
    root = parsed(page)
    assert len(page) < 1_000_000
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)|<script|<link|<iframe|<img", page, re.IGNORECASE)
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in ("src", "href", "{http://www.w3.org/1999/xlink}href"):
                assert value.startswith("#"), (element.tag, name, value)
            assert not name.lower().startswith("on")
    ids = [e.attrib["id"] for e in root.iter() if "id" in e.attrib]
    assert len(ids) == len(set(ids))
    targets = {e.attrib["href"][1:] for e in root.iter("a")}
    assert targets <= set(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_from_the_data_becomes_markup(make, kind):
    report = make(kind, hostile=True).report
    page = report.to_html(values=True)
    root = parsed(page)
    assert EVIL not in page and "<script" not in page and "\x00" not in page
    assert EVIL in text_of(root)
    tags = {element.tag for element in root.iter()}
    assert "script" not in tags
    assert tags == {element.tag for element in parsed(make(kind).report.to_html(values=True)).iter()}
    parsed(report.to_html(values=False))
    ast.parse(report.to_script())


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_on_the_page_are_those_of_the_rows(make, kind):
    made = make(kind)
    root = parsed(made.report.to_html(values=True))
    groups = Counter(row for row in made.published if row is not None)
    before = Counter(made.original)
    published = sum(groups.values())
    attackers = {row[0]: row[1:3] for row in table(root, "Three attackers")}
    assert attackers["Prosecutor, highest"] == [percent(1 / min(before.values())), percent(1 / min(groups.values()))]
    assert attackers["Marketer"] == [percent(len(before) / len(made.original)), percent(len(groups) / published)]
    at_risk = [row[2:] for row in table(root, "Rows at risk")]
    for (was, now), size in zip(at_risk, (2, 3, 5, 10, 20), strict=True):
        assert was.split()[0] == str(sum(n for n in before.values() if n < size))
        assert now.split()[0] == str(sum(n for n in groups.values() if n < size))
    sizes = table(root, "Groups by size")
    assert [sum(int(row[i]) for row in sizes) for i in (1, 2, 3, 4)] == [
        len(before), len(made.original), len(groups), published,
    ]  # fmt: skip
    reasons = table(root, "Suppressed rows")
    assert reasons[-1][1] == str(made.published.count(None))
    tiles = [text_of(tile) for tile in root.iter("div") if tile.attrib.get("class") == "tile"]
    assert percent(published / len(made.original)) in tiles[0]
    assert f"{published} of {len(made.original)}" in tiles[0]


def test_changed_cells_are_marked_and_only_those(make):
    made = make("full")
    root = parsed(made.report.to_html(values=True))
    after = next(t for t in root.iter("table") if text_of(t.find("caption")) == "After")
    for line in after.find("tbody"):
        number = int(text_of(line.find("th"))) - 1
        published = made.published[number]
        assert line.attrib["class"] == ("suppressed" if published is None else "kept")
        for j, cell in enumerate(line.findall("td")[:2]):
            changed = published is not None and published[j] != made.original[number][j]
            assert cell.attrib["class"] == ("hid" if published is None else "changed" if changed else "same")
        assert line.findall("td")[2].attrib["class"] == "same"


def test_identifiers_are_never_shown(make):
    assert "Name 0" not in make().report.to_html(values=True)


def test_rows_that_the_release_leaves_out_are_said_to_be_so(make):
    from kanopy.report.report import Preview

    made = make("full")
    after = made.report.facts.after
    shorter = Preview(after.columns, after.rows[:-1], after.numbers[:-1])
    page = make("full", after=shorter).report.to_html(values=True)
    assert page.count("suppressed: not in the release") == 1


def test_a_page_to_pass_on_has_no_rows_and_no_unpublished_label(make):
    made = make("full")
    page = made.report.to_html()
    assert SECRET not in page and "Before and after" not in page and "For internal use: contains" not in page
    assert "For recipients and auditors" in page
    hidden = {row[0] for row in made.original} - {row[0] for row in made.published if row}
    if hidden:
        assert not any(re.search(rf"\b{re.escape(city)}\b", page) for city in hidden)
    assert SECRET in made.report.to_html(values=True)


def test_the_chosen_level_is_marked_in_words(make):
    made = make("full")
    root = parsed(made.report.to_html(values=True))
    for name, level in made.report.to_dict()["levels"].items():
        rows = table(root, f"Levels of {name}")
        assert [row[0] for row in rows if row[3]] == [str(level)]
    local = parsed(make("local").report.to_html(values=True))
    assert [(row[0], row[3]) for row in table(local, "Levels of city")] == [
        ("2", "◀ 50% of rows"), ("1", ""), ("0", "◀ 50% of rows"),
    ]  # fmt: skip


def test_accessible(make):
    root = parsed(make().report.to_html(values=True))
    assert root.attrib["lang"] == "en"
    for drawing in root.iter("svg"):
        assert drawing.attrib.get("aria-hidden") == "true" or drawing.attrib.get("aria-label")
    for each in root.iter("table"):
        assert each.find("caption") is not None or each.find("thead") is not None
        assert all("scope" in th.attrib for th in each.iter("th"))
    assert next(h.tag for h in root.iter() if h.tag in ("h1", "h2")) == "h1"
    assert len(list(root.iter("h1"))) == 1


def test_policies_are_stated(make):
    text = text_of(parsed(make().report.to_html(values=True)))
    assert "as-value: A missing value is treated as a value of its own" in text
    assert "Found: city in 2 rows" in text
    assert "suppress: Rows with a value that its hierarchy does not know are suppressed. None were found." in text


def test_the_same_facts_give_the_same_bytes(make):
    assert make("local").report.to_html(values=True) == make("local").report.to_html(values=True)


def test_a_page_without_the_plotting_library(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    page = make().report.to_html(values=True)
    parsed(page)
    assert "vl-convert-python" in page


def test_figures_are_data(make):
    report = make().report
    found = report.findings
    chart = charts.rows_at_risk(found.before["rows_at_risk"], found.after["rows_at_risk"])
    shares = [row["share"] for row in chart["data"]["values"] if row["phase"] == "after"]
    assert shares == [rows / report.risk_after.rows for _, rows in report.risk_after.rows_above]
    bars = charts.column_losses({"b": 0.25, "a": 0.75})["data"]["values"]
    assert [(bar["name"], bar["share"]) for bar in bars] == [("a", 0.75), ("b", 0.25)]
    sizes = charts.class_sizes(report.sizes_before, report.sizes_after)["data"]["values"]
    for phase in ("before", "after"):
        assert sum(row["share"] for row in sizes if row["phase"] == phase) == pytest.approx(1.0)


def test_importing_the_numbers_loads_no_plotting_library():
    code = "import sys, kanopy.report.report; sys.exit('vl_convert' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_script_runs_again_and_compares(tmp_path, monkeypatch, capsys):
    import kanopy

    data = tmp_path / "people.csv"
    rows = [f"{('Lyon', 'Paris', 'Rome')[i % 3]},{30 + i % 7},flu" for i in range(60)]
    data.write_text("\n".join(["city,age,ill", *rows, ""]))
    cities = kanopy.Hierarchy.from_rows([["Lyon", "France", "*"], ["Paris", "France", "*"], ["Rome", "Italy", "*"]])
    job = kanopy.Job(quasi=["city", "age"], k=4, sensitive=["ill"], hierarchies={"city": cities})
    report = kanopy.anonymize(kanopy.read_table(data), job, source=str(data)).report
    script, out = tmp_path / "reproduce.py", tmp_path / "out.csv"
    script.write_text(report.to_script(), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [str(script), str(data), str(out)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip() == report.sentence
    assert out.read_text().count("\n") == 61
    data.write_text(data.read_text() + "Rome,30,flu\n")
    monkeypatch.setattr(sys, "argv", [str(script)])
    with pytest.raises(SystemExit, match="is this the same table"):
        runpy.run_path(str(script), run_name="__main__")


def test_shares_next_to_nothing_or_everything_stay_well_formed(make):
    import numpy as np

    from kanopy._core.classes import Classes

    sizes = np.array([1, 5_000], np.int64)
    report = make(classes_before=Classes(sizes), losses={"loss": 1e-9}, suppression_limit=1e-9).report
    assert "under 0.1%" in text_of(parsed(report.to_html(values=True)))


def test_one_frame_and_one_renderer_for_every_page():
    rooms = Path(kanopy.__file__).parent
    files = [*rooms.rglob("*.py"), *rooms.rglob("*.html")]
    texts = {str(file.relative_to(rooms)): file.read_text(encoding="utf-8") for file in files}
    assert [name for name, text in texts.items() if "<!DOCTYPE" in text] == ["report/style/page.html"]
    assert [name for name, text in texts.items() if "page.html" in text] == ["report/shell.py"]
    assert [name for name, text in texts.items() if "import vl_convert" in text] == ["report/render.py"]
