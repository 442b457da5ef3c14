"""Large tables: 100,000 records with 20,000 distinct pairs over 2,000 nouns in under a minute and 2 GB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import resource, sys, time
sys.path.insert(0, "benchmarks")
from masking import random_answers
from kanopy.masking.job import MaskJob
from kanopy.release.run import mask
steps = []
data = random_answers(20_000, 2_000, 100_000)
started = time.perf_counter()
result = mask(data, MaskJob(text=("first", "second"), k=5), progress=lambda step: steps.append(step.fraction))
seconds = time.perf_counter() - started
print(len(result.evaluation.table.tuples), result.verification.smallest_class, seconds, len(steps) > 8,
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2)
"""


@pytest.mark.slow
def test_twenty_thousand_pairs() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True)
    tuples, smallest, seconds, told, gigabytes = done.stdout.split()
    assert (int(tuples), told) == (20_000, "True")
    assert int(smallest) >= 5
    assert float(seconds) < 60
    assert float(gigabytes) < 2
