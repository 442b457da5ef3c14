"""What people need beside the release: the mapping applied, a manifest without values, the solution for new rows."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._errors import JobError
from kanopy._job.job import Job
from kanopy.hierarchy.hierarchy import Hierarchy

if TYPE_CHECKING:
    import polars as pl

    from kanopy.release.run import Result
    from kanopy.report.report import Findings

FORMAT = "kanopy-solution"
MANIFEST_FORMAT = "kanopy-manifest"
LIBRARIES = ("numpy", "polars", "numba", "narwhals")


def mapping_table(result: Result) -> pl.DataFrame:
    """What became of every original value: column, original, published, rows.

    Rows add up to the table for every column, suppressed rows (published as `*`) and rows with a missing value
    included. The table holds original values: it is for the steward, not for publication.
    """
    import polars as pl

    recoding, columns = result.solution.recoding, result._columns
    found: dict[str, list[Any]] = {"column": [], "original": [], "published": [], "rows": []}
    for j, column in enumerate(columns):
        # The label behind the last one stands for suppressed rows, in originals for values that no leaf has.
        labels = [*recoding.labels[j], SUPPRESSED_LABEL]
        values: list[str | None] = [*column.hierarchy.values, None]
        if column.missing_leaf is not None:
            missing = values[column.missing_leaf]
            values[column.missing_leaf] = None
            labels = [None if label == missing else label for label in labels]  # type: ignore[misc]
        code_of_group = np.append(recoding.codes[:, j], len(labels) - 1).astype(np.int64)
        leaf = np.where(column.codes < 0, len(values) - 1, column.codes).astype(np.int64)
        cell = leaf * len(labels) + code_of_group[recoding.group_of_row]
        used, counts = np.unique(cell, return_counts=True)
        found["column"] += [column.name] * len(used)
        found["original"] += [values[i] for i in (used // len(labels)).tolist()]
        found["published"] += [labels[i] for i in (used % len(labels)).tolist()]
        found["rows"] += counts.tolist()
    kinds = {"column": pl.String, "original": pl.String, "published": pl.String, "rows": pl.Int64}
    return pl.DataFrame(found, schema=kinds)


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def manifest_json(result: Result, files: Mapping[str, tuple[str, Path]] | None = None) -> str:
    """What was done, with which parameters and versions, and what was verified: no value of the table in it.

    `files` maps roles such as "input" and "output" to the name of a file and where it lies; checksums are recorded.
    """
    from kanopy import __version__

    job, solution, domain = result.job, result.solution, result.domain
    summary = result.summary()
    versions = {"kanopy": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:  # pragma: no cover - all are installed with Kanopy
            continue
    plain = job.explicit().to_dict()
    for name, settings in plain["columns"].items():
        source = job.hierarchies.get(name)
        if "hierarchy" in settings and isinstance(source, (str, Path)):
            settings["hierarchy"] = {"file": Path(source).name}
        elif isinstance(settings.get("hierarchy"), dict):
            settings["hierarchy"] = _value_free(settings["hierarchy"])
    if job.population is not None:
        plain["population"] = Path(job.population).name
    plain["models"] = [_value_free(model.to_dict()) for model in job.all_models]
    content = {
        "format": MANIFEST_FORMAT,
        "version": 1,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions,
        "job": plain,
        "files": {role: {"name": name, "sha256": checksum(path)} for role, (name, path) in (files or {}).items()},
        "hierarchies": {
            name: {"values": h.size, "levels": h.height + 1, "sha256": _hierarchy_checksum(h)}
            for name, h in zip(domain.names, domain.hierarchies, strict=True)
        },
        "result": {key: summary[key] for key in _COUNTS},
        "verified": {
            "second_count": result.verification.to_dict(),
            "models": [{"name": model.name, "says": _says(model), "holds": True} for model in job.all_models],
            "identifiers_absent": sorted(name for name in job.identifiers if name not in job.pseudonymize),
            "pseudonymized": sorted(job.pseudonymize),
        },
        "proved_optimal": solution.optimal,
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


_COUNTS = (
    "algorithm", "levels", "metric", "score", "losses", "column_losses", "rows", "suppressed", "classes",
    "smallest_class", "judged", "candidates",
)  # fmt: skip


def _value_free(model: dict[str, Any]) -> dict[str, Any]:
    """Models and builders that may name values of the table are reduced to how many they name."""
    return {
        key: value if not isinstance(value, (dict, list, tuple)) or _only_numbers(value) else len(value)
        for key, value in model.items()
    }


def _only_numbers(value: Any) -> bool:
    """Numbers of a builder (widths, cuts) are parameters, not values; a mapping may name values."""
    return isinstance(value, (list, tuple)) and all(isinstance(each, (int, float)) for each in value)


def _says(model: Any) -> str:
    named = any(isinstance(value, (dict, list)) for value in model.to_dict().values())
    said: str = model.summary if named else model.explain()
    return said


def _hierarchy_checksum(hierarchy: Hierarchy) -> str:
    from kanopy.hierarchy.files.json_format import hierarchy_json

    return hashlib.sha256(hierarchy_json(hierarchy).encode("utf-8")).hexdigest()


def looked_at(
    result: Result,
    *,
    population_size: int | None = None,
    sampling_fraction: float | None = None,
    target: str | None = None,
) -> Callable[[], Findings]:
    """A closer look at the original and the release, taken when it is asked for; a table that models compare with, or
    the sampling fraction they name, is the population unless another is given."""

    def look() -> Findings:
        from kanopy.study.findings import Looked, look

        known = population_size is not None or sampling_fraction is not None
        fractions = [model.fraction for model in result.job.models if hasattr(model, "fraction")]
        before, after = result._facts["population"]
        table = not known and not fractions and before is not None and after is not None
        levels = result.levels or {}
        return look(
            Looked(
                original=_without_tokens(result._original, result.job.missing_tokens),
                released=result.frame,
                quasi=result.domain.names,
                sensitive=tuple(name for name, role in result._facts["roles"].items() if role == "sensitive"),
                # A column published as it is needs no hierarchy to be read, and its names may occur there again.
                hierarchies={name: h for name, h in result._hierarchies.items() if levels.get(name) != 0},
                column_losses=result.column_losses,
                k=int(result.job.k),
                suppressed=result.solution.recoding.group_of_row < 0,
                kept=result._kept,
                population_size=population_size,
                sampling_fraction=sampling_fraction if known or not fractions else fractions[0],
                population_before=before if table else None,
                population_after=after if table else None,
                target=target,
            )
        )

    return look


def _without_tokens(frame: pl.DataFrame, tokens: Sequence[str]) -> pl.DataFrame:
    """The table with missing values where it has texts that mean missing."""
    import polars as pl
    from polars import selectors as cs

    if not tokens:
        return frame
    return frame.with_columns(
        pl.when(cs.string().is_in(list(tokens))).then(None).otherwise(cs.string()).name.keep()
    )  # fmt: skip


def solution_json(result: Result) -> str:
    """The solution as JSON: the job, the hierarchies as they were, and the level of each quasi-identifier."""
    from kanopy.hierarchy.files.json_format import hierarchy_json

    levels = _levels(result)
    # As they were before encoding added a leaf for missing values, which it adds again where one is needed.
    hierarchies = result._hierarchies.items()
    return json.dumps(
        {
            "format": FORMAT,
            "version": 1,
            "job": result.job.explicit().to_dict(),
            "levels": levels,
            "hierarchies": {name: json.loads(hierarchy_json(h)) for name, h in hierarchies},
        },
        ensure_ascii=False,
        allow_nan=False,
    )


def _levels(result: Result) -> dict[str, int]:
    if result.levels is None:
        raise JobError(
            f"The release of {result.solution.algorithm!r} has no single level per column, so it says too little about "
            "other rows. Only full-domain releases (one level per column) can be applied again."
        )
    return result.levels


def fixed_job(job: Job, levels: Mapping[str, int], hierarchies: Mapping[str, Hierarchy]) -> Job:
    """A job that publishes every quasi-identifier at a given level, and nothing that is not safe."""
    return job.replaced(
        hierarchies={**job.hierarchies, **hierarchies},
        min_levels=dict(levels),
        max_levels=dict(levels),
        algorithm="optimal",
        parameters={},
        unknown="error",
    )


def read_solution(path: str | Path) -> Job:
    """The job that applies a saved solution to other rows."""
    from kanopy.hierarchy.files.json_format import parse_json

    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise JobError(
            f"There is no solution file {str(path)!r}. `kanopy anonymize … --solution FILE` writes one."
        ) from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise JobError(f"The solution file {str(path)!r} cannot be read: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise JobError(f"{str(path)!r} is not a solution that Kanopy wrote (anonymize --solution FILE).")
    try:
        hierarchies = {
            name: parse_json(json.dumps(h), f"{path}, {name}", name=name) for name, h in content["hierarchies"].items()
        }
        plain = content["job"]
        for name, settings in plain["columns"].items():
            if name in hierarchies:
                settings.pop("hierarchy", None)
        return fixed_job(Job.from_dict(plain), content["levels"], hierarchies)
    except (KeyError, TypeError, AttributeError) as error:
        raise JobError(f"The solution file {str(path)!r} is not complete ({error!r}).") from None
