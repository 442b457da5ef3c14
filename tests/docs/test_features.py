"""No page denies a feature that exists.

`FEATURES` names what Kanopy can do, how that is seen in the code, and the pages that explain it, by hand. A sentence
that names a feature and sounds like a denial fails, unless `ALLOWED` has it with the reason why it is true. A new
feature gets an entry here; the test then says which pages still deny it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from tests.docs.test_commands import ROOT_COMMAND, known
from tests.docs.test_examples import PAGES, ROOT

GENERATED = {"commands.md", "parameters.md", "json.md", "job-file.md", "papers.md"}
"""Pages that are written by code, which cannot lag behind it, and claims of papers."""

PROSE = [page for page in PAGES if page.name not in GENERATED and "contributing" not in page.parts]

DENIALS = re.compile(
    r"\b(?:not (?:yet|available|supported|possible|here|offered|implemented)|no (?:support|way|method)"
    r"|there (?:is|are) no|(?:is|are) (?:missing|refused)"
    r"|(?:do|does|did|has|have) not\b|do it before|cannot|nobody|nothing|unsupported"
    r"|lacks?|has no|have no|refuses?|little:?|rows,? (?:and )?not people|promises? no|instead of wizards)\b",
    re.IGNORECASE,
)
"""What a denial sounds like. Under a heading that sounds like one, every sentence is one."""

DENYING_HEADINGS = re.compile(r"missing|has not\b|not available|limits$|cannot|not supported", re.IGNORECASE)


def option(command: str, name: str) -> Callable[[], bool]:
    """A command has an option."""
    return lambda: name in known(ROOT_COMMAND.commands[command])  # type: ignore[attr-defined]


def command(name: str) -> Callable[[], bool]:
    """There is such a command."""
    return lambda: name in ROOT_COMMAND.commands  # type: ignore[attr-defined]


def baseline(name: str) -> Callable[[], bool]:
    """A plain method of statistical offices."""

    def exists() -> bool:
        from kanopy.release.baseline import BASELINES

        return name in BASELINES

    return exists


def builder(name: str) -> Callable[[], bool]:
    """A method for hierarchies."""

    def exists() -> bool:
        from kanopy.hierarchy.builders.registry import BUILDERS

        return name in BUILDERS

    return exists


def algorithm(name: str) -> Callable[[], bool]:
    """An algorithm, masking or not."""

    def exists() -> bool:
        from kanopy.release.catalogue import algorithms

        return name in [each["name"] for each in algorithms()]

    return exists


def job_setting(module: str, name: str, setting: str) -> Callable[[], bool]:
    """A module names a setting."""
    return lambda: setting in getattr(import_module(module), name)


def model(name: str) -> Callable[[], bool]:
    """A privacy model."""

    def exists() -> bool:
        from kanopy.privacy.models import MODELS

        return name in MODELS

    return exists


@dataclass(frozen=True)
class Feature:
    """What Kanopy can do: the words of pages for it, the proof that it exists, and the pages that explain it."""

    words: str
    exists: Callable[[], bool]
    pages: tuple[str, ...]


FEATURES = {
    "people instead of rows": Feature(
        r"\bunits?\b|people,? (?:and )?not rows|rows,? (?:and )?not people|counts? (?:rows|people)|several rows",
        option("anonymize", "--unit"),
        ("README.md", "docs/people.md", "docs/concepts/what-k-means.md", "docs/how-to/dates.md", "docs/glossary.md"),
    ),
    "two releases together": Feature(
        r"two releases|second release|earlier release|several releases|releases of the same",
        option("check", "--beside"),
        ("README.md", "docs/concepts/what-k-means.md", "docs/how-to/hand-over.md", "docs/reference/risk.md"),
    ),
    "noise": Feature(
        r"\bnoise\b|disturbing", baseline("noise"), ("docs/how-to/from-sdcmicro.md", "docs/how-to/masking.md")
    ),
    "rank swapping": Feature(r"rank[- ]swap", baseline("rank-swapping"), ("docs/how-to/from-sdcmicro.md",)),
    "PRAM": Feature(r"\bPRAM\b", baseline("pram"), ("docs/how-to/from-sdcmicro.md", "docs/app.md")),
    "sampling of rows": Feature(
        r"random(?:ly)? sampl|research sample|sampling of rows",
        option("anonymize", "--sample"),
        ("docs/how-to/treatments.md",),
    ),
    "the app": Feature(
        r"graphical|\bthe app\b|\bGUI\b|browser",
        command("app"),
        ("README.md", "docs/app.md", "docs/how-to/from-arx.md"),
    ),
    "lists in cells": Feature(
        r"\blists in|basket|columns? of lists|(?:refuse|with) lists",
        option("anonymize", "--separator"),
        ("docs/people.md",),
    ),
    "shuffled rows": Feature(
        r"order of (?:the |its )?rows|shuffl",
        option("anonymize", "--keep-order"),
        ("docs/concepts/what-k-means.md", "docs/how-to/hand-over.md", "docs/reference/risk.md"),
    ),
    "weights and households": Feature(
        r"sampling weight|household|individual risk",
        option("anonymize", "--household"),
        ("docs/how-to/surveys.md", "docs/reference/privacy-models.md"),
    ),
    "special uniques": Feature(r"\bSUDA|special unique", option("risk", "--suda"), ("docs/how-to/surveys.md",)),
    "large tables and databases": Feature(
        r"Spark|PostgreSQL|DuckDB|SQLite|larger than memory|in databases",
        option("anonymize", "--engine"),
        ("README.md", "docs/scale.md", "docs/how-to/from-arx.md"),
    ),
    "free text": Feature(
        r"free[ -]text|open answers",
        command("mask"),
        ("README.md", "docs/how-to/masking.md", "docs/concepts/algorithms.md"),
    ),
    "swapping and microaggregation of text": Feature(
        r"microaggregat|semantic-swapping", algorithm("semantic-microaggregation"), ("docs/how-to/masking.md",)
    ),
    "pseudonyms": Feature(
        r"pseudonym|keyed hash", option("anonymize", "--pseudonymize"), ("docs/how-to/hand-over.md",)
    ),
    "new rows": Feature(r"new rows|next month", command("apply"), ("docs/how-to/hand-over.md",)),
    "local recoding": Feature(
        r"local recoding|local transformation|own labels",
        option("anonymize", "--local"),
        ("README.md", "docs/concepts/best.md", "docs/concepts/algorithms.md"),
    ),
    "single cells": Feature(r"single cells|cell by cell", algorithm("cell-level"), ("docs/how-to/from-sdcmicro.md",)),
    "top coding": Feature(r"top[- ]cod", builder("cuts"), ("docs/how-to/dates.md",)),
    "hierarchies by meaning": Feature(
        r"from an ontology|by meaning", builder("ontology"), ("README.md", "docs/concepts/semantic-quality.md")
    ),
    "who is in the table": Feature(
        r"who is in the table|k-map|δ-presence", model("k-map"), ("docs/concepts/what-k-means.md", "docs/glossary.md")
    ),
    "sensitive values": Feature(
        r"attribute disclosure|l-diversity|t-closeness",
        model("l-distinct"),
        ("README.md", "docs/concepts/what-k-means.md", "docs/reference/privacy-models.md"),
    ),
    "utility of releases of others": Feature(
        r"other (?:tools|programs)|whichever program", command("assess"), ("docs/reference/utility.md",)
    ),
    "assistants": Feature(r"assistant", command("mcp"), ("docs/how-to/assistants.md",)),
    "risk of releases": Feature(
        r"linkage attack|re-identif", option("risk", "--released"), ("docs/reference/risk.md",)
    ),
    "treatments": Feature(
        r"\btreatments?\b|treated column|microaggregation|shift-dates|shifted by",
        command("treatments"),
        (
            "README.md",
            "docs/how-to/treatments.md",
            "docs/how-to/index.md",
            "docs/how-to/dates.md",
            "docs/how-to/from-arx.md",
            "docs/how-to/from-sdcmicro.md",
        ),
    ),
    "official classifications": Feature(
        r"official classification|ICD-10|\bNACE\b|classifications? (?:list|search)",
        command("classifications"),
        ("README.md", "docs/how-to/classifications.md", "docs/how-to/index.md"),
    ),
    "places": Feature(
        r"coordinates|latitude|quadtree",
        builder("quadtree"),
        ("README.md", "docs/how-to/places.md", "docs/how-to/index.md"),
    ),
    "linked tables": Feature(
        r"linked tables|several tables|common pseudonym",
        job_setting("kanopy.linked.job", "PARTS", "links"),
        ("README.md", "docs/how-to/several-tables.md", "docs/how-to/index.md", "docs/concepts/what-k-means.md"),
    ),
    "releases over time": Feature(
        r"\bledger\b|releases over time|every month",
        option("anonymize", "--ledger"),
        ("README.md", "docs/how-to/releases-over-time.md", "docs/how-to/index.md", "docs/concepts/what-k-means.md"),
    ),
    "attacks": Feature(
        r"control group|kanopy attack|\battacks\b on a release|attack a release",
        command("attack"),
        ("README.md", "docs/how-to/attacks.md", "docs/how-to/index.md", "docs/how-to/policies.md"),
    ),
    "documents for authorities": Feature(
        r"authorit(?:y|ies)|HIPAA|WP216",
        command("evidence"),
        ("README.md", "docs/how-to/policies.md", "docs/how-to/index.md", "docs/how-to/from-arx.md"),
    ),
    "small cells": Feature(
        r"small cells?|kanopy cells", command("cells"), ("README.md", "docs/how-to/attacks.md", "docs/how-to/index.md")
    ),
    "provenance": Feature(
        r"RO-Crate|PROV\b|\.jsonld",
        job_setting("kanopy.release.evidence.provenance", "__doc__", "RO-Crate"),
        ("docs/how-to/policies.md",),
    ),
    "margin": Feature(r"\bmargin\b", option("anonymize", "--margin"), ("docs/how-to/attacks.md",)),
    "the record": Feature(r"kanopy record|the record\b", command("record"), ("docs/app.md",)),
    "baselines": Feature(
        r"kanopy baseline|plain methods",
        command("baseline"),
        ("docs/how-to/masking.md", "docs/how-to/from-sdcmicro.md"),
    ),
    "best possible": Feature(r"lower bound|best possible", option("anonymize", "--bound"), ("docs/concepts/best.md",)),
}

ALLOWED = {
    "docs/concepts/best.md": {"multiples of a tiny unit": "a unit of numbers, not of protection"},
    "docs/concepts/choosing.md": {"who is in the table": "a link"},
    "docs/concepts/what-k-means.md": {
        "## k does not cover the order of rows": "about k; the section says what Kanopy does",
        "## k says nothing about who is in the table": "about k; the section says what Kanopy does",
    },
    "docs/how-to/assistants.md": {"If its first line may be a row": "about tables without a header"},
    "docs/how-to/attacks.md": {
        "The control group must be of the same": "a condition",
        "control group that overlaps": "it is refused",
        "match nobody": "about predicates",
        "A margin does not prevent": "true",
        "Lists in cells are not attacked": "about attacks; the page says what is attacked",
    },
    "docs/how-to/explore.md": {"suppress nothing": "a question"},
    "docs/how-to/from-arx.md": {
        "ARX's overview of methods did not list": "about ARX",
        "The app draws its candidates": "says what there is instead",
    },
    "docs/how-to/hand-over.md": {
        "A recoding promises nothing about new rows": "true: they are judged anew",
        "Shuffled rows cannot be joined by order": "true",
    },
    "docs/how-to/treatments.md": {
        "lists all treatments, with what": "the command says both",
        "treatments have no seed": "true",
        "Other treatments need all rows": "true of pieces",
        "refuse a sample": "the limits are stated",
    },
    "docs/how-to/masking.md": {
        "Plain methods that promise no k": "a heading, true",
        "Open answers": "they have no hierarchy, which is why they are masked",
        "have no hierarchy are compared by meaning": "about columns",
    },
    "docs/how-to/releases-over-time.md": {
        "Disclosures of earlier releases": "about what was published before",
        "If a person has several rows": "about models of sensitive columns; k holds for all rows of a person",
    },
    "docs/how-to/several-tables.md": {"are not available for several tables": "the limits of linked jobs"},
    "docs/how-to/missing-values.md": {"contain units or questions": "units of measurement"},
    "docs/people.md": {
        "If every unit has one row": "true, and said by a note",
        "they cannot be combined with a unit": "the job refuses them together",
        "Every other algorithm refuses": "those that count people are named before",
        "cannot be combined with lists": "the job refuses them together",
        "The engines for large tables refuse lists": "they do",
        "Algorithms that protect one known row only": "local recodings are refused where more rows are known",
    },
    "docs/reference/privacy-models.md": {"They refuse models about a population": "about clusterings"},
    "docs/reference/risk.md": {"does not know who is in the table": "about an attacker"},
    "docs/reference/utility.md": {"unless `--disturbed` says": "about what the option allows"},
    "docs/scale.md": {
        "they are not judged": "about the step of scikit-learn",
        "If they do not fit in memory": "says what happens then",
        "units of protection and `missing": "refused beyond the limit of distinct rows",
        "Units of protection, models": "the limit is stated",
        "missing tokens, decimal signs": "the engines refuse them; the sentence names the query",
        "Spark reads and writes Parquet": "it does",
    },
    "docs/tutorial/index.md": {
        "It does not prevent *attribute disclosure*": "about k; the step guards against it",
        "check that one with": "about one release; the sentence names the check",
    },
}
"""Sentences that sound like a denial and are true: words of the sentence, and why."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a page; `denied` if the heading above it already says that what follows is not there."""

    text: str
    denied: bool

    def denies(self, feature: Feature) -> bool:
        """Whether it sounds as if the feature did not exist."""
        named = re.search(feature.words, self.text, re.IGNORECASE)
        return bool(named) and (self.denied or bool(DENIALS.search(self.text)))


