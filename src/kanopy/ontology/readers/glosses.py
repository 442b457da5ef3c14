"""Definitions of WordNet's concepts. They are not part of Kanopy: they are read from an installed WordNet."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np

from kanopy._errors import OntologyError
from kanopy.ontology.readers.wordnet import SUFFIXES
from kanopy.ontology.similarity.subsumers import FeatureSets
from kanopy.ontology.taxonomy import Taxonomy

_STOP_WORDS = """
    a about above after all also an and another any are as at be been being between both but by can could each
    especially etc for from had has have having he her his if in into is it its may more most no not of off often on
    one or other others out over she so some such than that the their them they this those through to two under up
    used usually very was were when where which while who whose will with within without would you your"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

_found: WeakKeyDictionary[Taxonomy, Glosses] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Glosses:
    """One definition per concept, without its example sentences."""

    texts: Sequence[str]

    @cached_property
    def _tokens(self) -> tuple[list[str], list[list[int]]]:
        number: dict[str, int] = {}
        tokens = []
        for text in self.texts:
            words = (word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 1 and word not in STOP_WORDS)
            tokens.append([number.setdefault(word, len(number)) for word in words])
        return list(number), tokens

    @property
    def words(self) -> list[str]:
        """The vocabulary of the definitions: lower case, without stop words."""
        return self._tokens[0]

    @cached_property
    def word_sets(self) -> FeatureSets:
        """The words of each definition, as numbers into `words`."""
        lists = self._tokens[1]
        owner = np.repeat(np.arange(len(lists)), [len(items) for items in lists])
        flat = np.array([item for items in lists for item in items], np.int64)
        return FeatureSets.of(owner, flat, len(lists), len(self.words))


def wordnet_folders() -> Iterator[Path]:
    """Where an installed WordNet may lie: `WNHOME`, the Debian package, NLTK's data folders."""
    home = os.environ.get("WNHOME")
    if home:
        yield Path(home) / "dict"
        yield Path(home)
    yield Path("/usr/share/wordnet")
    bases = [Path(base) for base in os.environ.get("NLTK_DATA", "").split(os.pathsep) if base]
    bases += [Path.home() / "nltk_data", Path("/usr/share/nltk_data"), Path("/usr/local/share/nltk_data")]
    for base in bases:
        yield base / "corpora" / "wordnet"


def find_glosses(taxonomy: Taxonomy) -> Glosses:
    """The definitions of a taxonomy compiled from WordNet, from an installed WordNet of the same version."""
    if taxonomy in _found:
        return _found[taxonomy]
    tried = []
    if taxonomy.part_of_speech in SUFFIXES and re.fullmatch(r"\d{8}-[nv]", taxonomy.keys[0]):
        for folder in wordnet_folders():
            path = _data_file(folder, f"data.{SUFFIXES[taxonomy.part_of_speech]}")
            if path is None:
                continue
            texts = _read(taxonomy, path)
            if texts is not None:
                _found[taxonomy] = Glosses(texts)
                return _found[taxonomy]
            tried.append(str(folder))
    other = f" (found another version in {', '.join(tried)})" if tried else ""
    raise OntologyError(
        f"This measure needs the definitions of {taxonomy.name or 'the ontology'}, which are not part of Kanopy, and "
        f"no installed WordNet of that version was found{other}. Install one (Debian: `apt install wordnet-base`; "
        "NLTK: `nltk.download('wordnet')`) or set WNHOME to the folder above its `dict`, or use another measure."
    )


def _data_file(folder: Path, name: str) -> Path | zipfile.Path | None:
    """A file of an installed WordNet; NLTK leaves its folder packed."""
    if (folder / name).is_file():
        return folder / name
    packed = folder.with_suffix(".zip")
    if packed.is_file() and zipfile.is_zipfile(packed):
        inside = zipfile.Path(packed, f"{folder.name}/{name}")
        return inside if inside.is_file() else None
    return None


def _read(taxonomy: Taxonomy, path: Path | zipfile.Path) -> list[str] | None:
    """The definitions in concept order, or `None` if the file does not have exactly these synsets."""
    texts: dict[str, str] = {}
    with path.open("r", encoding="utf-8", errors="replace") as lines:
        for line in map(str, lines):
            if not line.startswith("  "):
                _, _, gloss = line.partition("|")
                texts[f"{line[:8]}-{taxonomy.part_of_speech}"] = gloss.split('; "')[0].strip()
    keys = [key for number, key in enumerate(taxonomy.keys) if number != taxonomy.virtual_root]
    if len(texts) != len(keys) or any(key not in texts for key in keys):
        return None
    return [texts.get(key, "") for key in taxonomy.keys]
