"""The script that runs a job again: short, with the job inlined, and it compares what it finds."""

from __future__ import annotations

from pprint import pformat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kanopy.report.report import Report


def script(report: Report) -> str:
    """Python source that reads the same source, runs the same job and checks that the release is the same."""
    found = report.to_dict()
    expected = {
        key: found[key] for key in ("rows", "suppressed", "classes", "smallest_class", "levels", "score", "metric")
    }
    source, job = report.facts.source, report.facts.job_toml
    return f'''"""Run this release again with Kanopy {_comment(report.facts.version)}.

    python reproduce.py [DATA [OUT]]
"""

import math
import sys

import kanopy

SOURCE = {source!r}

JOB = {_block(job)}

EXPECTED = {pformat(expected, width=100, sort_dicts=False)}


def main() -> None:
    job = kanopy.Job.from_toml(JOB)
    result = kanopy.anonymize(sys.argv[1] if len(sys.argv) > 1 else SOURCE, job)
    found = result.report.to_dict()
    for name, value in EXPECTED.items():
        same = math.isclose(found[name], value, rel_tol=1e-9) if isinstance(value, float) else found[name] == value
        if not same:
            sys.exit(f"{{name}} differs: {{found[name]!r}}, not {{value!r}}. Is this the same table?")
    if len(sys.argv) > 2:
        result.write(sys.argv[2])
    print(result.report.sentence)


if __name__ == "__main__":
    main()
'''


def _block(text: str) -> str:
    """Text as a Python string: in triple quotes where it reads the same there, else escaped."""
    plain = all(c.isprintable() or c == "\n" for c in text) and "\\" not in text and "'''" not in text
    return f"'''\\\n{text}'''" if plain and text.endswith("\n") else repr(text)


def _comment(text: str) -> str:
    return "".join(c for c in text if c.isalnum() or c in ".+-")
