"""Make a dbt model of a statement that `kanopy anonymize … --emit-sql` wrote.

Usage: python as_model.py release.sql models/release.sql [--ref people]

The statement holds original values, those that decide about labels. So do the model, its compiled form and the logs of
dbt: keep all of them inside.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

NAME = re.compile(r"\w+")


def as_model(statement: str, ref: str | None = None) -> str:
    """The text of a model; values that look like Jinja stay texts.

    >>> print(as_model("CREATE TABLE r AS WITH a AS (SELECT '{{ x }}') SELECT * FROM a;", ref="people"))
    {{ config(materialized="kanopy_release") }}
    -- depends_on: {{ ref("people") }}
    {% raw %}
    CREATE TABLE r AS WITH a AS (SELECT '{{ x }}') SELECT * FROM a;
    {% endraw %}
    <BLANKLINE>
    """
    if re.search(r"\{%-?\s*endraw", statement):
        raise SystemExit("A value of the statement ends the raw block of a model. It cannot be a model of dbt.")
    if ref is not None and not NAME.fullmatch(ref):
        raise SystemExit(f"{ref!r} is no name of a model.")
    depends = "" if ref is None else f'-- depends_on: {{{{ ref("{ref}") }}}}\n'
    begin = '{{ config(materialized="kanopy_release") }}\n'
    return f"{begin}{depends}{{% raw %}}\n{statement.strip()}\n{{% endraw %}}\n"


def main() -> None:
    """Write the model for its owner's eyes only."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("statement", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--ref", help="the model from which the release is made")
    given = parser.parse_args()
    text = as_model(given.statement.read_text("utf-8"), given.ref)
    given.model.touch(mode=0o600)
    given.model.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
