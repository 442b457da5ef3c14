"""Readers: what each format gives, and what each kind of bad file is told."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from kanopy._errors import OntologyError
from kanopy.ontology.load import load_ontology, read_ontology, save_ontology
from kanopy.ontology.readers.parent_csv import read_parent_csv
from kanopy.ontology.readers.wordnet import compile_wordnet
from kanopy.ontology.taxonomy import Taxonomy

DATA_NOUN = """\
  1 A licence line.
00001740 03 n 01 entity 0 002 ~ 00001930 n 0000 ~ 00002000 n 0000 | that which is
00001930 03 n 02 animal 0 Creature 0 002 @ 00001740 n 0000 + 00005000 a 0101 | a living thing; "an animal"
00002000 03 n 01 animal 1 002 @ 00001740 n 0000 %p 00001930 n 0000 | another one
00002100 03 n 01 Rex 0 001 @i 00001930 n 0000 | a dog
"""
INDEX_NOUN = """\
  1 A licence line.
animal n 2 1 @ 2 1 00002000 00001930
creature n 1 1 @ 1 0 00001930
entity n 1 1 ~ 1 0 00001740
rex n 1 1 @ 1 0 00002100
"""
DATA_ADJ = """\
00005000 00 a 01 bestial 0 001 + 00001930 n 0101 | like an animal
00005100 00 s 01 beastly(p) 0 001 & 00005000 a 0000 | similar
"""
INDEX_ADJ = """\
bestial a 1 1 + 1 0 00005000
beastly a 1 1 & 1 0 00005100
"""


@pytest.fixture
def dict_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "dict"
    folder.mkdir()
    (folder / "data.noun").write_text(DATA_NOUN)
    (folder / "index.noun").write_text(INDEX_NOUN)
    (folder / "data.adj").write_text(DATA_ADJ)
    (folder / "index.adj").write_text(INDEX_ADJ)
    (folder / "noun.exc").write_text("reges rex\n")
    (folder / "cntlist.rev").write_text(
        "animal%1:03:00:: 2 5\nanimal%1:03:01:: 1 7\nbestial%3:00:00:: 1 2\ngone%1:03:00:: 1 1\n"
    )
    return folder


def test_princeton_folder(dict_folder: Path) -> None:
    taxonomy = load_ontology(dict_folder)
    assert [taxonomy.sense_name(c) for c in range(taxonomy.size)] == ["entity#1", "animal#2", "animal#1", "Rex#1"]
    assert taxonomy.terms_of(1) == ("animal", "Creature")
    assert taxonomy.tag_counts.tolist() == [0, 5, 7, 0]
    assert taxonomy.is_instance.tolist() == [False, False, False, True]
    assert taxonomy.nominalizations("bestial") == taxonomy.nominalizations("beastly") == (1,)
    assert taxonomy.other_parts_of_speech("beastly") == ("adjective",)
    assert taxonomy.exceptions == {"reges": ("rex",)}
    assert taxonomy.parts.tolist() == [1]
    only_classes = read_ontology(dict_folder, is_a=["@"], name="mine")
    assert only_classes.name == "mine"
    assert only_classes.virtual_root == 4


def test_counts_go_by_the_key_of_a_sense_and_not_by_its_number(dict_folder: Path) -> None:
    (dict_folder / "cntlist.rev").write_text("animal%1:03:00:: 1 5\nanimal%1:03:01:: 2 7\n")
    taxonomy = load_ontology(dict_folder)
    assert taxonomy.tag_counts.tolist() == [0, 5, 7, 0]
    assert taxonomy.tagged("animal") == (7, 5)


@pytest.mark.parametrize(
    ("file", "edit", "message"),
    [
        ("data.noun", lambda text: text[:-40], r"data.noun, line 5: this is not a whole WordNet synset.*incomplete"),
        (
            "data.noun",
            lambda text: text[: text.index("00002100")],
            r"index.noun, line 5: 'rex' names the synset 00002100",
        ),
        ("data.noun", lambda text: text.replace("@ 00001740", "@ 00009999", 1), r"line 3: '00001930-n' has the parent"),
        ("data.noun", lambda text: text.replace("002 @", "003 @", 1), "not a whole WordNet synset"),
        ("data.noun", lambda text: "", "no concepts|names the synset"),
        (
            "data.noun",
            lambda text: text.replace("002 ~ 00001930 n", "002 @ 00001930 n", 1),
            "form a cycle: 'entity' is-a",
        ),
        ("index.noun", lambda text: text[:-5], r"index.noun, line 5: this is not a whole index entry"),
        ("cntlist.rev", lambda text: text[:-4], r"cntlist.rev, line 4: this is not a sense and its count"),
    ],
)
def test_broken_princeton_folders(dict_folder: Path, file: str, edit: Callable[[str], str], message: str) -> None:
    path = dict_folder / file
    path.write_text(edit(path.read_text()))
    with pytest.raises(OntologyError, match=message):
        compile_wordnet(dict_folder)


def test_folder_without_wordnet(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match=r"has no file data.noun.*/usr/share/wordnet"):
        load_ontology(tmp_path)


LMF = """<?xml version="1.0" encoding="UTF-8"?>
<LexicalResource><Lexicon id="t" language="en">
<LexicalEntry id="e1"><Lemma writtenForm="Cat" partOfSpeech="n"/><Sense id="s1" synset="y2" n="2"/>
  <Sense id="s2" synset="y3" n="1"><Count>4</Count></Sense></LexicalEntry>
