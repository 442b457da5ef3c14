"""The manifest as RO-Crate metadata with W3C PROV terms: what catalogues can read of a release.

RO-Crate 1.1 (Soiland-Reyes et al. 2022, "Packaging research artefacts with RO-Crate", Data Science 5) is schema.org in
JSON-LD; the run is a `prov:Activity` that used the input and generated the release, the data set is a `dcat:Dataset`,
and every column is a `PropertyValue` with its role and treatment. It holds no value of the table, as the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kanopy.report.text import methods_of

CONTEXT = [
    "https://w3id.org/ro/crate/1.1/context",
    {
        "prov": "http://www.w3.org/ns/prov#", "dcat": "http://www.w3.org/ns/dcat#",
        "spdx": "http://spdx.org/rdf/terms#", "dpv": "https://w3id.org/dpv#",
    },
]  # fmt: skip
TREATMENTS = {
    "quasi-identifier": "generalization",
    "sensitive": "published as it is",
    "insensitive": "published as it is",
    "identifier": "not published",
    "undecided": "not published",
    "unit": "not published",
}
"""What becomes of a column by its role."""


def ro_crate(manifest: Mapping[str, Any], *, conforms_to: str = "1.1") -> dict[str, Any]:
    """RO-Crate metadata (the content of `ro-crate-metadata.json`) from a manifest.

    >>> manifest = {"made": "2026-11-19T00:00:00+00:00", "versions": {"kanopy": "0.1.0"}, "files": {},
    ...     "job": {"k": 5, "columns": {"age": {"role": "quasi-identifier"}}},
    ...     "verified": {"models": [], "left_out": []},
    ...     "result": {"levels": {"age": 2}, "column_losses": {"age": 0.5}, "rows": 9}}
    >>> graph = {each["@id"]: each for each in ro_crate(manifest)["@graph"]}
    >>> graph["#column-age"]["value"], graph["#run"]["@type"]
    ('generalization', ['CreateAction', 'prov:Activity'])
    """
    files = manifest["files"]
    output, source = files.get("output"), files.get("input")
    release = output["name"] if output else "#release"
    columns = _columns(manifest)
    graph: list[dict[str, Any]] = [
        {
            "@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": {"@id": "./"},
            "conformsTo": {"@id": f"https://w3id.org/ro/crate/{conforms_to}"},
        },
        {
            "@id": "./", "@type": ["Dataset", "dcat:Dataset"], "name": f"Release {release}",
            "description": " ".join(model["says"] for model in manifest["verified"]["models"]),
            "datePublished": manifest["made"], "hasPart": [{"@id": release}], "mentions": [{"@id": "#run"}],
        },
        {
            "@id": release, "@type": ["File", "prov:Entity", "dcat:Distribution"], "name": release,
            "prov:wasGeneratedBy": {"@id": "#run"}, "prov:wasAttributedTo": {"@id": "#kanopy"},
            "variableMeasured": [{"@id": column["@id"]} for column in columns if column["value"] != "not published"],
            **({"spdx:checksum": _checksum(output)} if output else {}),
            **({"prov:wasDerivedFrom": {"@id": "#input"}} if source else {}),
        },
        {
            "@id": "#run", "@type": ["CreateAction", "prov:Activity"], "name": "Anonymization",
            "instrument": {"@id": "#kanopy"}, "prov:wasAssociatedWith": {"@id": "#kanopy"},
            "endTime": manifest["made"], "prov:endedAtTime": manifest["made"], "result": [{"@id": release}],
            "additionalProperty": _settings(manifest),
            **({"object": [{"@id": "#input"}], "prov:used": {"@id": "#input"}} if source else {}),
        },
        {
            "@id": "#kanopy", "@type": ["SoftwareApplication", "prov:SoftwareAgent"], "name": "Kanopy",
            "softwareVersion": manifest["versions"]["kanopy"],
        },
        *columns,
    ]  # fmt: skip
    if source:
        # Its name and checksum; the table itself is no part of the crate.
        graph.append(
            {
                "@id": "#input",
                "@type": ["Dataset", "prov:Entity"],
                "name": source["name"],
                "spdx:checksum": _checksum(source),
            }
        )
    return {"@context": CONTEXT, "@graph": graph}


def provenance_json(manifest: Mapping[str, Any] | str) -> str:
    """The same as text, from a manifest or its text."""
    plain = json.loads(manifest) if isinstance(manifest, str) else manifest
    return json.dumps(ro_crate(plain), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def crate_of(release: Path) -> dict[str, Any] | None:
    """The metadata of a release whose manifest lies beside it; `None` where there is none."""
    from kanopy.release.manifest import find_manifest

    manifest = find_manifest(release)
    return None if manifest is None else ro_crate(manifest)


def _checksum(file: Mapping[str, str]) -> dict[str, str]:
    return {"@type": "spdx:Checksum", "spdx:algorithm": "SHA256", "spdx:checksumValue": file["sha256"]}


def _columns(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every column with its role and what was done to it."""
    result, verified = manifest["result"], manifest["verified"]
    pseudonyms = verified.get("pseudonymized", [])
    levels, losses = result.get("levels") or {}, result.get("column_losses") or {}
    roles = {
        name: str(column_settings.get("role", "undecided"))
        for name, column_settings in manifest["job"]["columns"].items()
    }
    roles |= {name: roles.get(name, "undecided") for name in verified.get("left_out", [])}
    methods = methods_of(verified.get("treatments", ()))
    columns_found = []
    for name, role in roles.items():
        treatment = "pseudonymization" if name in pseudonyms else TREATMENTS.get(role, "not published")
        treatment = methods.get(name, treatment)
        details: list[dict[str, Any]] = [{"@type": "PropertyValue", "name": "role", "value": role}]
        for words, value_of_column in (("level", levels), ("loss", losses)):
            if name in value_of_column and value_of_column[name] is not None:
                details.append({"@type": "PropertyValue", "name": words, "value": value_of_column[name]})
        columns_found.append(
            {
                "@id": f"#column-{name}", "@type": "PropertyValue", "name": name, "propertyID": "treatment",
                "value": treatment, "additionalProperty": details,
            }
        )  # fmt: skip
    return columns_found


def _settings(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The settings of the job and what was verified."""
    job = {name: value for name, value in manifest["job"].items() if isinstance(value, (str, int, float, bool))}
    job_settings = [{"@type": "PropertyValue", "name": name, "value": value} for name, value in job.items()]
    verified_models = [
        {"@type": "PropertyValue", "name": f"verified {model['name']}", "value": model["says"]}
        for model in manifest["verified"]["models"]
    ]
    return job_settings + verified_models
