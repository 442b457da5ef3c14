"""Which document a report or a study becomes: by what its numbers hold."""

from __future__ import annotations

from typing import Any

from kanopy.report.documents.document import Document
from kanopy.report.documents.numbers import numbers_document
from kanopy.report.documents.release_document import release_document
from kanopy.report.text import percent, whole


def document_of(results: Any, source: str = "", *, checksum: str = "") -> Document:
    """The document of a report or a study; those that have one of their own say so.

    >>> from kanopy.study.risk_study import assess_risk
    >>> document_of(assess_risk({"zip": list("1111122")}, quasi="zip"), "people.csv").verdict
    '2 of 7 rows are above the accepted risk of 20%'
    """
    if hasattr(results, "to_document"):
        document: Document = results.to_document(source)
        return document
    plain = results.to_dict()
    name = source or str(plain.get("source", "a release"))
    if "suppression" in plain and "roles" in plain:
        return release_document(plain, name, checksum=checksum)
    if "threshold" in plain:
        limit = plain["threshold"]
        rows = limit["rows"]
        verdict = (
            f"{whole(rows)} of {whole(plain['rows'])} rows {'is' if rows == 1 else 'are'} above the accepted risk of "
            f"{percent(limit['above'])}"
        )
        return numbers_document("Risk assessment", name, verdict, rows == 0, plain)
    if "released_rows" in plain:
        verdict = f"The published values lost {percent(plain['loss'])} of their detail"
        return numbers_document("What a release is good for", name, verdict, None, plain)
    holds = plain.get("verdict", {}).get("holds") if isinstance(plain.get("verdict"), dict) else None
    words = (
        plain["verdict"]["sentence"]
        if isinstance(plain.get("verdict"), dict) and "sentence" in plain["verdict"]
        else "Report"
    )
    return numbers_document("Report on a release", name, words, holds, plain)