<LexicalEntry id="e2"><Lemma writtenForm="animal" partOfSpeech="n"/><Sense id="s3" synset="y1"/></LexicalEntry>
<LexicalEntry id="e3"><Lemma writtenForm="purr" partOfSpeech="v"/><Sense id="s4" synset="y9"/></LexicalEntry>
<Synset id="y1" partOfSpeech="n"/>
<Synset id="y2" partOfSpeech="n"><SynsetRelation relType="hypernym" target="y1"/></Synset>
<Synset id="y3" partOfSpeech="n"><SynsetRelation relType="instance_hypernym" target="y1"/></Synset>
<Synset id="y9" partOfSpeech="v"/>
</Lexicon></LexicalResource>
"""


def test_lmf(tmp_path: Path) -> None:
    path = tmp_path / "t.xml"
    path.write_text(LMF)
    taxonomy = load_ontology(path)
    assert [taxonomy.keys[c] for c in taxonomy.senses("cat")] == ["y3", "y2"]
    assert taxonomy.label(1) == "Cat"
    assert taxonomy.is_instance.tolist() == [False, False, True]
    assert taxonomy.tag_counts.tolist() == [0, 0, 4]
    assert taxonomy.other_parts_of_speech("purr") == ("verb",)
    packed = tmp_path / "t.xml.gz"
    packed.write_bytes(gzip.compress(LMF.encode()))
    assert list(load_ontology(packed).keys) == list(taxonomy.keys)
    packed.write_bytes(gzip.compress(LMF.encode())[:-30])
    with pytest.raises(OntologyError, match="incomplete"):
        load_ontology(packed)
    path.write_text(LMF[:-60])
    with pytest.raises(OntologyError, match="not a whole XML file"):
        load_ontology(path)
    path.write_text(LMF.replace('target="y1"', 'target="y7"', 1))
    with pytest.raises(OntologyError, match="'y2' has the parent 'y7'"):
        load_ontology(path)
    path.write_text("<a/>")
    with pytest.raises(OntologyError, match="no synsets"):
        load_ontology(path)


OBO = """format-version: 1.2
ontology: t

[Term]
id: T:1
name: disease

[Term]
id: T:2
name: infection
synonym: "contagion" EXACT []
is_a: T:1 ! disease

[Term]
id: T:3
name: liver
relationship: part_of T:1

[Term]
id: T:4
name: old one
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""


def test_obo(tmp_path: Path) -> None:
    pytest.importorskip("pronto")
    path = tmp_path / "t.obo"
    path.write_text(OBO)
    taxonomy = load_ontology(path)
    assert taxonomy.size == 4
    assert taxonomy.virtual_root == 3
    assert taxonomy.is_a(taxonomy.sense("contagion"), taxonomy.sense("disease"))
    joined = read_ontology(path, is_a=["is_a", "part_of"])
    assert joined.virtual_root == -1
    assert joined.is_a(joined.sense("liver"), joined.sense("disease"))
    with pytest.raises(OntologyError, match=r"no relationship 'has_part'. It has: part_of"):
        read_ontology(path, is_a=["has_part"])
    path.write_text(OBO.replace("name: disease\n", "name: disease\nis_a: T:2\n"))
    with pytest.raises(OntologyError, match="form a cycle: 'disease' is-a 'infection' is-a 'disease'"):
        load_ontology(path)
    path.write_text(OBO.replace("is_a: T:1", "is_a: T:99"))
    with pytest.raises(OntologyError, match=r"t.obo, line 12: 'T:2' has the parent 'T:99'"):
        load_ontology(path)
    path.write_text("this is no obo file\n")
    with pytest.raises(OntologyError, match=r"cannot be read as OBO|no concepts"):
        load_ontology(path)


OWL = """<?xml version="1.0"?>
<rdf:RDF xmlns="http://example.org/t#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<owl:Ontology rdf:about="http://example.org/t"/>
<owl:Class rdf:about="http://example.org/t#A"><rdfs:label>animal</rdfs:label></owl:Class>
<owl:Class rdf:about="http://example.org/t#C"><rdfs:label>cat</rdfs:label>
  <rdfs:subClassOf rdf:resource="http://example.org/t#A"/></owl:Class>
</rdf:RDF>
"""


