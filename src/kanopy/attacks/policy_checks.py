"""How requirements of profiles are checked: each function returns a state, the evidence in words, and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kanopy.report.documents.document import MET, NOT_APPLICABLE, NOT_MET, TO_JUDGE, Part, Table
from kanopy.report.text import methods_of, percent, plural, whole

if TYPE_CHECKING:
    from kanopy.attacks.policies import Evidence

Answer = tuple[str, str, tuple[Part, ...]]
Check = Callable[["Evidence", Mapping[str, Any]], Answer]


def safe_harbor(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """One of the 18 identifiers."""
    hits = [identifier for identifier in evidence.identifiers if identifier.letter == asked["letter"]]
    if not hits:
        many = plural(len(evidence.release.columns), "column")
        return MET, f"None of the {many} has a name or values that suggest it.", ()
    evidence_text = "; ".join(f"{hit.column!r}: {hit.why} ({plural(hit.rows, 'row')})" for hit in hits[:10])
    return NOT_MET, f"Found in {plural(len(hits), 'column')}: {evidence_text}. Remove or generalize them.", ()


def pseudonyms(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """Codes for re-identification."""
    if evidence.manifest is None:
        return TO_JUDGE, "No manifest states whether pseudonyms are published.", ()
    named = evidence.manifest.get("verified", {}).get("pseudonymized", [])
    if not named:
        return NOT_APPLICABLE, "The manifest records no pseudonyms.", ()
    return (
        TO_JUDGE,
        f"Pseudonyms are published in {', '.join(named)}: keyed hashes (HMAC-SHA256) of identifiers. They are "
        "derived from information about the person. A person must judge whether this is permitted, and the key must "
        "stay secret.",
        (),
    )


def columns(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """The treatment of every column."""
    roles = _roles(evidence)
    names = list(
        dict.fromkeys(
            [*(evidence.original.columns if evidence.original is not None else ()), *evidence.release.columns]
        )
    )
    rows = [(name, roles.get(name, "–"), *_technique(evidence, name)) for name in names]
    heads = ("column", "role", "technique (ISO/IEC 20889)", "values before", "values after")
    table = Table("Columns and techniques", heads, tuple(rows), (3, 4))
    published = sum(name in evidence.release.columns for name in names)
    return (
        TO_JUDGE,
        f"{published} of {plural(len(names), 'column')} are published. A person who knows the data must judge "
        "whether the roles are right.",
        (table,),
    )


def _roles(evidence: Evidence) -> dict[str, str]:
    manifest = evidence.manifest or {}
    roles = {
        name: str(settings.get("role", "–")) for name, settings in manifest.get("job", {}).get("columns", {}).items()
    }
    for role, names in (
        ("quasi-identifier", evidence.known_columns),
        ("sensitive", evidence.sensitive),
        ("unit", evidence.unit),
    ):
        roles |= dict.fromkeys(names, role)
    return roles


def _technique(evidence: Evidence, name: str) -> tuple[str, str, str]:
    """The technique of a column, and how many different values it has before and after."""
    before = (
        None
        if evidence.original is None or name not in evidence.original.columns
        else evidence.original[name].n_unique()
    )
    if name not in evidence.release.columns:
        return "attribute suppression (not published)", whole(before), "–"
    after = evidence.release[name].n_unique()
    verified = (evidence.manifest or {}).get("verified", {})
    if name in verified.get("pseudonymized", []):
        return "pseudonymization (keyed hash)", whole(before), whole(after)
    if (method := methods_of(verified.get("treatments", ())).get(name)) is not None:
        return f"treatment ({method})", whole(before), whole(after)
    attacks = evidence.attacks
    if attacks is not None and name in attacks.quasi:
        return "generalization, cell suppression", whole(before), whole(after)
    return "none (published unchanged)", whole(before), whole(after)


def direct(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """Direct identifiers, as Safe Harbor lists them, without dates, places and ages."""
    hits = [identifier for identifier in evidence.identifiers if identifier.letter not in "BC"]
    pseudonymized = (evidence.manifest or {}).get("verified", {}).get("pseudonymized", [])
    if not hits and not pseudonymized:
        return MET, "No column has a name or values that suggest a direct identifier; no pseudonyms are recorded.", ()
    hits_shown = [f"{hit.column!r} ({hit.why})" for hit in hits[:10]] + [
        f"{name!r} (pseudonyms)" for name in pseudonymized
    ]
    return NOT_MET, f"Found: {'; '.join(hits_shown)}.", ()


def classes(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """The smallest class."""
    risk = evidence.risk
    if risk is None:
        return TO_JUDGE, "No quasi-identifiers are named, and none was found to be generalized.", ()
    size = risk.sizes.smallest_class
    words = (
        f"{plural(risk.sizes.classes, 'class', 'classes')} by {', '.join(risk.quasi)}; the smallest has "
        f"{plural(size, 'row')}, {whole(risk.sizes.unique_rows)} rows are unique."
    )
    return (MET if size >= 2 else NOT_MET), words, ()


def diversity(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """Whether classes tell sensitive values."""
    risk = evidence.risk
    if risk is None or not risk.disclosure:
        return TO_JUDGE, "No sensitive column of the release is named.", ()
    sentences = [
        f"{disclosure.column}: {plural(disclosure.certain_rows, 'row')} in classes that reveal the value"
        for disclosure in risk.disclosure
    ]
    return (
        (NOT_MET if any(disclosure.certain_rows for disclosure in risk.disclosure) else MET),
        "; ".join(sentences) + ".",
        (),
    )


def initial_risk(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """The risk of the original."""
    risk = evidence.initial
    if risk is None:
        return TO_JUDGE, "No quasi-identifiers are named, and none was found to be generalized.", ()
    return (
        MET,
        f"Measured on the original by {', '.join(risk.quasi)}: highest risk {percent(risk.sizes.highest_prosecutor)}, "
        f"average {percent(risk.sizes.average_prosecutor)}; {whole(risk.sizes.unique_rows)} of {whole(risk.rows)} rows "
        "are unique.",
        (),
    )


def highest_risk(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """The highest prosecutor risk against the limit."""
    risk, limit = evidence.risk, evidence.largest_risk
    if risk is None or limit is None:
        return TO_JUDGE, "No quasi-identifiers are named, and none was found to be generalized.", ()
    size, highest = risk.sizes.smallest_class, risk.sizes.highest_prosecutor
    words = (
        f"The smallest class by {', '.join(risk.quasi)} has {plural(size, 'row')}: the highest risk is 1/{size} = "
        f"{highest:.4f}, the limit {limit:g}. Average risk: {percent(risk.sizes.average_prosecutor)}."
    )
    if abs(limit - 0.09) < 1e-12:
        words += (
            " Read literally, 0.09 requires classes of at least 12, as 1/11 = 0.0909 is above it; the common "
            "reading treats 0.09 as 1/11 and requires 11. By this reading the release "
            f"{'meets' if size >= 11 else 'misses'} it."
        )
    return (MET if highest <= limit else NOT_MET), words, ()


def criterion(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """One of the three criteria, measured beside a control group."""
    from kanopy.report.documents.attacks import rates_table

    report = evidence.attacks
    if report is None:
        return TO_JUDGE, "The original was not given: nothing could be measured.", ()
    rows = [entry.to_dict() for entry in report.attacks if entry.attack == asked["attack"]]
    parts: tuple[Part, ...] = (rates_table(rows),) if rows else ()
    worst = report.criterion(asked["attack"])
    if worst is None or worst.risk is None:
        why = "; ".join(dict.fromkeys(row["verdict"] for row in rows)) or "no sensitive column is in the release"
        return TO_JUDGE, f"No risk could be measured: {why}.", parts
    limit, risk = float(evidence.policy["tolerated_risk"]), worst.risk
    words = (
        f"Highest measured risk {percent(risk.value)} ({risk.low:.1%} to {risk.high:.1%}) by {worst.detail}; rate "
        f"{percent(worst.rate.value)} on people of the release"
        + (f", {percent(worst.control.value)} on the control group. " if worst.control is not None else ". ")
        + f"The limit of this document is {percent(limit)}."
    )
    words = " ".join([words, *(note for note in report.notes if "read" in note)])
    if report.control_people is None:
        return TO_JUDGE, words + " Without a control group, the rate is not a risk.", parts
    if risk.low > limit:
        return NOT_MET, words, parts
    return (MET if risk.high <= limit else TO_JUDGE), words, parts


def attacked(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """Whether attacks were run, and what they found."""
    report = evidence.attacks
    if report is None:
        return TO_JUDGE, "The original was not given: no attack was run.", ()
    from kanopy.report.documents.attacks import rates_table

    highest = (report.criterion(name) for name in ("singling out", "linkability", "inference"))
    worst = [one.to_dict() for one in highest if one is not None]
    for measured in worst:
        measured["detail"] = f"{measured['attack']}: {measured['detail']}"
    parts: tuple[Part, ...] = (rates_table(worst),) if worst else ()
    return (
        TO_JUDGE,
        " ".join(
            [
                report.verdict,
                f"{whole(report.isolated.people)} people are isolated by all published columns together.",
                *(note for note in report.notes if "read" in note),
            ]
        ),
        parts,
    )


def cells(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """Small cells."""
    report = evidence.cells
    words = (
        f"{whole(report.small)} of {whole(report.cells)} cells, all crosses of up to three of {', '.join(report.by)}, "
        f"have 1 to {report.least - 1} {report.counted}."
    )
    return (NOT_MET if report.small else MET), words, ()


def differences(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """Small counts by subtraction."""
    report = evidence.cells
    words = (
        f"{whole(report.differences)} further counts of 1 to {report.least - 1} follow from a count and one of its "
        "parts."
    )
    return (NOT_MET if report.differences else MET), words, ()


def utility(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """What the release is good for."""
    from kanopy._errors import KanopyError
    from kanopy.study.utility_study import assess

    if evidence.original is None:
        return TO_JUDGE, "The original was not given.", ()
    try:
        assessment = assess(
            evidence.original, evidence.release, evidence.job, quasi=evidence.known_columns or None, learn=False,
            queries=200, seed=evidence.seed,
        )  # fmt: skip
    except KanopyError as error:
        return TO_JUDGE, f"The release could not be compared with the original row by row: {error}", ()
    rows = tuple(
        (column.name, percent(column.loss), percent(column.bits_kept), f"{column.total_variation:.3f}")
        for column in assessment.columns
    )
    table = Table("Loss per column", ("column", "loss", "information kept", "total variation"), rows, (1, 2, 3))
    median = (
        ""
        if assessment.queries is None
        else f" Count queries have a median error of {percent(assessment.queries.median)}."
    )
    return TO_JUDGE, f"The published values lost {percent(assessment.loss)} of their detail.{median}", (table,)


def reproducible(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """Whether a manifest says how the release was made."""
    if evidence.manifest is None:
        return TO_JUDGE, "The folder has no manifest of this release, so a person must describe the method.", ()
    made = evidence.manifest["versions"]
    models = ", ".join(model["says"] for model in evidence.manifest["verified"]["models"])
    return (
        MET,
        f"The manifest records the job, versions (Kanopy {made['kanopy']}) and checksums; the same input and job "
        f"give the same bytes. Promised and verified: {models}",
        (),
    )


def documented(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """Whether what was done is on record."""
    if evidence.manifest is None:
        return NOT_MET, "The folder has no manifest of this release (make the release with --manifest).", ()
    return MET, "The manifest of the release is in its folder; its checksum is at the end of this document.", ()


def order(evidence: Evidence, asked: Mapping[str, Any]) -> Answer:
    """Whether the order of rows tells something."""
    rows = (evidence.manifest or {}).get("beside_others", {}).get("rows")
    if rows is None:
        return TO_JUDGE, "No manifest states the order of the rows.", ()
    return (MET if rows == "shuffled" else NOT_MET), f"The manifest records: {rows}.", ()


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        safe_harbor, pseudonyms, columns, direct, classes, diversity, initial_risk, highest_risk, criterion, attacked,
        cells, differences, utility, reproducible, documented, order,
    )
}  # fmt: skip
