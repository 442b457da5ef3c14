"""Loading WordNet and pairwise similarity: pairs per second on one core and on all, beside NLTK where installed."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from kanopy.ontology.load import load_ontology
from kanopy.ontology.similarity.pairwise import nearest_concepts, similarity_blocks
from kanopy.ontology.taxonomy import Taxonomy

CONCEPTS = 10_000
MEASURED = ("wu-palmer", "path", "leacock-chodorow", "resnik", "lin", "jiang-conrath", "tversky")
LOAD = """
import numpy, time
start = time.perf_counter()
from kanopy.ontology.load import load_ontology
middle = time.perf_counter()
assert load_ontology("wordnet").senses("tiger")
print(middle - start, time.perf_counter() - middle)
"""


def cold_load() -> tuple[float, float]:
    """Seconds to import the loader (NumPy already there) and to load WordNet and look up a word: best of five."""
    runs = []
    for _ in range(5):
        out = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True).stdout.split()
        runs.append((float(out[0]), float(out[1])))
    return min(runs, key=sum)


def rate(taxonomy: Taxonomy, concepts: np.ndarray, measure: str, threads: int | None) -> tuple[float, float]:
    """Million pairs per second over all pairs, nothing kept: by the clock, and by this thread's processor time."""
    for _ in similarity_blocks(taxonomy, concepts[:30], concepts, measure, threads=threads):
        pass  # compile, and prepare what is made once
    start, used = time.perf_counter(), time.thread_time()
    for _ in similarity_blocks(taxonomy, concepts, concepts, measure, threads=threads):
        pass
    million = len(concepts) ** 2 / 1e6
    return million / (time.perf_counter() - start), million / (time.thread_time() - used)


def nltk_rate(pairs: int = 2_000) -> float | None:
    """NLTK's Wu-Palmer (another convention, the same work), in million pairs per second."""
    try:
        from nltk.corpus import wordnet

        synsets = list(wordnet.all_synsets("n"))[:: 82_115 // 2_000]
    except (ImportError, LookupError):
        return None
    rng = np.random.default_rng(1)
    chosen = [(synsets[a], synsets[b]) for a, b in rng.integers(0, len(synsets), (pairs, 2))]
    start = time.perf_counter()
    for a, b in chosen:
        a.wup_similarity(b)
    return pairs / (time.perf_counter() - start) / 1e6


def main() -> None:
    """Print the table."""
    imported, loaded = cold_load()
    print(f"WordNet, fresh process: import {imported:.3f} s, load and look up {loaded:.3f} s")
    taxonomy = load_ontology("wordnet")
    concepts = np.sort(np.random.default_rng(0).choice(taxonomy.size, CONCEPTS, replace=False))
    peer = nltk_rate()
    print(f"all pairs of {CONCEPTS:,} concepts, million pairs/s{'' if peer else ' (NLTK with data is not installed)'}")
    print(f"{'measure':<20}{'1 core':>10}{'(CPU time)':>12}{'all cores':>12}{'NLTK':>10}{'ratio':>10}")
    for measure in MEASURED:
        one, one_cpu = rate(taxonomy, concepts, measure, 1)
        many, _ = rate(taxonomy, concepts, measure, None)
        beside = f"{peer:>10.4f}{one / peer:>10.0f}" if peer and measure == "wu-palmer" else f"{'-':>10}{'-':>10}"
        print(f"{measure:<20}{one:>10.1f}{one_cpu:>12.1f}{many:>12.1f}{beside}")
    start = time.perf_counter()
    nearest_concepts(taxonomy, concepts, concepts, count=10)
    print(f"10 nearest of each: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
