"""OMOP tables and FHIR resources become jobs of several tables; what nobody gave a role does not leave."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl

from kanopy.linked.guess import guess_fhir, guess_tables, holds_tables, tables_in
from kanopy.linked.job import LinkedJob
from kanopy.linked.run import anonymize_tables


def resources() -> list[dict[str, object]]:
    rng = random.Random(2)
    found: list[dict[str, object]] = []
    for n in range(40):
        found.append({"resourceType": "Patient", "id": f"p{n}", "gender": "male" if n % 2 else "female",
                      "birthDate": f"{1950 + n % 4 * 10}-03-0{1 + n % 9}", "name": [{"family": f"Family{n}"}],
                      "address": [{"postalCode": f"1{n % 2}000", "line": ["Secret Street 1"]}]})  # fmt: skip
        for visit in range(rng.randint(1, 2)):
            key = f"e{n}-{visit}"
            found.append({"resourceType": "Encounter", "id": key, "subject": {"reference": f"Patient/p{n}"},
                          "class": {"code": rng.choice(["AMB", "IMP"])},
                          "period": {"start": "2020-01-01"}})  # fmt: skip
            found.append({"resourceType": "Condition", "id": f"c{key}", "subject": {"reference": f"Patient/p{n}"},
                          "encounter": {"reference": f"Encounter/{key}"},
                          "code": {"coding": [{"code": rng.choice(["J45", "M54"])}]}})  # fmt: skip
    return found


def test_a_bundle_and_an_export_give_the_same_tables_and_release(tmp_path: Path) -> None:
    urls = {f"Patient/p{n}": f"urn:uuid:{n}" for n in range(40)}
    text = json.dumps({"resourceType": "Bundle", "entry": [
        {"fullUrl": urls.get(f"{each['resourceType']}/{each['id']}"), "resource": each}
        for each in resources()]})  # fmt: skip
    for reference, url in sorted(urls.items(), reverse=True):
        text = text.replace(f'"{reference}"', f'"{url}"')
    (tmp_path / "bundle.json").write_text(text)
    (tmp_path / "export").mkdir()
    for kind in ("Patient", "Encounter", "Condition"):
        lines = [json.dumps(each) for each in resources() if each["resourceType"] == kind]
        (tmp_path / "export" / f"{kind}.ndjson").write_text("\n".join(lines))
    heights = []
    for place in ("bundle.json", "export"):
        assert holds_tables(str(tmp_path / place))
        guessed = guess_fhir(str(tmp_path / place), tmp_path)
        assert [str(link.parent) for link in guessed.links].count("Patient.patient_id") == 2
        (tmp_path / "job.toml").write_text(guessed.text)
        found = anonymize_tables(LinkedJob.read(tmp_path / "job.toml"))
        found.write(tmp_path / f"{place}-out")
        written = "".join(file.read_text() for file in (tmp_path / f"{place}-out").iterdir())
        assert "Family" not in written and "Secret" not in written and "p1" not in written
        heights.append({name: frame.height for name, frame in found.frames.items()})
    assert heights[0] == heights[1] and heights[0]["Patient"] >= 38


def test_omop_tables_get_their_keys_and_roles(tmp_path: Path) -> None:
    rng = random.Random(1)
    person = pl.DataFrame({"person_id": range(60), "gender_concept_id": [8507, 8532] * 30,
                           "year_of_birth": [1950 + n % 3 for n in range(60)],
                           "person_source_value": [f"SECRET{n}" for n in range(60)]})  # fmt: skip
    visits = pl.DataFrame({"visit_occurrence_id": range(90), "person_id": [n % 60 for n in range(90)],
                           "visit_concept_id": [rng.choice([9201, 9202]) for _ in range(90)],
                           "visit_start_date": [f"2020-0{1 + n % 9}-10" for n in range(90)]})  # fmt: skip
    death = pl.DataFrame({"person_id": range(20), "death_date": ["2021-01-01"] * 20, "cause_concept_id": [1] * 20})
    for name, frame in (("person", person), ("visit_occurrence", visits), ("death", death)):
        frame.write_csv(tmp_path / f"{name}.csv")
    guessed = guess_tables(tables_in([str(tmp_path)]), tmp_path)
    assert str(guessed.unit) == "person.person_id" and "OMOP" in guessed.text
    (tmp_path / "job.toml").write_text(guessed.text)
    found = anonymize_tables(LinkedJob.read(tmp_path / "job.toml"))
    assert found.frames["person"].columns == ["person_id", "gender_concept_id", "year_of_birth"]
    assert found.verification.orphans == 0 and found.frames["death"].height == 20
    assert not set(found.frames["death"]["death_date"]) <= {"2021-01-01"}


def test_keys_and_links_are_found_by_names_and_inclusion(tmp_path: Path) -> None:
    people = pl.DataFrame({"id": [f"a{n}" for n in range(20)], "sex": ["f", "m"] * 10, "town": ["x", "y"] * 10})
    visits = pl.DataFrame(
        {"visit_no": range(60), "person_id": [f"a{n % 20}" for n in range(60)], "ward": ["u", "v"] * 30}
    )
    other = pl.DataFrame({"code": ["u", "v"], "name": ["U", "V"]})
    for name, frame in (("people", people), ("person", people), ("visits", visits), ("wards", other)):
        if name != "people":
            frame.write_csv(tmp_path / f"{name}.csv")
    guessed = guess_tables(tables_in([str(tmp_path)]), tmp_path)
    assert [(str(link.child), str(link.parent), link.certainty) for link in guessed.links] == [
        ("visits.person_id", "person.id", "sure")
    ]
    assert str(guessed.unit) == "person.id" and any("wards" in line for line in guessed.decide)
