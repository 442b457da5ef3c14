"""Drawings of hierarchies: folded when large, valid as XML, safe to embed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from kanopy._errors import HierarchyError
from kanopy.hierarchy.builders.on_the_fly import Iotf
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.report.drawings.tree import tree_html, tree_svg, tree_text


@pytest.fixture(scope="module")
def large() -> Hierarchy:
    return Iotf().build(range(5000), name="n")


def test_text_is_folded_to_the_lines_wanted(large):
    text = tree_text(large, lines=40)
    assert len(text.splitlines()) <= 41
    assert text.startswith("[0, 4999]  (5,000 values)")
    assert "folded" in text
    flat = tree_text(Hierarchy.flat([f"v{i}" for i in range(100)]))
    assert "… 92 more" in flat


def test_deep_trees_can_be_drawn():
    chain = Iotf().build([2**i for i in range(60)])
    assert "values" in tree_text(chain)
    assert tree_svg(chain).endswith("</svg>")


def test_svg_is_xml_marks_the_level_and_escapes(large):
    h = Hierarchy.from_rows([["<a>", "x&y", "*"], ["b", "x&y", "*"]], name="q<")
    root = ElementTree.fromstring(tree_svg(h, level=1))
    texts = [element for element in root if element.tag.endswith("text")]
    assert {element.text for element in texts} == {"<a>", "b", "x&y", "*"}
    assert [element.text for element in texts if element.get("font-weight") == "bold"] == ["x&y"]
    folded = ElementTree.fromstring(tree_svg(large))
    assert len([element for element in folded if element.tag.endswith("text")]) < 200


def test_html_is_self_contained_and_carries_the_data():
    h = Hierarchy.from_rows([["</script>", "x", "*"], ["b", "x", "*"]], name="n")
    page = tree_html(h, level=1, edge_values={0: 0.25}, edge_title="distance")
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search("https?:", page)
    script = re.findall("<script>(.*?)</script>", page, re.S)
    checksum = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert len(script) == 1 and f"script-src 'sha256-{checksum}'" in page
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.S)[1])
    assert data["label"][0] == "</script>"
    assert data["marked"] == [2]
    assert data["edges"] == {"0": 0.25}
    assert data["edgeTitle"] == "distance"
    assert not tree_html(h, whole_page=False).startswith("<!DOCTYPE")
    with pytest.raises(HierarchyError, match="no nodes"):
        tree_html(h, edge_values={99: 0.1})