def test_owl(tmp_path: Path) -> None:
    pytest.importorskip("pronto")
    path = tmp_path / "t.owl"
    path.write_text(OWL)
    taxonomy = load_ontology(path)
    assert taxonomy.size == 2
    assert taxonomy.is_a(taxonomy.sense("cat"), taxonomy.sense("animal"))


TTL = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix x: <http://example.org/> .
# a comment
x:animal a skos:Concept ; skos:prefLabel "animal"@en, "Tier"@de .
x:cat a skos:Concept ;
  skos:prefLabel "Katze"@de , "cat"@en ; skos:altLabel "house \\"cat\\""@en ;
  skos:broader x:animal .
<http://example.org/dog> a skos:Concept ; skos:prefLabel "dog" .
x:animal skos:narrower <http://example.org/dog> .
"""
RDF = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#">
<skos:Concept rdf:about="http://example.org/animal"><skos:prefLabel xml:lang="en">animal</skos:prefLabel></skos:Concept>
<skos:Concept rdf:about="http://example.org/cat"><skos:prefLabel xml:lang="de">Katze</skos:prefLabel>
<skos:prefLabel xml:lang="en">cat</skos:prefLabel><skos:altLabel xml:lang="en">house "cat"</skos:altLabel>
<skos:broader rdf:resource="http://example.org/animal"/></skos:Concept>
<rdf:Description rdf:about="http://example.org/dog"><rdf:type rdf:resource="http://www.w3.org/2004/02/skos/core#Concept"/>
<skos:prefLabel>dog</skos:prefLabel><skos:broader rdf:resource="http://example.org/animal"/></rdf:Description>
</rdf:RDF>
"""


@pytest.mark.parametrize(("name", "text"), [("t.ttl", TTL), ("t.rdf", RDF)])
def test_skos(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    taxonomy = load_ontology(path)
    assert [taxonomy.label(c) for c in range(taxonomy.size)] == ["animal", "cat", "dog"]
    assert taxonomy.terms_of(1) == ("cat", 'house "cat"')
    assert taxonomy.parents_of(1) == taxonomy.parents_of(2) == (0,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TTL.replace("skos:broader x:animal", "skos:broader x:nothing"), r"line 5: .*cat' has the parent '.*nothing'"),
        (TTL.rstrip()[:-1], "line 9: the last statement has no end"),
        (TTL.replace("x:cat a", "y:cat a"), r"line 5: the prefix 'y:' of 'y:cat' is not declared"),
        (TTL + "x:a skos:broader [ ] .\n", "line 10: blank nodes"),
        ("# nothing\n", "no concepts"),
    ],
)
def test_broken_turtle(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.ttl"
    path.write_text(text)
    with pytest.raises(OntologyError, match=message):
        load_ontology(path)


def test_parent_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("child,parent,terms\ncat,mammal,kitty|house cat\ncat,pet\nmammal,animal\npet,animal\n\nanimal,\n")
    taxonomy = load_ontology(path)
    assert {taxonomy.label(c) for c in taxonomy.parents_of(taxonomy.sense("house cat"))} == {"mammal", "pet"}
    assert taxonomy.virtual_root == -1
    path.write_text("cat,mammal\nmammal,animal\n")
    assert load_ontology(path).size == 3
    with pytest.raises(OntologyError, match="line 2: 'mammal' has the parent 'animal'"):
        read_parent_csv(path, strict=True)
    path.write_text("a,b\nb,c\nc,a\n")
    with pytest.raises(OntologyError, match="form a cycle: 'a' is-a 'b' is-a 'c' is-a 'a'"):
        load_ontology(path)
    for text, message in [
        ("a,b,c,d\n", "line 1: expected"),
        (",b\n", "line 1: expected"),
        ("a;b\n", "line 1: expected"),
    ]:
        path.write_text(text)
        with pytest.raises(OntologyError, match=message):
            load_ontology(path)
    with pytest.raises(OntologyError, match="one kind of link"):
        path.write_text("a,b\n")
        read_ontology(path, is_a=["x"])


def test_files_that_are_no_ontology(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match="Did you mean 'wordnet'"):
        load_ontology("wordnt")
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(OntologyError, match=r"empty.csv is empty"):
        load_ontology(empty)
    other = tmp_path / "notes.docx"
    other.write_text("x")
    with pytest.raises(OntologyError, match="cannot tell the format"):
        load_ontology(other)
    broken = tmp_path / "broken.npz"
    save_ontology(Taxonomy.from_hierarchy(_flat()), broken)
    broken.write_bytes(broken.read_bytes()[:-50])
    with pytest.raises(OntologyError, match="not a compiled ontology, or it is incomplete"):
        load_ontology(broken)


def _flat() -> object:
    from kanopy.hierarchy.hierarchy import Hierarchy

    return Hierarchy.flat(["a", "b"])


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    import os

    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    first = load_ontology(path)
    assert load_ontology(path) is first
    path.write_text("a,b\nc,b\n")
    os.utime(path, (1, 1))
    assert load_ontology(path).size == 3
