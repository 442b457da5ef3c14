"""One contract for every reader of ontologies.

Whoever adds a reader adds its suffix to `READERS` and says in its file what the five animals look like in its format
(`SAMPLE`); the same five concepts must come out of every format.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kanopy.extend.contracts.readers import CHECKS
from kanopy.ontology.compiled import save_ontology
from kanopy.ontology.load import READERS, load_ontology

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


def write(folder: Path, suffix: str) -> Path:
    """A file of a format with the five animals."""
    path = folder / f"animals{suffix}"
    if suffix == COMPILED:
        save_ontology(load_ontology(write(folder, ".csv")), path)
        return path
    content = (SAMPLES.get(suffix) or sys.modules[READERS[suffix].__module__].SAMPLE).encode()
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    return path


@pytest.mark.parametrize("suffix", list(READERS))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_contract_of_readers(suffix: str, check: Callable[..., Any], tmp_path: Path) -> None:
    check(load_ontology, suffix, write(tmp_path, suffix).read_bytes())
