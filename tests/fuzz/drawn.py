"""What random jobs say: which settings, models, builders, algorithms and policies were drawn, and which never are.

A fuzzer that never draws an option tells nothing of it. What is missing here is printed, and fails the run, unless it
is named with a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kanopy._job.job import Job
from kanopy._parameters import parameters_of
from kanopy._table.policies import EACH, MISSING_POLICIES, ONCE, UNKNOWN_POLICIES
from kanopy._usage import is_given
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.metrics.full_domain import METRICS
from kanopy.privacy.models import MODELS
from kanopy.search.algorithms import ALGORITHMS, algorithm_class
from kanopy.treatments.registry import TREATMENTS
from tests.fuzz.jobs import Case

NOT_DRAWN = {
    "setting population": "everybody of the population is given as a table, or as a file with --population",
    "parameter budget_seconds": "what is found in some time differs from run to run",
    "parameter seconds_per_round": "what is found in some time differs from run to run",
    "setting sample": "a secret draws the rows: tests/release/test_sampling.py",
    "setting margin": "a secret chooses the release; tests of attacks have jobs with one",
    "parameter threads": "it changes how fast a job is and nothing else",
    "model k": "it is the job's own k",
    "algorithm microaggregation": "means are no labels that a textbook can read: tests/search/test_microaggregation.py",
    **dict.fromkeys(
        ("parameter variant", "parameter publish", "parameter distance", "parameter effort"), "of microaggregation"
    ),
    "treatment tokens": "a run writes its secret table as a file",
    "setting sheet": "workbooks know no types: tests/formats reads them",
}
"""What no random job says, with the reason."""


def said_by(case: Case) -> Iterable[str]:
    """What a job says, in words that can be counted."""
    job = case.job
    for name, each in parameters_of(Job).items():
        if is_given(getattr(job, name), each.default):
            yield f"setting {name}"
    yield f"algorithm {job.algorithm}"
    yield f"metric {job.metric}"
    yield f"missing {job.missing}"
    yield f"unknown {job.unknown}"
    yield f"repeats {job.repeats}"
    yield from (f"model {model.name}" for model in job.models)
    yield from (f"parameter {name}" for name in job.parameters)
    yield from (f"setting {name}" for name in getattr(case, "form", {}))
    yield from (f"treatment {each.name}" for each in job.protect.values())
    for tree in job.hierarchies.values():
        yield "hierarchy itself" if isinstance(tree, Hierarchy) else f"builder {dict(tree)['method']}"  # type: ignore[call-overload]


def all_there_is() -> list[str]:
    """Everything that random jobs should say."""
    algorithms = list(ALGORITHMS)
    parameters = {name for each in algorithms for name in parameters_of(algorithm_class(each))}
    return [
        *(f"setting {name}" for name in parameters_of(Job)),
        *(f"algorithm {name}" for name in (*algorithms, *MASKINGS)),
        *(f"metric {name}" for name in METRICS),
        *(f"missing {name}" for name in MISSING_POLICIES),
        *(f"unknown {name}" for name in UNKNOWN_POLICIES),
        *(f"repeats {name}" for name in (ONCE, EACH)),
        *(f"model {name}" for name in MODELS),
        *(f"parameter {name}" for name in sorted(parameters)),
        *(f"builder {name}" for name in BUILDERS),
        *(f"treatment {name}" for name in TREATMENTS),
        "hierarchy itself",
    ]


def never_drawn(said: Counter[str]) -> list[str]:
    """What no job said, though there is no reason for that."""
    return [name for name in all_there_is() if not said[name] and name not in NOT_DRAWN]
