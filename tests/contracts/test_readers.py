"""One contract for every reader of ontologies.

Whoever adds a reader adds its suffix to `READERS` and says in its file what the five animals look like in its format
(`SAMPLE`); the same five concepts must come out of every format.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from kanopy._errors import OntologyError
from kanopy.ontology.compiled import save_ontology
from kanopy.ontology.load import READERS, load_ontology
from kanopy.ontology.taxonomy import Taxonomy

LMF = """<?xml version="1.0" encoding="UTF-8"?>
<LexicalResource><Lexicon id="t" label="t" language="en" email="a@b" license="x" version="1">
<LexicalEntry id="e1"><Lemma writtenForm="animal" partOfSpeech="n"/><Sense id="s1" synset="a"/></LexicalEntry>
<LexicalEntry id="e2"><Lemma writtenForm="bird" partOfSpeech="n"/><Sense id="s2" synset="b"/></LexicalEntry>
<LexicalEntry id="e3"><Lemma writtenForm="fish" partOfSpeech="n"/><Sense id="s3" synset="f"/></LexicalEntry>
<LexicalEntry id="e4"><Lemma writtenForm="heron" partOfSpeech="n"/><Sense id="s4" synset="h"/></LexicalEntry>
<LexicalEntry id="e5"><Lemma writtenForm="trout" partOfSpeech="n"/><Sense id="s5" synset="t"/></LexicalEntry>
<Synset id="a" ili="" partOfSpeech="n"/>
<Synset id="b" ili="" partOfSpeech="n"><SynsetRelation relType="hypernym" target="a"/></Synset>
<Synset id="f" ili="" partOfSpeech="n"><SynsetRelation relType="hypernym" target="a"/></Synset>
<Synset id="h" ili="" partOfSpeech="n"><SynsetRelation relType="hypernym" target="b"/></Synset>
<Synset id="t" ili="" partOfSpeech="n"><SynsetRelation relType="hypernym" target="f"/></Synset>
</Lexicon></LexicalResource>"""
OBO = "format-version: 1.2\nontology: t\n\n" + "\n".join(
    f"[Term]\nid: T:{number}\nname: {name}\n" + (f"is_a: T:{parent}\n" if parent else "")
    for number, name, parent in [(1, "animal", 0), (2, "bird", 1), (3, "fish", 1), (4, "heron", 2), (5, "trout", 3)]
)
OWL = """<?xml version="1.0"?>
<rdf:RDF xmlns="http://x/o#" xml:base="http://x/o" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
 xmlns:oboInOwl="http://www.geneontology.org/formats/oboInOwl#">
<owl:Ontology rdf:about="http://x/o"/>
""" + "".join(
    f'<owl:Class rdf:about="http://x/o#{name}"><rdfs:label>{name}</rdfs:label>'
    + (f'<rdfs:subClassOf rdf:resource="http://x/o#{parent}"/>' if parent else "")
    + "</owl:Class>\n"
    for name, parent in [("animal", ""), ("bird", "animal"), ("fish", "animal"), ("heron", "bird"), ("trout", "fish")]
) + "</rdf:RDF>"  # fmt: skip
RDF = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#">
""" + "".join(
    f'<skos:Concept rdf:about="http://x/{name}"><skos:prefLabel>{name}</skos:prefLabel>'
    + (f'<skos:broader rdf:resource="http://x/{parent}"/>' if parent else "")
    + "</skos:Concept>\n"
    for name, parent in [("animal", ""), ("bird", "animal"), ("fish", "animal"), ("heron", "bird"), ("trout", "fish")]
) + "</rdf:RDF>"  # fmt: skip
TTL = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix x: <http://x/> .\n" + "".join(
    f'x:{name} a skos:Concept ; skos:prefLabel "{name}"' + (f" ; skos:broader x:{parent}" if parent else "") + " .\n"
    for name, parent in [("animal", ""), ("bird", "animal"), ("fish", "animal"), ("heron", "bird"), ("trout", "fish")]
)
LINKS = [("child", "parent"), ("bird", "animal"), ("fish", "animal"), ("heron", "bird"), ("trout", "fish")]
SAMPLES = {
    ".xml": LMF,
    ".xml.gz": LMF,
    ".obo": OBO,
    ".owl": OWL,
    ".rdf": RDF,
    ".ttl": TTL,
    ".csv": "\n".join(",".join(link) for link in LINKS),
    ".tsv": "\n".join("\t".join(link) for link in LINKS),
}
COMPILED = ".npz"


def write(folder: Path, suffix: str, content: bytes | None = None) -> Path:
    """A file of a format: the five animals, or other bytes."""
    path = folder / f"animals{suffix}"
    if content is None and suffix == COMPILED:
        save_ontology(load_ontology(write(folder, ".csv")), path)
        return path
    if content is None:
        content = (SAMPLES.get(suffix) or sys.modules[READERS[suffix].__module__].SAMPLE).encode()
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    return path


every = pytest.mark.parametrize("suffix", list(READERS))


PARENTS = {"bird": "animal", "fish": "animal", "heron": "bird", "trout": "fish"}


def links(found: Taxonomy) -> dict[str, str]:
    """The parent of every animal that has one."""
    there = {name: found.senses(name) for name in (*PARENTS, "animal")}
    name_of = {concept: name for name, concepts in there.items() for concept in concepts}
    return {name: name_of[above] for name, own in there.items() for each in own for above in found.parents_of(each)}


@every
def test_the_same_concepts_come_out_of_every_format(suffix: str, tmp_path: Path) -> None:
    found = load_ontology(write(tmp_path, suffix))
    assert found.size == 5 and links(found) == PARENTS
    assert found.parents_of(found.senses("animal")[0]) == ()


@every
@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe nonsense"], ids=["empty", "bytes"])
def test_broken_files_are_an_error_that_names_the_file(suffix: str, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match="animals"):
        load_ontology(write(tmp_path, suffix, content))


@every
def test_half_a_file_is_never_half_an_ontology(suffix: str, tmp_path: Path) -> None:
    """A file that was cut off is refused; a format of lines cannot tell, and has what its lines say."""
    raw = write(tmp_path, suffix).read_bytes()

    def read(length: int) -> Taxonomy | None:
        cut = tmp_path / f"cut{suffix}"
        cut.write_bytes(raw[:length])
        try:
            return load_ontology(cut)
        except OntologyError:
            return None

    somewhere = len(raw) * 2 // 3
    lines, part = read(raw.rfind(b"\n", 0, somewhere) + 1), read(somewhere)
    if lines is None:
        assert part is None, "half a file is taken for a whole one"
    else:
        assert links(lines).items() <= PARENTS.items() and (part is None or part.size <= 5)
