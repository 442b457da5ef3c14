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


def attack_document(results: Mapping[str, Any], source: str, *, checksum: str = "") -> Document:
    """The document from what `AttackReport.to_dict` gives."""
    measured = [entry for entry in results["criteria"].values() if entry is not None and entry["risk"] is not None]
    beyond = [entry for entry in measured if entry["risk"]["low"] > 0]
    controlled = results["control_people"] is not None
    sure = not beyond and max((entry["risk"]["high"] for entry in measured), default=1.0) <= NARROW
    good = None if not controlled or len(measured) < 3 or not (beyond or sure) else sure
    return Document(
        kind="Attacks on a release", source=source, verdict=_verdict(results, beyond, measured), good=good,
        sentences=(results["verdict"], _isolated(results), *([held_back(results)] if results.get("held_back") else [])),
        facts=(
            ("people in the original", whole(results["people"]), f"{whole(results['rows'])} rows"),
            ("released rows", whole(results["released_rows"]),
            f"{len(results['quasi_identifiers'])} quasi-identifiers"),
            ("control group", whole(results["control_people"]) if controlled else "none", results["counted"]),
            ("guesses per attack", whole(results["guesses"]), f"seed {results['seed']}"),
        ),
        sections=sections(results), checksum=checksum, numbers=results,
        warning="For internal use: rates are computed with the original table.",
        footer="Rates are estimates; an attacker may know more than is assumed here.",
    )  # fmt: skip


def _verdict(results: Mapping[str, Any], beyond: list[Any], measured: list[Any]) -> str:
    if results["control_people"] is None:
        return "Measured without a control group: rates, no risks"
    if beyond:
        return f"The release gives away more than chance: {', '.join(entry['attack'] for entry in beyond)}"
    if len(measured) < 3:
        return "No measured risk, but not every criterion could be measured"
    highest = max(entry["risk"]["high"] for entry in measured)
    if highest > NARROW:
        return f"No attack was seen to do better on people of the release; a risk of {percent(highest)} is not excluded"
    return "No attack does better on people of the release than on others"


def held_back(results: Mapping[str, Any]) -> str:
    """That another release of the same job was attacked, made without the control group."""
    return (
        f"A control group of {results['held_back']} was held back by person. What was attacked is a release that the "
        "same job makes of the others."
    )


def _isolated(results: Mapping[str, Any]) -> str:
    isolated = results["isolated"]
    share = isolated["control_share"]
    beside = "" if share is None else f" {percent(share)} of these isolate somebody in a control group of that size."
    return (
        f"Labels and untouched values together isolate {whole(isolated['people'])} of {whole(results['people'])} "
        f"{results['counted']}, by {whole(isolated['predicates'])} different combinations.{beside}"
    )


def sections(results: Mapping[str, Any]) -> tuple[Section, ...]:
    """One section per kind of attack, after the picture of all rates."""
    sections_shown: list[Section] = []
    attacks = results["attacks"]
    if any(attack["rate"] is not None for attack in attacks):
        figure = Figure(
            "rates", "Rates of success with 95 % intervals", "Rates of success of every attack, on people of the "
            "release and on the control group", attack_rates(attacks),
        )  # fmt: skip
        sections_shown.append(Section("Rates", (TERMS[0],), (figure,)))
    for kind, (title, words) in KINDS.items():
        rows = [attack for attack in attacks if attack["attack"] == kind]
        if rows:
            sections_shown.append(Section(title, (words,), (rates_table(rows), *_remarks(rows))))
    if results["minimal"] is not None:
        from kanopy.report.documents.minimal import minimal_section

        sections_shown.append(minimal_section(results["minimal"]))
    notes = list(results["notes"])
    if notes:
        sections_shown.append(Section("Remarks", (), (Notes(tuple(notes)),)))
    sections_shown.append(Section("Terms and sources", TERMS))
    return tuple(sections_shown)


def rates_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rates, risk and verdict of some attacks."""
    heads = ("attack", "guesses", "rate r", "control c", "naive", "risk", "95 % interval", "in words")
    cells = []
    for row in rows:
        risk = row["risk"]
        cells.append(
            (
                row["detail"], whole(row["guesses"]), _share(row["rate"]), _share(row["control_rate"]),
                "–" if row["naive_rate"] is None else percent(row["naive_rate"]),
                "–" if risk is None else percent(risk["value"]),
                "–" if risk is None else f"{risk['low']:.1%}–{risk['high']:.1%}",
                row["verdict"],
            )
        )  # fmt: skip
    return Table("Rates and risks", heads, tuple(cells), (1, 2, 3, 4, 5, 6))


def _remarks(rows: Sequence[Mapping[str, Any]]) -> list[Part]:
    remarks = tuple(dict.fromkeys(f"{row['detail']}: {row['note']}." for row in rows if row["note"]))
    common = {row["note"] for row in rows if row["note"]}
    if len(common) == 1:
        remarks = (f"{common.pop()}.".capitalize(),)
    return [Notes(remarks)] if remarks else []


def _share(rate: Mapping[str, float] | None) -> str:
    return "–" if rate is None else percent(rate["value"])
