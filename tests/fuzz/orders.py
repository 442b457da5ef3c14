"""Random jobs on a table and on the same table with its rows in another order: both publish the same.

Compared are the columns that decide: labels, and the values that models look at. Where equal rows are published
differently, which of them is which follows the table, so other columns may stand beside other labels.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

import kanopy
from tests.fuzz.jobs import make_case
from tests.fuzz.judging import key_of
from tests.fuzz.more import with_everything
from tests.fuzz.people import people_case


def judge_order(seed: int) -> str:
    """Run the job of a number on a table in two orders: `released`, or the same refusal twice, or what differs."""
    case = with_everything(people_case(seed) if seed % 2 else make_case(seed))
    job = case.job.replaced(shuffle=False)
    rows = np.arange(case.table.height)
    rows[case.skipped :] = np.random.default_rng([seed, 4]).permutation(rows[case.skipped :])
    ends: list[tuple[Any, ...]] = []
    for table in (case.table, case.table[rows]):
        try:
            result = kanopy.anonymize(table, job, population=case.people, key=key_of(case))
        except kanopy.KanopyError as error:
            ends.append((type(error).__name__,))
            continue
        asked = [name for model in job.models for name in model.sensitive if name in result.data.columns]
        decide = result.data.select(list(dict.fromkeys([*job.quasi, *asked])))
        ends.append((Counter(map(str, decide.rows())), result.suppressed, round(result.score, 12)))
    one, other = ends
    assert one == other, f"{job.algorithm}: {one[1:] or one} in one order, {other[1:] or other} in another"
    return "released" if len(one) > 1 else "refused"