def sentences(text: str) -> Iterator[Sentence]:
    """The prose of a page: sentences, list items and whole rows of tables."""
    text = re.sub(r"^( *)```.*?^\1```", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(#.*)$", r"\n\1\n", text, flags=re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    denied = False
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-*|] )|\n(?=\d+\. )", text):
        words = " ".join(paragraph.split())
        if words.startswith("#"):
            denied = bool(DENYING_HEADINGS.search(words))
        parts = [words] if words.startswith("|") else re.split(r"(?<=[.!?])\s+(?=[A-Z*`\[(])", words)
        yield from (Sentence(part, denied and not part.startswith("#")) for part in parts if part)


def denials(text: str) -> list[tuple[str, str]]:
    """Sentences of a page that sound as if a feature did not exist, with the feature."""
    return [(name, each.text) for each in sentences(text) for name, feature in FEATURES.items() if each.denies(feature)]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_denies_what_exists(page: Path) -> None:
    allowed = ALLOWED.get(str(page.relative_to(ROOT)), {})
    found = denials(page.read_text(encoding="utf-8"))
    wrong = [f"{name}: {text}" for name, text in found if not any(words in text for words in allowed)]
    assert not wrong, "Correct the page, or add the words to ALLOWED with the reason:\n" + "\n".join(wrong)
    unused = [words for words in allowed if not any(words in text for _, text in found)]
    assert not unused, f"No sentence of the page needs these any more: {unused}"


@pytest.mark.parametrize("name", FEATURES)
def test_features_exist_and_pages_explain_them(name: str) -> None:
    feature = FEATURES[name]
    assert feature.exists(), f"{name} is gone: correct the pages that explain it"
    silent = [
        page for page in feature.pages if not re.search(feature.words, (ROOT / page).read_text("utf-8"), re.IGNORECASE)
    ]
    assert not silent, f"These pages should explain {name}: {silent}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Nobody checks two releases against each other for you.", "two releases together"),
        ("Generalization is its only way of changing values; there is no noise.", "noise"),
        ("## What is missing here\n\n- **PRAM** and other random changes of categories.", "PRAM"),
        ("## What is missing here\n\n- **A graphical program.** Kanopy is a command line.", "the app"),
        ("Several events of one person are several rows. k counts rows, not people.", "people instead of rows"),
        ("| research samples | not here: take the sample before |", "sampling of rows"),
    ],
)  # fmt: skip
def test_denials_are_found(text: str, name: str) -> None:
    assert name in [feature for feature, _ in denials(text)]
