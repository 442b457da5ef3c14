"""How long masking takes, and how that grows: the survey, and random pairs of nouns of five sizes.

python benchmarks/masking.py            the survey and up to 20,000 distinct pairs
python benchmarks/masking.py --large    also 100,000 distinct pairs in a million records
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from kanopy._table.survey import survey
from kanopy.masking.job import MaskJob
from kanopy.ontology.load import load_ontology
from kanopy.release.run import mask

SIZES = ((2_500, 500, 12_500), (5_000, 1_000, 25_000), (10_000, 2_000, 50_000), (20_000, 2_000, 100_000))
LARGE = (100_000, 5_000, 1_000_000)


def random_answers(pairs: int, nouns: int, records: int, seed: int = 1) -> dict[str, list[str]]:
    """Records with so many distinct pairs over so many nouns; most pairs are rare, few are common."""
    rng = np.random.default_rng(seed)
    wordnet = load_ontology("wordnet")
    usable = [word for word in wordnet.vocabulary if word.isalpha() and 3 < len(word) < 12]
    words = np.array(sorted(rng.choice(usable, nouns, replace=False).tolist()))
    likely = 1 / np.arange(1, nouns + 1) ** 0.6
    chosen = np.unique(rng.choice(nouns, (3 * pairs, 2), p=likely / likely.sum()), axis=0)
    chosen = chosen[rng.permutation(len(chosen))[:pairs]]
    shares = rng.dirichlet(np.full(len(chosen), 0.05))
    counts = 1 + rng.multinomial(records - len(chosen), shares)
    rows = np.repeat(chosen, counts, axis=0)[rng.permutation(records)]
    return {"first": words[rows[:, 0]].tolist(), "second": words[rows[:, 1]].tolist()}


def timed(name: str, data: dict[str, list[str]], text: tuple[str, ...], **options: object) -> None:
    """Mask once and print a line."""
    started = time.perf_counter()
    result = mask(data, MaskJob(text=text, k=5, **options))  # type: ignore[arg-type]
    result.summary()  # evaluates
    whole = time.perf_counter() - started
    seconds = result.clock.seconds
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:34} {len(result.evaluation.table.tuples):>8,} {seconds['meanings']:>9.3f} {seconds['search']:>9.3f} "
        f"{seconds['evaluate']:>9.3f} {whole:>9.3f} {memory:>7,.0f}  {result.evaluation.semantic_quality:.4f} "
        f"{result.masked.scans:>8,}"
    )


def main() -> None:
    """Print the table."""
    answers = survey()
    text = ("reason1", "reason2")
    mask(answers, MaskJob(text=text, k=5, search="refined"))  # compiles
    titles = ("meanings", "mask", "evaluate", "total s", "MB")
    print(
        f"{'table':34} {'tuples':>8} " + " ".join(f"{t:>9}" for t in titles[:4]) + f" {titles[4]:>7}  quality    scans"
    )
    timed("survey (thesis: 380 s + 1.4 s)", answers, text)
    timed("survey, refined", answers, text, search="refined")
    for pairs, nouns, records in SIZES:
        data = random_answers(pairs, nouns, records)
        timed(f"{records:,} records, {nouns:,} nouns", data, ("first", "second"))
    timed("the same, refined", data, ("first", "second"), search="refined")
    if "--large" in sys.argv:
        pairs, nouns, records = LARGE
        timed(f"{records:,} records, {nouns:,} nouns", random_answers(pairs, nouns, records), ("first", "second"))


if __name__ == "__main__":
    main()
