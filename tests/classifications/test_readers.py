"""Each reader with a small file of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kanopy._errors import HierarchyError
from kanopy.classifications.compact import write_compact
from kanopy.classifications.readers import claml, loinc, order, skos, table
from kanopy.classifications.readers.files import READERS, format_of, read_classification
from kanopy.hierarchy.builders.registry import build_hierarchy

FRUIT = {"F1": ["Apples", "Fruit"], "F2": ["Pears", "Fruit"]}


def chains(found) -> dict[str, list[str]]:
    inner = set(found.parent.tolist())
    return {
        found.codes[leaf]: [found.label(at) for at in found.chain(leaf)]
        for leaf in range(found.size)
        if leaf not in inner
    }


@pytest.mark.parametrize(
    ("file", "text", "format", "expected"),
    [
        ("f.csv", table.SAMPLE, "table", {"01.1": ["Apples", "Fruit"], "01.2": ["Pears", "Fruit"]}),
        ("f.xml", claml.SAMPLE, "claml", FRUIT),
        ("f.ttl", skos.SAMPLE, "skos", FRUIT),
        ("h.csv", loinc.SAMPLE, "loinc", {"1-8": ["Apples", "Fruit"], "2-6": ["Pears", "Fruit"]}),
    ],
)
def test_a_small_file_of_each_format(tmp_path: Path, file: str, text: str, format: str, expected: dict):
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    assert format_of(path) == format and format in READERS
    assert chains(read_classification(path)) == expected


def test_order_files_get_blocks_and_chapters_from_the_bundled_version(tmp_path: Path):
    path = tmp_path / "icd10cm-order-2026.txt"
    path.write_text(order.SAMPLE)
    found = read_classification(path)
    assert format_of(path) == "order"
    assert [found.codes[at] for at in found.chain(found.find("A000"))] == ["A00.0", "A00", "A00-A09", "1"]


def test_languages_of_a_table_and_of_skos(tmp_path: Path):
    for file, text, code in (("f.csv", table.SAMPLE, "01.1"), ("f.ttl", skos.SAMPLE, "F1")):
        (tmp_path / file).write_text(text, encoding="utf-8")
        found = read_classification(tmp_path / file)
        assert found.label(found.find(code), "de") == "Äpfel"


def test_a_table_without_parents_takes_the_beginnings_of_codes(tmp_path: Path):
    (tmp_path / "c.txt").write_text("A,Alpha\nA1,One\nA11,Eleven\nB,Beta\n")
    found = read_classification(tmp_path / "c.txt")
    assert [found.codes[at] for at in found.chain(found.find("A11"))] == ["A11", "A1", "A"]


def test_rf2_with_several_parents(tmp_path: Path):
    folder = tmp_path / "Snapshot" / "Terminology"
    folder.mkdir(parents=True)
    line = "{}\t20240101\t1\t900000000000207008"
    concepts = ["138875005", "100", "200", "300", "400"]
    body = "\n".join(line.format(code) + "\t900000000000074008" for code in concepts)
    (folder / "sct2_Concept_Snapshot_INT.txt").write_text(
        "id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId\n" + body
    )
    names = {"100": "Disorder (disorder)", "200": "Lung disease (disorder)", "300": "Infection (disorder)",
             "400": "Pneumonia (disorder)"}  # fmt: skip
    rows = [f"1{code}\t2024\t1\tm\t{code}\ten\t900000000000003001\t{name}\ts" for code, name in names.items()]
    rows.append("9400\t2024\t1\tm\t400\ten\t900000000000013009\tLung infection\ts")
    (folder / "sct2_Description_Snapshot-en_INT.txt").write_text("head\n" + "\n".join(rows))
    links = [("100", "138875005"), ("200", "100"), ("300", "100"), ("400", "200"), ("400", "300")]
    rows = [f"{i}\t2024\t1\tm\t{a}\t{b}\t0\t116680003\tc\tm" for i, (a, b) in enumerate(links)]
    (folder / "sct2_Relationship_Snapshot_INT.txt").write_text("head\n" + "\n".join(rows))
    found = read_classification(tmp_path, name="snomed")
    assert found.label(found.find("400")) == "Pneumonia" and len(found.other_parents[found.find("400")]) == 2
    h = build_hierarchy(
        ["400", "Lung infection", "200"], "classification", classification=str(tmp_path), labels="label"
    )
    assert h.generalize("Lung infection", 1) == h.generalize("400", 1) == "Pneumonia"
    with pytest.raises(HierarchyError, match="has no file sct2_Concept"):
        read_classification(_empty(tmp_path))


def _empty(folder: Path) -> Path:
    empty = folder / "empty"
    empty.mkdir()
    return empty


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("c.csv", "code,label,parent\nA,a,B\nB,b,A\n", "cycle through"),
        ("c.csv", "label,parent\nx,y\n", "no column of codes"),
        ("c.csv", "code,label,parent\n", "has no codes"),
        ("c.csv", "code,label,parent\nA,a,\nB\n", "fewer than 3 cells"),
        ("c.xml", "<ClaML><Class", "cannot be read as ClaML"),
        ("c.xml", "<ClaML></ClaML>", "has no classes"),
    ],
)
def test_malformed_files_are_clear_errors(tmp_path: Path, file: str, text: str, words: str):
    (tmp_path / file).write_text(text)
    with pytest.raises(HierarchyError, match=words):
        read_classification(tmp_path / file)


def test_a_file_of_the_user_gives_labels_to_codes_that_come_without(tmp_path: Path):
    (tmp_path / "atc.csv").write_text(
        "ATC code,ATC level name\nA,Alimentary\nA02,Acid drugs\nA02BC,Pump inhibitors\nA02BC01,omeprazole\n"
        "A02BC02,pantoprazole\nA02BA02,ranitidine\nC09AA05,ramipril\n"
    )
    given = ["omeprazole", "A02BC02", "Ranitidine", "ramipril"]
    h = build_hierarchy(given, "classification", classification="atc", file=str(tmp_path / "atc.csv"), labels="code")
    above = {row[0]: set(row[1:]) for row in h.rows()}
    assert {"A02BC", "A02"} <= above["omeprazole"] & above["A02BC02"] and "A02BC" not in above["Ranitidine"]
    assert "A02" in above["Ranitidine"] and "A02" not in above["ramipril"]


def test_what_is_stored_is_read_again(tmp_path: Path):
    (tmp_path / "f.csv").write_text(table.SAMPLE, encoding="utf-8")
    found = read_classification(tmp_path / "f.csv")
    write_compact(found, tmp_path / "f.txt.gz", {"Malus": "01.1"})
    again = read_classification(tmp_path / "f.txt.gz")
    assert list(again.codes) == list(found.codes) and again.parent.tolist() == found.parent.tolist()
    assert again.aliases["malus"] == again.find("01.1") and again.languages == found.languages
    (tmp_path / "cut.txt.gz").write_bytes((tmp_path / "f.txt.gz").read_bytes()[:30])
    with pytest.raises(HierarchyError, match="it is incomplete"):
        read_classification(tmp_path / "cut.txt.gz")
