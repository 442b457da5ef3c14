"""The script that runs a job again: short, with the job inlined, and it compares what it finds."""

from __future__ import annotations

import tomllib
from importlib import resources
from pprint import pformat
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kanopy.report.report import Report


from kanopy._arrays import MISSING_LABEL

MOST_INLINE_VALUES = 2_000


def script(report: Report) -> str:
    """Python source that reads the same source, runs the same job and checks that the release is the same.

    Hierarchies that were given as objects are written into it, unless they are too large for that.
    """
    results = report.to_dict()
    names = ("rows", "suppressed", "classes", "smallest_class", "levels", "metric", "score")
    expected = pformat({name: results[name] for name in names}, width=100, sort_dicts=False)
    text = (resources.files("kanopy.report") / "reproduce.txt").read_text(encoding="utf-8")
    return Template(text).substitute(
        version=_plain(report.facts.version),
        source=repr(report.facts.source),
        job=_block(report.facts.job_toml),
        hierarchies=_given_hierarchies(report),
        expected=expected,
    )


def script_of_job(job_toml: str, source: str) -> str:
    """Python source that runs a job of treatments again; what is random is the same with the same key alone."""
    return (
        '"""Runs the job of a Kanopy release again. What is random in it needs the same key to be the '
        'same."""\n\n'
        "import os\n\nimport kanopy\n\n"
        f"JOB = {_block(job_toml)}\n"
        'KEY = os.environ.get("KANOPY_KEY", "").encode() or None\n\n'
        f"result = kanopy.anonymize({source!r}, kanopy.Job.from_toml(JOB), key=KEY)\n"
        "print(result)\n"
    )


def _given_hierarchies(report: Report) -> str:
    """The hierarchies that the job file cannot name, as Python source."""
    try:
        columns = tomllib.loads(report.facts.job_toml).get("columns", {})
    except tomllib.TOMLDecodeError:
        columns = {}
    lines = []
    for column in report.columns:
        settings = columns.get(column.name, {}) if isinstance(columns, dict) else {}
        source = settings.get("hierarchy") if isinstance(settings, dict) else None
        if not isinstance(source, dict) or "given" not in source:
            continue
        if column.hierarchy.size > MOST_INLINE_VALUES:
            lines.append(f"    # {_plain(column.name)}: too large to write here; kanopy.read_hierarchy(a file)")
            continue
        # The leaf of missing values is added when the table is encoded, not given.
        added = MISSING_LABEL if report.facts.missing_rows.get(column.name) else None
        rows = "".join(f"        {list(row)!r},\n" for row in column.hierarchy.rows() if row[0] != added)
        lines.append(f"    {column.name!r}: kanopy.Hierarchy.from_rows([\n{rows}    ]),")
    return "\nHIERARCHIES = {\n" + "\n".join(lines) + "\n}\n" if lines else "\nHIERARCHIES = {}\n"


def _block(text: str) -> str:
    """Text as a Python string: in triple quotes where it reads the same there, else escaped."""
    plain = all(c.isprintable() or c == "\n" for c in text) and "\\" not in text and "'''" not in text
    return f"'''\\\n{text}'''" if plain and text.endswith("\n") else repr(text)


def _plain(text: str) -> str:
    return "".join(c for c in text if c.isalnum() or c in ".+-")
