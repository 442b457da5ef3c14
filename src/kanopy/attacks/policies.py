"""Profiles of authorities: what they ask of a release, each requirement with its state and the evidence behind it.

A profile is data (`report/policies/*.toml`): numbered requirements with their sources, thresholds, and the name of the
check that answers each. What no check can answer is for a person to judge, with space to sign. Nothing here claims
compliance: a document says what was checked, and what was found.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError, near_miss
from kanopy._mixins import ReprMixin
from kanopy._progress import SILENT, Callback, Progress
from kanopy.report.documents.document import MET, NOT_APPLICABLE, NOT_MET, STATES, TO_JUDGE, Document, Part, Requirement
from kanopy.report.documents.document import Section as DocumentSection

if TYPE_CHECKING:
    import polars as pl

    from kanopy.attacks.attack import AttackReport
    from kanopy.study.risk_study import RiskAssessment

POLICIES = ("hipaa-safe-harbor", "hipaa-expert", "ema-0070", "gdpr-wp216", "cms-11", "nist-800-188")


def read_policy(name: str) -> dict[str, Any]:
    """A profile by its name.

    >>> read_policy("cms-11")["least"], len(read_policy("hipaa-safe-harbor")["sections"][0]["requirements"])
    (11, 18)
    """
    if name not in POLICIES:
        raise JobError(f"There is no policy {name!r}. Known: {', '.join(POLICIES)}. {near_miss(name, POLICIES)}")
    text = (resources.files("kanopy.report.policies") / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a document is made of: the release, and what else was given. Studies are made when a check asks for them."""

    policy: Mapping[str, Any]
    release: pl.DataFrame
    original: pl.DataFrame | None = None
    control: pl.DataFrame | None = None
    job: Any = None
    manifest: Mapping[str, Any] | None = None
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    unit: tuple[str, ...] = ()
    threshold: float | None = None
    guesses: int = 1000
    seed: int = 0
    progress: Callback | None = field(default=None, repr=False)

    @property
    def largest_risk(self) -> float | None:
        """The risk that a record may have: what was named, else what the policy names."""
        return self.threshold if self.threshold is not None else self.policy.get("largest_risk")

    @property
    def least(self) -> int:
        """Counts below are small."""
        return int(self.policy.get("least", 11))

    @cached_property
    def attacks(self) -> AttackReport | None:
        """The attacks on the release, where the original is given."""
        from kanopy.attacks.attack import attack_release

        if self.original is None:
            return None
        return attack_release(
            self.original, self.release, self.job, control=self.control, guesses=self.guesses, learn=False,
            seed=self.seed, progress=self.progress, **self._roles,
        )  # fmt: skip

    @property
    def _roles(self) -> dict[str, Any]:
        named = (("quasi", self.quasi), ("sensitive", self.sensitive), ("unit", self.unit))
        return {name: value for name, value in named if value}

    @cached_property
    def known_columns(self) -> tuple[str, ...]:
        """The quasi-identifiers in the release: as named, else those that attacks found to be generalized."""
        named = self.quasi or (self.attacks.quasi if self.attacks is not None else ())
        return tuple(name for name in named if name in self.release.columns)

    @cached_property
    def risk(self) -> RiskAssessment | None:
        """Class sizes and sensitive values of the release."""
        from kanopy.study.risk_settings import RiskSettings
        from kanopy.study.risk_study import table_risk

        if not self.known_columns:
            return None
        sensitive = [name for name in self.sensitive if name in self.release.columns]
        return table_risk(self.release, list(self.known_columns), sensitive, RiskSettings(largest_subset=0))

    @cached_property
    def initial(self) -> RiskAssessment | None:
        """The same of the original."""
        from kanopy.study.risk_settings import RiskSettings
        from kanopy.study.risk_study import table_risk

        if self.original is None or not self.known_columns:
            return None
        return table_risk(self.original, list(self.known_columns), (), RiskSettings(largest_subset=0))

    @cached_property
    def cells(self) -> Any:
        """Small cells of the release, by the quasi-identifiers and sensitive columns or all columns."""
        from kanopy.attacks.cells import MOST_BY, small_cells

        names = list(dict.fromkeys([*self.known_columns, *self.sensitive]))
        names = [name for name in names if name in self.release.columns] or self.release.columns[:MOST_BY]
        return small_cells(self.release, names, least=self.least, progress=Progress(self.progress))

    @cached_property
    def identifiers(self) -> Any:
        """What looks like one of the 18 identifiers of Safe Harbor."""
        from kanopy.attacks.safe_harbor import safe_harbor

        return safe_harbor(self.release)


