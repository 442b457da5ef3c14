"""`kanopy treatments`: how columns may be treated; and treatments as options of `kanopy anonymize`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kanopy._errors import short
from kanopy._kinds import refuse
from kanopy.cli import options as o
from kanopy.cli.console import emit
from kanopy.cli.lists import Name, declared_parameters, show_declared


@o.command()
def treatments(name: Name = None) -> None:
    """List the treatments of columns: what each does, guarantees and does not promise."""
    from kanopy.treatments.registry import TREATMENTS

    chosen = TREATMENTS if name is None else {(kind := TREATMENTS.find(name)).name: kind}
    listed: list[dict[str, Any]] = [
        {
            "name": each, "does": kind.summary, "guarantees": kind.guarantees, "lacks": kind.lacks,
            "source": kind.source, "takes": kind.takes, "secret": kind.secret, "piecewise": in_pieces(each),
        }
        | (declared_parameters(kind) if name is not None else {})
        for each, kind in chosen.items()
    ]  # fmt: skip

    def show(out: Any) -> None:
        from rich.padding import Padding
        from rich.text import Text

        for each in listed:
            secret = {"none": "", "seed": " · secret random numbers", "key": " · needs a key"}[each["secret"]]
            facts = f"  {each['takes']}{' · piece by piece' if each['piecewise'] else ''}{secret}"
            out.print(Text(each["name"], style="bold").append(facts, style="not bold dim"))
            sentence = (
                f"{each['does'][0].upper()}{each['does'][1:]}. Guarantees: {each['guarantees']}. Not: {each['lacks']}."
            )
            out.print(Padding(Text(sentence), (0, 0, 0, 2)))
            show_declared(out, each)

    emit({"treatments": listed}, show)


def in_pieces(name: str) -> bool:
    """Whether a treatment, as it is without parameters, treats files larger than memory."""
    from kanopy.release.treating import works_in_pieces
    from kanopy.treatments.registry import TREATMENTS

    kind: Any = TREATMENTS[name]
    usual = {"round": {"base": 1}, "follow": {"column": "x"}, "tokens": {"table": "x"}, "top-code": {"top": 1}}
    return works_in_pieces(kind(**usual.get(name, {})))


def treatments_given(texts: Iterable[str]) -> dict[str, Any]:
    """Treatments from texts `COLUMN=METHOD` or `COLUMN=METHOD:name=value;name=value`.

    >>> treatments_given(["pay=round:base=100", "born=cut-dates"])["pay"].base
    100
    """
    from kanopy._parameters import make, parse
    from kanopy.treatments.registry import TREATMENTS

    found: dict[str, Any] = {}
    wrong = [text for text in texts if not all(text.partition("=")[::2])]
    refuse([f"A treatment is written COLUMN=METHOD[:name=value;…], not {short(text)}." for text in wrong])
    for text in texts:
        column, _, said = text.partition("=")
        method, _, parameters = said.partition(":")
        kind = TREATMENTS.find(method.strip())
        found[column.strip()] = make(kind, parse(kind, [each for each in parameters.split(";") if each.strip()]))
    return found


def show_treatments(out: Any, result: Any) -> None:
    """What was found to hold of treated columns."""
    from rich.text import Text

    for check in result.treated.checks:
        out.print(Text("✓ ", style="bold green").append(check, style="not bold default"))
