"""The facts that conditions may name, each a small pure function of a column and an argument."""

from __future__ import annotations

from kanopy._table.guessing.evidence import name_facts, names_of_people, value_facts
from kanopy._table.guessing.evidence.readings import agrees
from kanopy._table.guessing.evidence.views import FactFunction

FACTS: dict[str, FactFunction] = {
    **name_facts.FACTS, **value_facts.FACTS, **names_of_people.FACTS, "agree": lambda column, _: agrees(column)
}  # fmt: skip
"""Every fact by its name; facts that begin with `context:` come from other columns (`context_facts`)."""
