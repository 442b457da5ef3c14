"""Every module name is a word of a glossary, or plain English of the field that stands in the list below."""

from __future__ import annotations

import re
from pathlib import Path

import kanopy

SOURCES = Path(kanopy.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
GLOSSARIES = ("docs/glossary.md", "docs/contributing/glossary.md")

WORDS = """
    address advanced agglomerate agrawal agreement anneal approvals area arithmetic arrays assess assessment
    association base baseline bayardo benchmark bins by cardinality catalogue certainty charts check checking
    checks claml classified cli coding combinations combine compact compare comparisons compile compiled
    connections console construct content copies costs counting counts csv database databases datafly datasets
    dates delimited dependence derive dialects dictionaries distance distances distortion divisors dot down
    download edit embedding encode encoding encodings encrypt errors evaluation every example exhaustive
    exploration explore faults features ff1 fhir fields file files fixed forms formulas frames from grid guides
    handover he help histograms importing improve improvement incognito information inputs iterative iyengar json
    judgement keyed keys kmember layout lazy learning lexicon li likeness lmf load logs loinc machine marks mdav
    methods mondrian morphology naughton nearest neighbours no noise notebook obo omop ontologies options output
    over packing pairwise panel parent pdf points pram preparation prepare preparing preserving progress project
    provenance quality queries registry relations render reproduce resplit result review reviewing rf2 rounding
    safety samarati schema schemes script sections selection server sets settings several shared sheet shuffling
    similar singling size sizes sklearn skos spark specialization specialize stages statements stored structure
    studies style suggest suggestions survey swapping temporary time tokens top tree trees typos univariate usage
    view views widgets width within wordnet workbooks writing xu zip
"""
PLAIN = frozenset(WORDS.split())
"""Words of statistics, databases, optimisation and programming, and names of papers' authors, that need no entry."""


def words(text: str) -> set[str]:
    """The words of a text, also without the endings of plural and participle."""
    found = set(re.findall(r"[a-z0-9]+", text.lower()))
    return found | {word.removesuffix(end) for word in found for end in ("s", "es", "d", "ed", "ing") if len(word) > 4}


def glossary() -> set[str]:
    """The terms of both glossaries with their names in code: the first and the last cell of each line."""
    lines = [line for name in GLOSSARIES for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return words(" ".join(f"{own[0]} {own[-1] if len(own) > 2 else ''}" for own in cells))


def test_module_names_are_in_a_glossary_or_plain() -> None:
    known = glossary() | PLAIN
    strange = {}
    for path in SOURCES.rglob("*.py"):
        for name in {path.stem, path.parent.name} - {"__init__", "__main__"}:
            missing = [word for word in re.findall(r"[a-z0-9]+", name) if not words(word) & known]
            if missing:
                strange[str(path.relative_to(SOURCES))] = missing
    assert not strange, f"Add these to docs/contributing/glossary.md, or to PLAIN if they are plain: {strange}"
