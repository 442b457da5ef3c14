"""What the answers of a textual column mean: a meaning per value, and how similar meanings are.

Values are looked up once. Values with the same concepts share a meaning, so that the table of similarities grows with
what was meant and not with how it was written. A value that no ontology knows is, by the user's choice, a meaning of
its own, compared by vectors, or an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints
from kanopy._errors import DataError, JobError, MissingDependency, near_miss, some
from kanopy._mixins import DictMixin
from kanopy.masking.answer_reading import LONGEST_TERM
from kanopy.ontology.senses.labels import APPROXIMATE, Match, suggestions
from kanopy.ontology.senses.senses import SenseChoices, find_labels
from kanopy.ontology.similarity.measures import Measure, find_measure
from kanopy.ontology.similarity.pairwise import similarity_blocks
from kanopy.ontology.similarity.words import sense_pairs
from kanopy.ontology.taxonomy import Taxonomy

Vectors = Callable[[list[str]], Any]
"""Anything that turns texts into vectors of one length: `encode(["beach", …])`."""

UNKNOWN_TEXT_POLICIES = {
    "own-class": "a value that is not in the ontology is similar only to itself",
    "embedding": "a value that is not in the ontology is compared by vectors",
    "error": "a value that is not in the ontology is an error",
}
NO_VECTORS = "unknown='embedding' needs vectors: give embedding=, a callable or the folder of a local model."
MOST_MEANINGS = 30_000
MOST_EXACT = 3_000
SUGGESTED = 20
"""Suggestions take time: only the first unknown values get some."""


@dataclass(frozen=True)
class Unknown(DictMixin):
    """A value that no ontology knows, and words that are written like it."""

    value: str
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Meanings:
    """The meaning of every value, and the similarities of meanings.

    `meaning_of[v]` numbers the meaning of value `v`; meanings from `len(table)` on are like nothing but themselves.
    `table` has similarities between 0 and 1 (what the masking is guided by); `raw` gives them as the measure states
    them (what quality is reported in).
    """

    taxonomy: Taxonomy
    measure: Measure
    values: tuple[str, ...]
    meaning_of: Ints
    concepts: tuple[tuple[int, ...], ...]
    table: npt.NDArray[np.float32]
    worst: float
    unknown: tuple[Unknown, ...]
    approximate: tuple[str, ...]
    exact: Floats | None = None
    """The measure's own similarities of known meanings, where they are few enough to keep."""
    stance: Ints | None = None
    """The stance of each known meaning (`kanopy.masking.polarity`), where those that differ are kept apart."""

    @property
    def best(self) -> float:
        """The measure's similarity of equals."""
        return self.measure.maximum(self.taxonomy)

    def raw(self, first: Sequence[int] | Ints, second: Sequence[int] | Ints) -> Floats:
        """The measure's own similarities of pairs of values (numbers of `values`), the best over their senses.

        Equal values are as similar as the measure allows; a value of unknown meaning has the lowest similarity with
        all others (or, with vectors, the share of the range that their cosine gives).
        """
        a, b = np.asarray(first, np.int64), np.asarray(second, np.int64)
        out = np.full(len(a), self.worst)
        same = a == b
        out[same] = self.best
        left, right = self.meaning_of[a], self.meaning_of[b]
        is_comparable = ~same & (left < len(self.concepts)) & (right < len(self.concepts))
        if self.stance is not None:
            is_comparable[is_comparable] = self.stance[left[is_comparable]] == self.stance[right[is_comparable]]
        if self.exact is not None:
            out[is_comparable] = self.exact[left[is_comparable], right[is_comparable]]
        else:
            pairs, inverse = np.unique(
                np.column_stack([left[is_comparable], right[is_comparable]]), axis=0, return_inverse=True
            )
            parts = np.array_split(pairs, max(1, len(pairs) // 20_000))
            values_of_pairs = [
                _pair_values(self.taxonomy, self.measure, self.concepts, p[:, 0], p[:, 1]) for p in parts
            ]
            out[is_comparable] = np.concatenate(values_of_pairs)[inverse.reshape(-1)]
        unread = (left >= len(self.concepts)) | (right >= len(self.concepts))
        by_vector = ~same & unread & (left < len(self.table)) & (right < len(self.table))
        share = self.table[left[by_vector], right[by_vector]].astype(np.float64)
        out[by_vector] = self.worst + share * (self.best - self.worst)
        return out

    def unit(self, raw: Floats) -> Floats:
        """Similarities between 0 and 1."""
        return np.asarray(_unit(raw, self.best, self.worst), np.float64)


def find_meanings(
    taxonomy: Taxonomy,
    values: Sequence[str],
    *,
    measure: str | Measure = "wu-palmer",
    choices: SenseChoices | None = None,
    unknown: str = "own-class",
    embedding: Vectors | str | Path | None = None,
    read: Mapping[str, tuple[Match, int]] | None = None,
    silent: Collection[str] = (),
) -> Meanings:
    """Look values up and compare their meanings: the maximum over senses, unless the user chose one.

    `read` says of each value what it was found to mean already, and its stance: values of another one are like nothing
    of this one. `silent` are values of which nobody expects a meaning.

    >>> from kanopy.ontology.load import load_ontology
    >>> found = find_meanings(load_ontology("wordnet"), ["beach", "Beaches", "seashore", "qwrtz"])
    >>> found.meaning_of.tolist(), [each.value for each in found.unknown], found.table.astype(float).round(2).tolist()
    ([0, 0, 1, 2], ['qwrtz'], [[1.0, 0.77], [0.77, 1.0]])
    """
    if unknown not in UNKNOWN_TEXT_POLICIES:
        raise JobError(f"There is no policy unknown={unknown!r}. {near_miss(str(unknown), UNKNOWN_TEXT_POLICIES)}")
    if unknown == "embedding" and embedding is None:
        raise JobError(NO_VECTORS)
    chosen = find_measure(measure)
    if read is None:
        matches = find_labels(taxonomy, values, choices, longest=LONGEST_TERM)
    else:
        matches = {value: read[value][0] for value in values}
    index: dict[tuple[tuple[int, ...], int], int] = {}
    number_of_value = {
        value: index.setdefault((match.concepts, 0 if read is None else read[value][1]), len(index))
        for value, match in matches.items()
        if match.known
    }
    strangers = [value for value, match in matches.items() if not match.known]
    listed = tuple(
        Unknown(value, suggestions(taxonomy, value) if at < SUGGESTED and len(value) <= LONGEST_TERM else ())
        for at, value in enumerate(value for value in strangers if value not in silent)
    )
    if listed and unknown == "error":
        hints = [
            f"{answer.value!r}: perhaps {', '.join(answer.suggestions)}" for answer in listed if answer.suggestions
        ]
        hint = f" ({'; '.join(hints[:3])})" if hints else ""
        raise DataError(
            f"{taxonomy.name or 'The ontology'} does not know {len(listed):,} of {len(matches):,} values: "
            f"{some([answer.value for answer in listed])}{hint}. Give them a word in the [synonyms] of a senses file, "
            f"or "
            "choose unknown='own-class' or 'embedding'."
        )
    numbers = {**number_of_value, **{value: len(index) + at for at, value in enumerate(strangers)}}
    concepts = tuple(concepts_of_answer for concepts_of_answer, _ in index)
    if len(concepts) > MOST_MEANINGS:
        raise DataError(
            f"The textual columns have {len(concepts):,} different meanings; similarities of at most "
            f"{MOST_MEANINGS:,} fit in memory. Join rare answers first, e.g. with a table of synonyms."
        )
    table, worst, exact = _similarities(taxonomy, chosen, concepts)
    stance = np.array([stance_of_answer for _, stance_of_answer in index], np.int32)
    if stance.any():
        apart = stance[:, None] != stance[None, :]
        table[apart] = 0.0
        if exact is not None:
            exact[apart] = worst
    if unknown == "embedding" and strangers:
        words = [next(value for value, number in number_of_value.items() if number == m) for m in range(len(concepts))]
        table = _with_vectors(table, vectors_of(embedding, [*words, *strangers]))
    return Meanings(
        taxonomy=taxonomy,
        measure=chosen,
        values=tuple(values),
        meaning_of=np.array([numbers[value] for value in values], np.int32),
        concepts=concepts,
        table=table,
        worst=worst,
        unknown=listed,
        approximate=tuple(value for value, match in matches.items() if match.how in APPROXIMATE),
        exact=exact,
        stance=stance if stance.any() else None,
    )


def _similarities(
    taxonomy: Taxonomy, measure: Measure, concepts: Sequence[tuple[int, ...]]
) -> tuple[npt.NDArray[np.float32], float, Floats | None]:
    """All meanings with all meanings, between 0 and 1; the measure's value that counts as 0; its own values."""
    count = len(concepts)
    if not count:
        return np.zeros((0, 0), np.float32), 0.0, None
    senses, flat = np.unique(
        np.array([c for concept_group in concepts for c in concept_group], np.int32), return_inverse=True
    )
    lengths = np.array([len(concept_group) for concept_group in concepts], np.int64)
    first = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(count), lengths)
    # Rows of single senses are joined to rows of meanings as they come; `uses` finds the meanings of a sense.
    by_sense = np.argsort(flat, kind="stable")
    edge = np.searchsorted(flat[by_sense], np.arange(len(senses) + 1))
    raw: npt.NDArray[Any] = np.full((count, count), -np.inf, np.float64 if count <= MOST_EXACT else np.float32)
    for start, block in similarity_blocks(taxonomy, senses, senses, measure):
        joined = np.maximum.reduceat(block[:, flat], first, axis=1).astype(raw.dtype, copy=False)
        for at, row in enumerate(joined, start):
            for use in by_sense[edge[at] : edge[at + 1]]:
                similarity_of_owner = raw[owner[use]]
                np.maximum(similarity_of_owner, row, out=similarity_of_owner)
    best = measure.maximum(taxonomy)
    worst = 0.0 if best > 0 else float(raw.min())
    if count <= MOST_EXACT:
        return _unit(raw, best, worst).astype(np.float32), worst, raw
    np.copyto(raw, _unit(raw, best, worst))
    return raw, worst, None


def _unit(raw: Any, best: float, worst: float) -> Any:
    if best == worst:
        return np.ones_like(raw)
    return np.clip((raw - worst) / (best - worst), 0.0, 1.0)


def _pair_values(
    taxonomy: Taxonomy, measure: Measure, concepts: Sequence[tuple[int, ...]], left: Ints, right: Ints
) -> Floats:
    if not len(left):
        return np.empty(0)
    a, b, starts = sense_pairs((concepts[x], concepts[y]) for x, y in zip(left, right, strict=True))
    return np.maximum.reduceat(np.asarray(measure(taxonomy, a, b), np.float64), starts[:-1])


def vectors_of(embedding: Vectors | str | Path | None, texts: list[str]) -> Floats:
    """Vectors of length 1, one per text, from a callable or a local model folder; nothing is downloaded.

    >>> vectors_of(lambda texts: [[len(text), 0.0] for text in texts], ["a", "bb"]).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    encode = local_model(embedding) if isinstance(embedding, (str, Path)) else embedding
    if encode is None:
        raise JobError(NO_VECTORS)
    vectors = np.asarray(encode(texts), np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
        raise DataError(
            f"The embedding gave an array of shape {vectors.shape} for {len(texts)} texts. "
            "It must give one row of finite numbers per text."
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float64)


def local_model(folder: str | Path) -> Vectors:
    """A sentence-transformers model that lies in a folder on this machine."""
    if not Path(folder).is_dir():
        raise JobError(f"There is no folder {str(folder)!r} with a model. Models are read from disk, never downloaded.")
    try:
        import sentence_transformers
    except ImportError:
        raise MissingDependency(
            "A model folder needs the package sentence-transformers. Install it, or give a callable as embedding."
        ) from None
    model = sentence_transformers.SentenceTransformer(str(folder), local_files_only=True)
    return lambda texts: model.encode(texts)


def _with_vectors(table: npt.NDArray[np.float32], vectors: Floats) -> npt.NDArray[np.float32]:
    """The table, larger by the unknown values: whatever involves one of them is the cosine, never below 0."""
    if len(vectors) > MOST_MEANINGS:
        raise DataError(f"{len(vectors):,} meanings are too many to compare by vectors; {MOST_MEANINGS:,} fit.")
    out = np.clip(vectors @ vectors.T, 0.0, 1.0).astype(np.float32)
    np.fill_diagonal(out, 1.0)
    out[: len(table), : len(table)] = table
    return out
