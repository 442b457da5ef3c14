"""The document of `kanopy attack`: what attackers learn from a release beyond what they learn about others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.attacks import attack_rates
from kanopy.report.documents.document import Document, Figure, Notes, Part, Section, Table
from kanopy.report.text import percent, whole

KINDS = {
    "singling out": (
        "Singling out",
        "A predicate is what a published row says: its labels and its untouched values. It succeeds if exactly one "
        "person of the original fits it. The same predicates are asked of the control group: what isolates somebody "
        "there as often is chance, not the release.",
    ),
    "linkability": (
        "Linkability",
        "An attacker holds some columns of a person from one source and others from a second one. He succeeds if the "
        "released rows that fit both lie in exactly one class.",
    ),
    "inference": (
        "Inference",
        "An attacker knows the quasi-identifiers of a person and guesses another column from the released rows that "
        "fit. What he guesses as well about people of the control group is knowledge about everybody.",
    ),
    "membership": (
        "Membership",
        "An attacker asks whether a person is in the release: is there a row that fits everything he knows?",
    ),
    "intersection": (
        "Intersection with an earlier release",
        "An attacker knows the quasi-identifiers of a person and takes the sensitive values that both releases leave "
        "possible. He succeeds if one is left, and it is the person's.",
    ),
}
NARROW = 0.1
"""Up to this upper end of the intervals a document says that no attack does better; beyond, that nothing was seen."""
TERMS = (
    "Rate r: the share of guesses that succeed on people of the release. Rate c: the same attack on the control group, "
    "people of the same population who are not in the release. Risk: max(0, (r − c) / (1 − c)), with a 95 % interval "
    "from the Wilson intervals of both rates. Naive: the rate of guessing from the published frequencies alone.",
    "The three criteria are those of the Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation "
    "Techniques (WP216), sections 2.2.2 and 3. Terms follow ISO/IEC 20889:2018.",
)


def attack_document(found: Mapping[str, Any], source: str, *, checksum: str = "") -> Document:
    """The document from what `AttackReport.to_dict` gives."""
    measured = [each for each in found["criteria"].values() if each is not None and each["risk"] is not None]
    beyond = [each for each in measured if each["risk"]["low"] > 0]
    controlled = found["control_people"] is not None
    sure = not beyond and max((each["risk"]["high"] for each in measured), default=1.0) <= NARROW
    good = None if not controlled or len(measured) < 3 or not (beyond or sure) else sure
    return Document(
        kind="Attacks on a release", source=source, verdict=_verdict(found, beyond, measured), good=good,
        sentences=(found["verdict"], _isolated(found), *([held_back(found)] if found.get("held_back") else [])),
        facts=(
            ("people in the original", whole(found["people"]), f"{whole(found['rows'])} rows"),
            ("released rows", whole(found["released_rows"]), f"{len(found['quasi_identifiers'])} quasi-identifiers"),
            ("control group", whole(found["control_people"]) if controlled else "none", found["counted"]),
            ("guesses per attack", whole(found["guesses"]), f"seed {found['seed']}"),
        ),
        sections=sections(found), checksum=checksum, numbers=found,
        warning="For internal use: rates are computed with the original table.",
        footer="Rates are estimates; an attacker may know more than is assumed here.",
    )  # fmt: skip


def _verdict(found: Mapping[str, Any], beyond: list[Any], measured: list[Any]) -> str:
    if found["control_people"] is None:
        return "Measured without a control group: rates, no risks"
    if beyond:
        return f"The release gives away more than chance: {', '.join(each['attack'] for each in beyond)}"
    if len(measured) < 3:
        return "No measured risk, but not every criterion could be measured"
    highest = max(each["risk"]["high"] for each in measured)
    if highest > NARROW:
        return f"No attack was seen to do better on people of the release; a risk of {percent(highest)} is not excluded"
    return "No attack does better on people of the release than on others"


def held_back(found: Mapping[str, Any]) -> str:
    """That another release of the same job was attacked, made without the control group."""
    return (
        f"A control group of {found['held_back']} was held back by person. What was attacked is a release that the "
        "same job makes of the others."
    )


def _isolated(found: Mapping[str, Any]) -> str:
    own = found["isolated"]
    share = own["control_share"]
    beside = "" if share is None else f" {percent(share)} of these isolate somebody in a control group of that size."
    return (
        f"Labels and untouched values together isolate {whole(own['people'])} of {whole(found['people'])} "
        f"{found['counted']}, by {whole(own['predicates'])} different combinations.{beside}"
    )


def sections(found: Mapping[str, Any]) -> tuple[Section, ...]:
    """One section per kind of attack, after the picture of all rates."""
    shown: list[Section] = []
    attacks = found["attacks"]
    if any(each["rate"] is not None for each in attacks):
        figure = Figure(
            "rates", "Rates of success with 95 % intervals", "Rates of success of every attack, on people of the "
            "release and on the control group", attack_rates(attacks),
        )  # fmt: skip
        shown.append(Section("Rates", (TERMS[0],), (figure,)))
    for kind, (title, words) in KINDS.items():
        rows = [each for each in attacks if each["attack"] == kind]
        if rows:
            shown.append(Section(title, (words,), (rates_table(rows), *_remarks(rows))))
    if found["minimal"] is not None:
        from kanopy.report.documents.minimal import minimal_section

        shown.append(minimal_section(found["minimal"]))
    notes = list(found["notes"])
    if notes:
        shown.append(Section("Remarks", (), (Notes(tuple(notes)),)))
    shown.append(Section("Terms and sources", TERMS))
    return tuple(shown)


def rates_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rates, risk and verdict of some attacks."""
    heads = ("attack", "guesses", "rate r", "control c", "naive", "risk", "95 % interval", "in words")
    cells = []
    for each in rows:
        risk = each["risk"]
        cells.append(
            (
                each["detail"], whole(each["guesses"]), _share(each["rate"]), _share(each["control_rate"]),
                "–" if each["naive_rate"] is None else percent(each["naive_rate"]),
                "–" if risk is None else percent(risk["value"]),
                "–" if risk is None else f"{risk['low']:.1%}–{risk['high']:.1%}",
                each["verdict"],
            )
        )  # fmt: skip
    return Table("Rates and risks", heads, tuple(cells), (1, 2, 3, 4, 5, 6))


def _remarks(rows: Sequence[Mapping[str, Any]]) -> list[Part]:
    said = tuple(dict.fromkeys(f"{each['detail']}: {each['note']}." for each in rows if each["note"]))
    common = {each["note"] for each in rows if each["note"]}
    if len(common) == 1:
        said = (f"{common.pop()}.".capitalize(),)
    return [Notes(said)] if said else []


def _share(rate: Mapping[str, float] | None) -> str:
    return "–" if rate is None else percent(rate["value"])
