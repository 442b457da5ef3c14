"""Open an ontology by name or by path: `load_ontology("wordnet")`, `load_ontology("diseases.obo")`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from kanopy._errors import OntologyError, near_miss
from kanopy._files import usable
from kanopy._lazy import public
from kanopy._registry import Named
from kanopy._usage import checked
from kanopy.ontology.compiled import save_ontology
from kanopy.ontology.readers import wordnet
from kanopy.ontology.taxonomy import Taxonomy

__all__ = ["BUILT_IN", "READERS", "load_ontology", "read_ontology", "save_ontology"]

DATA = Path(__file__).resolve().parent.parent / "data"

BUILT_IN: Mapping[str, Path] = {"wordnet": DATA / "wordnet30.npz"}

READERS: Named[Callable[..., Taxonomy]] = Named(
    {
        ".npz": "kanopy.ontology.compiled:load_compiled",
        ".xml": "kanopy.ontology.readers.lmf:read_lmf",
        ".xml.gz": "kanopy.ontology.readers.lmf:read_lmf",
        ".obo": "kanopy.ontology.readers.obo:read_obo",
        ".owl": "kanopy.ontology.readers.obo:read_obo",
        ".rdf": "kanopy.ontology.readers.skos:read_skos",
        ".ttl": "kanopy.ontology.readers.skos:read_skos",
        ".csv": "kanopy.ontology.readers.parent_csv:read_parent_csv",
        ".tsv": "kanopy.ontology.readers.parent_csv:read_parent_csv",
    },
    "format of ontologies",
    OntologyError,
    group="kanopy.readers",
    faults=lambda reader: [] if callable(reader) else ["it is no function that reads a file"],
)


@public("kanopy")
@checked
def load_ontology(name_or_path: str | Path) -> Taxonomy:
    """An ontology that comes with Kanopy (`wordnet`), or one read from a file or a WordNet `dict` folder.

    The format follows from the suffix: compiled `.npz`, WN-LMF `.xml` (also `.xml.gz`), `.obo`, `.owl`, SKOS `.rdf`
    and `.ttl`, parent-child `.csv` and `.tsv`. The same unchanged file is read only once per process. Several,
    joined by `+` (`wordnet+clinic.csv`), are one: see `kanopy.ontology.combine.united`.

    >>> wordnet = load_ontology("wordnet")
    >>> [wordnet.sense_name(c) for c in wordnet.senses("tiger")]
    ['tiger#1', 'tiger#2']
    """
    if parts := _several(name_or_path):
        return _united(tuple(_stamp(_locate(name)) for name in parts))
    return _load(*_stamp(_locate(name_or_path)))


def _several(name_or_path: str | Path) -> list[str]:
    """The ontologies that a text joins by +; none if it is one, or a file whose name has a +."""
    text = str(name_or_path)
    return (
        [name.strip() for name in text.split("+")] if "+" in text and not usable(text, OntologyError).exists() else []
    )


def _stamp(path: Path) -> tuple[Path, int]:
    """A file or folder, and when it changed last."""
    files = list(path.glob("*")) if path.is_dir() else [path]
    return path.resolve(), max((file.stat().st_mtime_ns for file in files), default=0)


@lru_cache(maxsize=4)
def _united(files: tuple[tuple[Path, int], ...]) -> Taxonomy:
    from kanopy.ontology.combine import united

    return united([_load(*file) for file in files])


@public("kanopy.ontology")
@checked
def read_ontology(path: str | Path, *, is_a: Sequence[str] = (), name: str = "") -> Taxonomy:
    """Read an ontology afresh, with a name of one's own and other relations that count as is-a.

    `is_a` names relations as the source does: `@` in WordNet folders, `hypernym` in WN-LMF, `is_a` or `part_of` in OBO.

    >>> read_ontology("wordnet", name="our WordNet").name
    'our WordNet'
    """
    if parts := _several(path):
        from kanopy.ontology.combine import united

        joined = united([read_ontology(name, is_a=is_a) for name in parts])
        return replace(joined, name=name) if name else joined
    location = _locate(path)
    options: dict[str, Any] = {"is_a": tuple(is_a)} if is_a else {}
    taxonomy: Taxonomy
    if location.is_dir():
        taxonomy = wordnet.compile_wordnet(location, **options)
    else:
        reader = _reader(location)
        if is_a and "is_a" not in inspect.signature(reader).parameters:
            raise OntologyError(
                f"{location.name} has one kind of link only. Leave out the relations that count as is-a."
            )
        taxonomy = reader(location, **options)
    return replace(taxonomy, name=name) if name else taxonomy


def _locate(name_or_path: str | Path) -> Path:
    text = str(name_or_path)
    path = BUILT_IN.get(text.lower()) or usable(text, OntologyError)
    if not path.exists():
        raise OntologyError(
            f"There is no ontology {text!r}: it is neither built in nor a file. {near_miss(text.lower(), BUILT_IN)}"
        )
    return path


@lru_cache(maxsize=8)
def _load(path: Path, changed: int) -> Taxonomy:
    del changed  # only part of the key: a changed file is read again
    taxonomy: Taxonomy = wordnet.compile_wordnet(path) if path.is_dir() else _reader(path)(path)
    return taxonomy


def _reader(path: Path) -> Callable[..., Taxonomy]:
    if path.stat().st_size == 0:
        raise OntologyError(f"{path.name} is empty. Give an ontology with at least one concept.")
    # Of suffixes that both fit, the longer one says more.
    suffixes = (*READERS.data, *READERS.adopted, *READERS.offered)
    if fitting := [suffix for suffix in suffixes if path.name.lower().endswith(suffix)]:
        return READERS[max(fitting, key=len)]
    raise OntologyError(
        f"Kanopy cannot tell the format of {path.name} from its suffix. Use one of {', '.join(READERS)}, "
        "or a folder with WordNet's data.noun and index.noun."
    )
