"""`kanopy.attack`: what attackers learn from a release, beside what they learn about people who are not in it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError, near_miss
from kanopy._lazy import public
from kanopy._usage import checked

if TYPE_CHECKING:
    from kanopy._job.coercion import JobSource
    from kanopy._progress import Callback
    from kanopy.attacks.attack import AttackReport


@public("kanopy")
@checked
def attack(
    original: Any,
    released: Any = None,
    job: JobSource | None = None,
    *,
    control: Any = None,
    beside: Any = None,
    secrets: Any = (),
    first: Any = (),
    guesses: int = 1000,
    learn: bool = True,
    seed: int = 0,
    progress: Callback | None = None,
    **more: Any,
) -> AttackReport:
    """Attack a release: singling out, linkability, inference, membership, and intersection with an earlier release.

    `original` is the table that the release was made from, `released` a release by Kanopy or another tool, and
    `control` a table of other people of the same population, who are not in the release: what an attack achieves on
    them as well is knowledge about everybody. Where `control` is a share such as `0.2` or `"20%"`, so many people of
    the original are held out by `seed` and the `job` makes the release from the others. `quasi`, `sensitive`, `unit`
    and other arguments of `Job` take the place of the job's. `secrets` are the columns whose values are guessed, by
    default the sensitive ones; `first` are the columns that a first source holds, for linkability. `beside` is an
    earlier release of the same people. Definitions: `docs/how-to/attacks.md`.

    >>> import random, kanopy
    >>> draw = random.Random(1)
    >>> people = {"age": [draw.randint(20, 79) for _ in range(300)], "ill": [draw.choice("abc") for _ in range(300)]}
    >>> job = kanopy.Job(quasi="age", sensitive="ill", k=5)
    >>> found = attack(people, control="30%", job=job, guesses=100, learn=False)
    >>> found.people, found.control_people, round(found.criterion("inference").rate.value, 1)
    (210, 90, 0.4)
    """
    from kanopy._job.usage import ATTACKED
    from kanopy._parameter_types import Share, taken
    from kanopy.attacks.attack import attack_release

    settings = {
        "earlier": beside, "secrets": secrets, "first": first, "guesses": guesses, "learn": learn, "seed": seed,
        "progress": progress,
    }  # fmt: skip
    if strangers := [name for name in more if name not in ATTACKED]:
        raise JobError(f"An attack takes no argument {strangers[0]!r}. {near_miss(strangers[0], ATTACKED)}")
    if not is_share(control):
        if released is None:
            raise JobError(
                "There is no release to attack. Give one, or a job and the share of people to hold back as a control "
                "group (--job FILE --control 20%)."
            )
        return attack_release(original, released, job, control=control, **settings, **more)
    if released is not None:
        raise JobError(
            "A share can only be held back before the release is made, and this release exists already. Give the "
            "table of other people (--control FILE), or leave the release out and give its job (--job FILE)."
        )
    if job is None:
        raise JobError("A release of the people who are not held back needs a job (job=…, --job FILE).")
    share = float(taken(Share(), control, "control"))
    return _held_out(original, job, share, settings, more)


def is_share(control: Any) -> bool:
    """Whether a control group is given as a share of the people, not as a table.

    >>> is_share("20%"), is_share(0.2), is_share("others.csv"), is_share(None)
    (True, True, False, False)
    """
    if isinstance(control, str):
        text = control.strip().removesuffix("%").strip()
        return text.replace(".", "", 1).isdigit()
    return isinstance(control, (int, float)) and not isinstance(control, bool)


def _held_out(
    original: Any, job: JobSource, share: float, settings: dict[str, Any], more: dict[str, Any]
) -> AttackReport:
    """Hold people out, make the release from the others, and attack it."""
    import numpy as np

    from kanopy._job.coercion import as_job
    from kanopy._job.job import Job
    from kanopy._job.reading_rules import read_records
    from kanopy._parameter_types import ColumnNames, taken
    from kanopy._progress import Step
    from kanopy._table.frames import to_polars
    from kanopy.attacks.attack import attack_tables
    from kanopy.attacks.tables import hold_out
    from kanopy.release.run import anonymize
    from kanopy.study.subject import studied_job

    wanted = as_job(job)
    if not isinstance(wanted, Job):
        raise JobError("Attacks with a held-out control group need a job that generalizes, not one that masks texts.")
    studied = studied_job(wanted, more)
    wanted = wanted.replaced(**{name: getattr(studied, name) for name in more}) if more else wanted
    frame = read_records(original, wanted)
    released_part, apart = hold_out(frame, share, wanted.unit, settings["seed"])
    progress = settings["progress"]
    if progress is not None:
        progress(Step("making the release", None, f"{released_part.height:,} rows"))
    # The records are read already: rows to skip and missing tokens do not apply again.
    secret = hashlib.sha256(f"attack {settings['seed']}".encode()).digest() if wanted.margin else None
    result = anonymize(released_part, wanted.replaced(skip_rows=0), key=secret)  # the same figures for the same seed
    released = to_polars(result.data)[0]
    return attack_tables(
        released_part, released, apart, quasi=wanted.quasi, sensitive=_sensitive(wanted), unit=wanted.unit,
        hierarchies=dict(result.hierarchies), earlier=settings["earlier"] and to_polars(settings["earlier"])[0],
        secrets=taken(ColumnNames(), settings["secrets"], "secrets"), first=taken(ColumnNames(), settings["first"],
        "first"), guesses=settings["guesses"], learn=settings["learn"], seed=settings["seed"], progress=progress,
        job=wanted, partner=np.arange(released_part.height) if released.height == released_part.height else None,
        notes=(f"{apart.height:,} rows were held back as a control group; the job made the release of the others.",),
    )  # fmt: skip


def _sensitive(job: Any) -> tuple[str, ...]:
    """The sensitive columns that a job names, by their role or in its models."""
    named = [*job.sensitive, *(name for model in job.models for name in model.sensitive)]
    return tuple(dict.fromkeys(named))


def manifest_beside(released: str) -> tuple[dict[str, Any] | None, str]:
    """The manifest of a release that lies beside it, and its checksum; nothing where there is none."""
    from pathlib import Path

    from kanopy._table.sources import local_path
    from kanopy.release.manifest import checksum, find_manifest

    location = local_path(released)
    if location is None or not location.is_file():
        return None, ""
    manifest_found = find_manifest(location)
    if manifest_found is None:
        return None, ""
    for path in sorted(Path(location).parent.glob("*.json")):
        if path.stat().st_size < 10_000_000 and find_same(path, manifest_found):
            return manifest_found, checksum(path)
    return manifest_found, ""


def find_same(path: Any, manifest: dict[str, Any]) -> bool:
    """Whether a file holds this manifest."""
    import json

    try:
        return bool(json.loads(path.read_text(encoding="utf-8")) == manifest)
    except (OSError, ValueError):
        return False
