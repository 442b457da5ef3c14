"""What holds for every reader of ontologies: the same five animals come out of every format."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kanopy._errors import OntologyError
from kanopy.extend.contracts.refusing import refused
from kanopy.ontology.taxonomy import Taxonomy

PARENTS = {"bird": "animal", "fish": "animal", "heron": "bird", "trout": "fish"}
"""The links that the sample of every format holds."""

Read = Callable[[Path], Taxonomy]


def links(taxonomy: Taxonomy) -> dict[str, str]:
    """The parent of every animal that has one."""
    there = {name: taxonomy.senses(name) for name in (*PARENTS, "animal")}
    name_of = {concept: name for name, concepts in there.items() for concept in concepts}
    return {
        name: name_of[above]
        for name, senses_of_name in there.items()
        for sense in senses_of_name
        for above in taxonomy.parents_of(sense)
    }


def read_bytes(read: Read, suffix: str, content: bytes) -> Taxonomy:
    """What a reader finds in a file of some bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"animals{suffix}"
        path.write_bytes(content)
        return read(path)


def finds_the_same_concepts(read: Read, suffix: str, sample: bytes) -> None:
    """The five animals of the sample, and how they hang together, are found."""
    taxonomy = read_bytes(read, suffix, sample)
    assert taxonomy.size == 5 and links(taxonomy) == PARENTS, (
        "the sample should hold heron < bird < animal, trout < fish < animal"
    )
    assert taxonomy.parents_of(taxonomy.senses("animal")[0]) == ()


def refuses_broken_files(read: Read, suffix: str, sample: bytes) -> None:
    """Broken files are an error that names the file."""
    for content in (b"", b"\x00\xff\xfe nonsense"):
        with refused(OntologyError, "animals"):
            read_bytes(read, suffix, content)


def never_reads_half(read: Read, suffix: str, sample: bytes) -> None:
    """A file that was cut off is refused; a format of lines cannot tell, and has what its lines say."""

    def found(length: int) -> Any:
        try:
            return read_bytes(read, suffix, sample[:length])
        except OntologyError:
            return None

    somewhere = len(sample) * 2 // 3
    lines, half = found(sample.rfind(b"\n", 0, somewhere) + 1), found(somewhere)
    if lines is None:
        assert half is None, "half a file is taken for a whole one"
    else:
        assert links(lines).items() <= PARENTS.items() and (half is None or half.size <= 5)


CHECKS = (finds_the_same_concepts, refuses_broken_files, never_reads_half)
