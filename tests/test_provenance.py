"""The manifest as RO-Crate metadata: whole references, every column with its treatment, no value of the table."""

from __future__ import annotations

import json

import polars as pl

import kanopy
from kanopy.release.evidence.provenance import crate_of, provenance_json, ro_crate


def test_a_release_and_its_crate(tmp_path) -> None:
    table = pl.DataFrame({
        "id": [f"p{i}" for i in range(60)], "age": [20 + i * 7 % 40 for i in range(60)],
        "ill": ["Xylopath" if i == 3 else "abc"[i % 3] for i in range(60)], "note": ["n"] * 60,
    })  # fmt: skip
    table.write_csv(tmp_path / "people.csv")
    job = kanopy.Job(quasi="age", sensitive="ill", identifiers="id", k=5)
    result = kanopy.anonymize(str(tmp_path / "people.csv"), job)
    result.write(tmp_path / "release.csv", manifest=tmp_path / "release.json")
    manifest = json.loads((tmp_path / "release.json").read_text())
    crate = ro_crate(manifest)
    assert crate == crate_of(tmp_path / "release.csv") == json.loads(provenance_json(manifest))
    graph = {each["@id"]: each for each in crate["@graph"]}
    text = json.dumps(crate)
    assert "Xylopath" not in text and "p17" not in text
    assert {name: graph[f"#column-{name}"]["value"] for name in ("id", "age", "ill", "note")} == {
        "id": "not published", "age": "generalization", "ill": "published as it is", "note": "not published",
    }  # fmt: skip
    assert graph["release.csv"]["spdx:checksum"]["spdx:checksumValue"] == manifest["files"]["output"]["sha256"]
    assert [each["@id"] for each in graph["release.csv"]["variableMeasured"]] == ["#column-age", "#column-ill"]
    external = ("https://", "http://")

    def references(value: object) -> list[str]:
        if isinstance(value, dict):
            own = [value["@id"]] if set(value) == {"@id"} else []
            return own + [each for item in value.values() for each in references(item)]
        return [each for item in value for each in references(item)] if isinstance(value, list) else []

    for each in references(crate["@graph"]):
        assert each in graph or each.startswith(external), each
