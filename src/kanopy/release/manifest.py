"""The manifest: what was done with which parameters and versions, and what was verified, without any value."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._job.job import Job
from kanopy._job.job_file import without_values
from kanopy._job.protection import renamed_identifiers
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.release.prepare import Generalizable

if TYPE_CHECKING:
    from kanopy.release.result import Result

MANIFEST_FORMAT = "kanopy-manifest"
LARGEST_MANIFEST = 10_000_000
LIBRARIES = ("numpy", "polars", "numba", "narwhals")
RESULT_KEYS = (
    "algorithm", "levels", "metric", "score", "losses", "column_losses", "rows", "suppressed", "classes",
    "smallest_class", "counted", "known", "units", "suppressed_units", "judged", "candidates", "guarantees_k",
    "parts", "risk", "targets", "rare_answers_shown", "changed_answers", "similarity_of_changes",
)  # fmt: skip


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def find_manifest(release: Path) -> dict[str, Any] | None:
    """The manifest of a release among the files of its folder: the one that has its checksum, whatever it is called."""
    if not release.is_file():
        return None
    digest = None
    for path in sorted(release.parent.glob("*.json")):
        try:
            text = path.read_text(encoding="utf-8") if path.stat().st_size <= LARGEST_MANIFEST else ""
            plain = json.loads(text) if f'"{MANIFEST_FORMAT}"' in text else None
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(plain, dict) and plain.get("format") == MANIFEST_FORMAT:
            digest = digest or checksum(release)
            if plain.get("files", {}).get("output", {}).get("sha256") == digest:
                return plain
    return None


def manifest_json(result: Result, files: Mapping[str, tuple[str, Path]] | None = None, *, written: bool = False) -> str:
    """What was done, with which parameters and versions, and what was verified: no value of the table in it.

    `files` maps roles such as "input" and "output" to the name of a file and where it lies; checksums are recorded.
    Rows that were `written` are shuffled unless the job keeps their order; those of a frame only where it says so.
    """
    from kanopy import __version__

    job, table = result.job, result.prepared.table
    renamed = renamed_identifiers(job)
    summary = result.summary()
    versions = {"kanopy": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:  # pragma: no cover - all are installed with Kanopy
            continue
    plain = (job.explicit() if isinstance(job, Job) else job).to_dict()
    for name, settings in plain["columns"].items():
        source = job.hierarchies.get(name)
        if "hierarchy" in settings and isinstance(source, (str, Path)):
            settings["hierarchy"] = {"file": Path(source).name}
    if "population" in plain:
        plain["population"] = Path(plain["population"]).name
    for settings in plain["columns"].values():
        if "protect" in settings and "table" in settings["protect"]:
            settings["protect"] = {**settings["protect"], "table": Path(settings["protect"]["table"]).name}
    plain = without_values({**plain, "models": [model.to_dict() for model in job.all_models]})
    content = {
        "format": MANIFEST_FORMAT,
        "version": 1,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions,
        "job": plain,
        "files": {role: {"name": name, "sha256": checksum(path)} for role, (name, path) in (files or {}).items()},
        "hierarchies": {
            name: {"values": h.size, "levels": h.height + 1, "sha256": _hierarchy_checksum(h)}
            for name, h in (
                zip(table.domain.names, table.domain.hierarchies, strict=True)
                if isinstance(table, Generalizable)
                else ()
            )
        },
        "result": {key: summary[key] for key in RESULT_KEYS if key in summary},
        "verified": {
            "second_count": result.verification.to_dict(),
            "models": [
                {"name": model.name, "says": model.promise(result.counted), "holds": True} for model in job.all_models
            ],
            "identifiers_absent": sorted(name for name in job.identifiers if name not in renamed),
            "left_out": sorted(set(result.prepared.unpublished) - {*job.identifiers, *job.pseudonymize}),
            "pseudonymized": sorted(job.pseudonymize),
            "treatments": [] if result.treated is None else result.treated.to_dict(),
        },
        "proved_optimal": summary["optimal"],
        "beside_others": {
            "rows": "shuffled" if job.shuffle or (written and job.shuffle is None) else "in the order of the input",
            "seed": getattr(job, "seed", 0),
            "keys": sorted(job.pseudonymize),
            "quasi": list(job.quasi),
            "one_level": result.levels is not None,
        },
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _hierarchy_checksum(hierarchy: Hierarchy) -> str:
    from kanopy.hierarchy.files.json_format import hierarchy_json

    return hashlib.sha256(hierarchy_json(hierarchy).encode("utf-8")).hexdigest()