@dataclass(frozen=True, eq=False)
class PolicyReport(ReprMixin):
    """The requirements of a profile with their states."""

    policy: Mapping[str, Any]
    sections: tuple[DocumentSection, ...]
    checksum: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """All requirements."""
        return tuple(
            requirement
            for section in self.sections
            for requirement in section.parts
            if isinstance(requirement, Requirement)
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many requirements are in each state."""
        return {state: sum(requirement.state == state for requirement in self.requirements) for state in STATES}

    @property
    def holds(self) -> bool:
        """Whether no requirement that was checked is missed."""
        return not self.counts[NOT_MET]

    @property
    def verdict(self) -> str:
        """One sentence."""
        counts = self.counts
        missed = counts[NOT_MET]
        if missed:
            return f"{missed} of {len(self.requirements)} requirements {'is' if missed == 1 else 'are'} not met"
        left = counts[TO_JUDGE]
        return f"All checked requirements are met; {left} {'is' if left == 1 else 'are'} for a person to judge"

    def to_dict(self) -> dict[str, Any]:
        """Plain data without values of the table."""
        return {
            "policy": self.policy["name"], "title": self.policy["title"], "verdict": self.verdict,
            "holds": self.holds, "counts": self.counts,
            "requirements": [
                {"number": requirement.number, "title": requirement.title, "state": requirement.state,
                "source": requirement.source,
                 "evidence": requirement.evidence}
                for requirement in self.requirements
            ],
            **({"manifest_sha256": self.checksum} if self.checksum else {}),
        }  # fmt: skip

    def to_document(self, source: str = "a release") -> Document:
        """The document that is filed."""
        counts = self.counts
        return Document(
            kind=self.policy["title"], source=source, verdict=self.verdict, good=None if self.holds else False,
            sentences=(
                self.policy["intro"],
                "This document states what was checked and found. It does not claim compliance: the people who sign "
                "it decide.",
            ),
            facts=tuple((state, str(counts[state]), "requirements") for state in STATES),
            sections=self.sections, checksum=self.checksum, signatures=tuple(self.policy["signatures"]),
            numbers={**self.numbers, "counts": counts}, footer="Terms follow ISO/IEC 20889:2018.",
        )  # fmt: skip


def report_policy(evidence: Evidence, *, checksum: str = "") -> PolicyReport:
    """Check every requirement of a policy.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["a"] * 12 + ["b"] * 3})
    >>> found = report_policy(Evidence(read_policy("cms-11"), people))
    >>> found.verdict, found.requirements[0].state
    ('1 of 3 requirements is not met', 'not met')
    """
    from kanopy.attacks.policy_checks import CHECKS

    require_fitting(evidence)
    notify = Progress(evidence.progress) if evidence.progress is not None else SILENT
    sections = []
    for number, section in enumerate(evidence.policy["sections"]):
        notify("checking requirements", number / len(evidence.policy["sections"]))
        parts: list[Part] = []
        for asked in section["requirements"]:
            if "check" in asked:
                state, words, more = CHECKS[asked["check"]](evidence, asked)
            else:
                state, words, more = TO_JUDGE, "No figure is available.", ()
            source = asked["source"]
            parts.append(Requirement(asked["number"], asked["title"], state, source, words, asked["asks"]))
            parts += more
        sections.append(DocumentSection(section["title"], (), tuple(parts)))
    numbers = {} if evidence.original is None or evidence.attacks is None else {"attacks": evidence.attacks.to_dict()}
    return PolicyReport(evidence.policy, tuple(sections), checksum, numbers)


def require_fitting(evidence: Evidence) -> None:
    """Refuse what contradicts the policy, or what it cannot be checked without, before any work."""
    policy, name = evidence.policy, evidence.policy["name"]
    for need, words in (
        ("original", "the original table (--original FILE)"),
        ("control", "a control group (--control FILE)"),
    ):
        if need in policy["needs"] and getattr(evidence, need) is None:
            raise JobError(f"{name} cannot be checked without {words}.")
    if evidence.threshold is not None:
        if "largest_risk" not in policy and not policy.get("threshold_is_named"):
            raise JobError(f"{name} has no threshold of risk: leave it out (--threshold).")
        if not 0.0 < evidence.threshold <= 1.0:
            raise JobError(f"The threshold of risk must be above 0 and at most 1, not {evidence.threshold:g}.")
    elif policy.get("threshold_is_named"):
        raise JobError(
            f"{name}: the expert must name the threshold of a very small risk (for example --threshold 0.05)."
        )
    largest = policy.get("largest_risk")
    if largest is not None and evidence.threshold is not None and evidence.threshold > largest:
        raise JobError(
            f"{name} allows a risk of at most {largest:g}; a threshold of {evidence.threshold:g} contradicts it. Name "
            "a smaller one, or leave it out."
        )
    job = evidence.job
    limit = evidence.largest_risk
    if job is not None and limit is not None and job.says("k") and 1.0 / job.k > limit:
        needed = int(-(-1 // limit)) if 1 / int(1 / limit) <= limit else int(1 / limit) + 1
        raise JobError(
            f"{name} allows a risk of at most {limit:g} per record: classes of at least {needed:,}. The job promises "
            f"k = {job.k:,}. Raise k, or name another policy."
        )


__all__ = ["MET", "NOT_APPLICABLE", "POLICIES", "Evidence", "PolicyReport", "read_policy", "report_policy"]
