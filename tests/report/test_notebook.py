"""Objects show themselves: one short line in a terminal, a small safe drawing in a notebook."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import kanopy
import kanopy.hierarchy
import kanopy.ontology
import kanopy.privacy
from kanopy._core.classes import Classes, Domain, Recoding
from kanopy._mixins import ReprMixin
from kanopy.hierarchy import Editor, Hierarchy, compare_hierarchies, improve_hierarchy, suggest_hierarchies
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.hierarchy.builders.semantic.builders import Ontology
from kanopy.privacy.models import KAnonymity
from kanopy.report.style import SNIPPET_CSS
from kanopy.search.algorithms import ALGORITHMS, algorithm_class
from kanopy.search.solution import Solution
from tests.report.report_inputs import EVIL

LONG = "a very long name " * 40
ROOMS = (kanopy, kanopy.hierarchy, kanopy.ontology, kanopy.privacy)


def public_classes() -> Iterator[type]:
    for room in ROOMS:
        for name in room.__all__:
            thing = getattr(room, name)
            if inspect.isclass(thing) and not issubclass(thing, (Exception, Enum)) and not hasattr(thing, "_fields"):
                yield thing
    yield from (Domain, Recoding, Classes, Solution)
    yield from (*BUILDERS.values(), *map(algorithm_class, ALGORITHMS), *kanopy.privacy.MODELS.values())


@pytest.mark.parametrize("kind", sorted(set(public_classes()), key=lambda kind: kind.__qualname__))
def test_every_public_class_has_a_repr_that_stays_short(kind: type) -> None:
    own = kind.__repr__
    assert own is not object.__repr__
    # What `dataclass` writes names every field in full.
    assert issubclass(kind, ReprMixin) or not hasattr(own, "__wrapped__"), f"{kind} should be a `ReprMixin`"


@pytest.fixture(scope="module")
def objects() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    people = {
        "age": rng.integers(20, 60, 300).tolist(),
        "city": rng.choice([EVIL, "Lyon", "Rome\x00\x01", LONG], 300).tolist(),
        "ill": rng.choice([EVIL, "flu"], 300).tolist(),
    }
    cities = Hierarchy.from_rows(
        [[EVIL, EVIL, "*"], ["Lyon", "Europe\x01", "*"], ["Rome\x00\x01", "Europe\x01", "*"], [LONG, LONG, "*"]],
        name=EVIL,
    )
    widths = {"method": "widths", "widths": [5, 10, 20]}
    job = kanopy.Job(quasi=["age", "city"], sensitive=["ill"], k=5, hierarchies={"age": widths, "city": cities})
    result = kanopy.anonymize(people, job, source=EVIL)
    large = kanopy.build_hierarchy(np.arange(10_000), "widths", widths=[10, 100, 1000])
    animals = Hierarchy.from_rows([["cat", "fish", "animal"], ["dog", "mammal", "animal"], ["carp", "fish", "animal"]])
    wordnet = kanopy.load_ontology("wordnet")
    masked = kanopy.mask({"why": ["beach", "beach", "sea", "bird"] * 5}, kanopy.MaskJob(text=["why"], k=3))
    many = Hierarchy.from_rows([[f"v{i}", f"g{i % 97}", f"h{i % 7}", "*"] for i in range(9_000)], require_nesting=False)
    return {
        "job": job, "mask job": kanopy.MaskJob(text=[EVIL], k=3),
        "result": result, "report": result.report, "hierarchy": cities, "large": large, "deep": many,
        "comparison": kanopy.compare(people, job, algorithms=["optimal", "datafly"]),
        "exploration": kanopy.explore(people, job, ks=[2, 5, 299]),
        "risk": kanopy.assess_risk(people, quasi=["age", "city"], sensitive=["ill"]),
        "utility": kanopy.assess(people, result.data, job=job, learn=False, queries=20),
        "check": kanopy.check(people, quasi=["city"], sensitive=["ill"], models=["l-distinct:ill:2", "k:200"]),
        "hierarchies": compare_hierarchies([cities, cities.renamed(LONG)]),
        "quality": kanopy.evaluate_hierarchy(animals, wordnet),
        "suggestion": suggest_hierarchies(people["age"])[0],
        "improvement": improve_hierarchy(animals, wordnet),
        "proposal": Ontology(levels=3).propose(["cat", "dog", "carp"]),
        "editor": Editor(cities), "mask result": masked, "mask report": masked.report,
        "solution": result.solution, "domain": result.domain, "recoding": result.solution.recoding,
        "taxonomy": wordnet, "model": KAnonymity(5), "guess": kanopy.guess_job(people),
        "facts": result.report.facts, "findings": result.report.sizes_alone,
        "senses": improve_hierarchy(animals, wordnet).senses,
        "bound": kanopy.anonymize(people, job, bound=True).bound,
        "long job": kanopy.Job(quasi=[f"{LONG}{i}" for i in range(50)], k=3),
        "builder": BUILDERS["groups"](groups={"all": [str(number) for number in range(999)]}),
    }  # fmt: skip


def test_every_repr_is_one_short_line(objects: dict[str, Any]) -> None:
    for name, thing in objects.items():
        line = repr(thing)
        assert len(line) <= 120 and "\n" not in line, (name, line)
    assert repr(objects["model"]) == "KAnonymity(k=5)"


SHOWN = (
    "result", "report", "hierarchy", "large", "deep", "comparison", "exploration", "risk", "utility", "check",
    "hierarchies", "quality", "suggestion", "improvement", "proposal", "editor", "mask result", "mask report",
    "job", "mask job", "guess",
)  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_shows_a_small_safe_drawing(objects: dict[str, Any], name: str) -> None:
    html = objects[name]._repr_html_()
    assert html.startswith('<div class="kanopy">') and len(html) < 200_000
    assert EVIL not in html and not re.search(r"<script|<link|<iframe|<img|https?:|\x00|\x01", html.replace(SVG, ""))
    root = ElementTree.fromstring(html)  # well-formed, so nothing broke out of its element
    assert not any(key.lower().startswith("on") for element in root.iter() for key in element.attrib)
    text = "".join(root.itertext())
    assert not re.search(r"\b1 (rows|groups|values|classes|levels|releases|edits|algorithms|faults)\b", text)


SVG = "http://www.w3.org/2000/svg"


def test_what_is_shown(objects: dict[str, Any]) -> None:
    text = objects["result"]._repr_html_()
    assert objects["result"].report.sentence in text and "Published" in text
    assert "10,000 values" in objects["large"]._repr_html_() and "more" in objects["large"]._repr_html_()
    assert "does not hold" in objects["check"]._repr_html_()
    assert "<svg" in objects["exploration"]._repr_html_() and "<svg" in objects["comparison"]._repr_html_()


def test_no_style_reaches_the_page_around_and_none_of_it_reaches_in() -> None:
    """Jupyter, VS Code and Colab style lists and tables by classes: the numbers of a release lay over each other."""
    rules = re.sub(r"@media[^{]*\{(.*?\})\s*\}", r"\1", SNIPPET_CSS, flags=re.DOTALL)
    selectors = [each.strip() for rule in re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", rules)) for each in
                 re.split(r",(?![^(]*\))", rule)]  # fmt: skip
    themes = [each for each in selectors if each.startswith(":is(")]
    assert len(themes) == 2 and all(each.endswith("]) .kanopy:not(#_)") for each in themes)
    selectors = [each for each in selectors if each not in themes]
    assert len(selectors) > 100 and all(each.startswith(".kanopy") for each in selectors)
    assert ".kanopy.kanopy.kanopy *:not(svg, svg *) { all: revert; }" in SNIPPET_CSS
    own = [each for each in selectors if not each.startswith(".kanopy.kanopy.kanopy ")]
    assert all(each.startswith(".kanopy:not(#_)") for each in own)  # outweighs classes of any number


def test_numbers_can_be_read_where_styles_are_removed(objects: dict[str, Any]) -> None:
    """JupyterLab removes styles from the results of a notebook that nobody has run here."""
    text = re.sub(r"<[^>]+>", "", re.sub(r"<style>.*?</style>", "", objects["check"]._repr_html_(), flags=re.DOTALL))
    assert re.search(r"Smallest \w+ \d+ rows? \d+", text), text


def test_a_report_is_computed_once(objects: dict[str, Any]) -> None:
    assert objects["result"].report is objects["result"].report
