"""Open an ontology by name or by path: `load_ontology("wordnet")`, `load_ontology("diseases.obo")`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from kanopy.errors import OntologyError, near_miss
from kanopy.ontology import lmf, obo, parent_csv, skos, wordnet
from kanopy.ontology.compiled import load_compiled, save
from kanopy.ontology.taxonomy import Taxonomy

__all__ = ["BUILT_IN", "READERS", "load_ontology", "save"]

DATA = Path(__file__).resolve().parent.parent / "data"

BUILT_IN: Mapping[str, Path] = {
    "wordnet": DATA / "wordnet30.npz",
}

READERS: Mapping[str, Callable[[Path], Taxonomy]] = {
    ".npz": load_compiled,
    ".xml": lmf.read_lmf,
    ".xml.gz": lmf.read_lmf,
    ".obo": obo.read_obo,
    ".owl": obo.read_obo,
    ".rdf": skos.read_skos,
    ".ttl": skos.read_skos,
    ".csv": parent_csv.read_parent_csv,
    ".tsv": parent_csv.read_parent_csv,
}


def load_ontology(name_or_path: str | Path) -> Taxonomy:
    """An ontology that comes with Kanopy (`wordnet`), or one read from a file or a WordNet `dict` folder.

    The format follows from the suffix: compiled `.npz`, WN-LMF `.xml` (also `.xml.gz`), `.obo`, `.owl`, SKOS `.rdf`
    and `.ttl`, parent-child `.csv` and `.tsv`. The same unchanged file is read only once per process.

    >>> wordnet = load_ontology("wordnet")
    >>> [wordnet.sense_name(c) for c in wordnet.senses("tiger")]
    ['tiger#1', 'tiger#2']
    """
    text = str(name_or_path)
    path = BUILT_IN.get(text.lower(), Path(text))
    if not path.exists():
        raise OntologyError(
            f"There is no ontology {text!r}: it is neither built in nor a file. {near_miss(text.lower(), BUILT_IN)}"
        )
    changed = (
        max((item.stat().st_mtime_ns for item in path.glob("*")), default=0)
        if path.is_dir()
        else path.stat().st_mtime_ns
    )
    return _load(path.resolve(), changed)


@lru_cache(maxsize=8)
def _load(path: Path, changed: int) -> Taxonomy:
    if path.is_dir():
        return wordnet.compile_wordnet(path)
    if path.stat().st_size == 0:
        raise OntologyError(f"{path.name} is empty. Give an ontology with at least one concept.")
    for suffix, reader in READERS.items():
        if path.name.lower().endswith(suffix):
            return reader(path)
    raise OntologyError(
        f"Kanopy cannot tell the format of {path.name} from its suffix. Use one of {', '.join(READERS)}, "
        "or a folder with WordNet's data.noun and index.noun."
    )
