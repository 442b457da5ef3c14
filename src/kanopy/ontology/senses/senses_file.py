"""The small file beside a hierarchy (`animals.senses.toml`) in which people correct what its labels mean."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from kanopy._errors import OntologyError, near_miss, some
from kanopy._files import read_text
from kanopy._lazy import public
from kanopy._usage import checked
from kanopy.ontology.senses.labels import HOW, find_label, sense_name
from kanopy.ontology.senses.senses import Choice, SenseChoices, Senses

SUFFIX = ".senses.toml"
_TABLES = ("senses", "synonyms")
_OTHERS_SHOWN = 4
_ENTRY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)\s*=""")
BUNDLED = Path(__file__).resolve().parents[2] / "data"


def senses_path(hierarchy: str | Path) -> Path:
    """Where the senses of a hierarchy file are kept.

    >>> senses_path("vgh/animals.csv").name
    'animals.senses.toml'
    """
    path = Path(hierarchy)
    return path.with_name(path.stem + SUFFIX)


@public("kanopy.ontology")
@checked
def read_senses(path: str | Path) -> SenseChoices:
    """Read a file of choices. Whether its senses exist is checked against the ontology it is used with.

    `adult/workclass` and the like name the files that come with Kanopy for columns of Adult.

    >>> read_senses("adult/workclass").senses["Self-emp-inc"]
    'entrepreneur#1'
    """
    path = Path(path)
    folder, _, column = path.as_posix().partition("/")
    bundled = BUNDLED / f"{folder}_senses" / f"{column}{SUFFIX}"
    if not path.exists() and "/" not in column and bundled.is_file():
        path = bundled
    if not path.exists():
        raise OntologyError(
            f"There is no senses file {path}. Write one with `kanopy hierarchy evaluate FILE --write-senses`."
        )
    text = read_text(path, OntologyError)
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if twice := _labels_with_two_lines(text):
            raise OntologyError(f"{path.name} says twice what a label means: {some(twice)}. Keep one line.") from None
        raise OntologyError(
            f'{path.name} is not a senses file: {error}. Its lines look like "tiger" = "tiger#2".'
        ) from None
    return parse_senses(content, path.name)


def _labels_with_two_lines(text: str) -> list[str]:
    """The labels that a table of a senses file defines more than once, with the numbers of their lines."""
    lines_of: dict[tuple[str, str], list[int]] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            table = line.strip()
        elif entry := _ENTRY.match(line):
            lines_of.setdefault((table, entry[1].strip("\"'")), []).append(number)
    return [f"{label} (lines {', '.join(map(str, n))})" for (_, label), n in lines_of.items() if len(n) > 1]


def parse_senses(content: dict[str, object], where: str = "") -> SenseChoices:
    """The choices in the content of a senses file.

    >>> parse_senses({"senses": {"tiger": "tiger#2", "gnu": ""}}).senses
    {'tiger': 'tiger#2'}
    """
    at = f"{where}: " if where else ""
    tables: dict[str, dict[str, str]] = {}
    for name, value in content.items():
        if name == "ontology":
            continue
        if name not in _TABLES or not isinstance(value, dict):
            raise OntologyError(f"{at}a senses file has the tables [senses] and [synonyms]; {near_miss(name, _TABLES)}")
        for label, sense in value.items():
            if not isinstance(sense, str):
                raise OntologyError(f'{at}the entry {label!r} is not a text. Write it as "{label}" = "word#1".')
        tables[name] = {label: sense.strip() for label, sense in value.items() if sense.strip()}
    return SenseChoices(tables.get("senses", {}), tables.get("synonyms", {}), where)


@public("kanopy.ontology")
@checked
def senses_toml(senses: Senses, *, name: str = "", synonyms: dict[str, str] | None = None) -> str:
    """The content of a senses file: one line per label, with how it was found and what else it could mean.

    >>> from kanopy.ontology.load import load_ontology
    >>> from kanopy.ontology.senses.senses import senses_of_values
    >>> print(senses_toml(senses_of_values(load_ontology("wordnet"), ["mammal"])).splitlines()[-1])
    "mammal" = "mammal#1"  # exact; the only sense
    """
    taxonomy = senses.taxonomy
    lines = [
        f"# What the labels{f' of {name}' if name else ''} mean in {taxonomy.name or 'the ontology'}.",
        "# Change a line to correct a sense: the number counts the senses of the word, the most frequent first.",
        '# An empty text ("") leaves the choice to Kanopy. A later run reuses this file.',
        f"ontology = {_quoted(taxonomy.name)}",
        "",
        "[synonyms]",
        '# Words of your own: "label" = "a word or sense of the ontology". They take precedence over guesses.',
    ]
    lines += [f"{_quoted(label)} = {_quoted(word)}" for label, word in (synonyms or {}).items()]
    lines += ["", "[senses]"]
    for choice in senses.values():
        if choice.how == "suppressed":
            continue
        if choice.concept < 0:
            hint = f"; perhaps {', '.join(choice.match.suggestions)}?" if choice.match.suggestions else ""
            lines.append(f'{_quoted(choice.label)} = ""  # UNKNOWN: give a word or sense{hint}')
            continue
        others = senses.others(choice.label) if choice.how != "chosen" else _other_senses(senses, choice)
        more = ", …" if len(others) > _OTHERS_SHOWN else ""
        other = f"; could be {', '.join(others[:_OTHERS_SHOWN])}{more}" if others else ""
        how = choice.how if choice.how in ("exact", "chosen") else f"{choice.how}: {HOW[choice.how]}"
        reason = "" if choice.reason == HOW.get(choice.how) else f"; {choice.reason}"
        mark = "CHECK: " if choice.flagged else ""
        entry = f"{_quoted(choice.label)} = {_quoted(senses.name(choice.label) or '')}"
        lines.append(f"{entry}  # {mark}{' '.join((how + reason + other).split())}")
    return "\n".join(lines) + "\n"


def _other_senses(senses: Senses, choice: Choice) -> list[str]:
    """What a label could mean besides the sense a person chose."""
    label_match = find_label(senses.taxonomy, choice.label)
    return [sense_name(senses.taxonomy, label_match.term, c) for c in label_match.concepts if c != choice.concept]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
