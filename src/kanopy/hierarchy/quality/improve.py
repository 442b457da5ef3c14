"""Propose the fewest edits that make a hierarchy keep more meaning (a lower VghGSL, Ayala-Rivera et al. 2014).

Four kinds of edit, each tried where a level loses most: *relabel* a node by the lowest concept above all its values,
*move* a value under another node, *insert* a node for those children of a node that share more than the node says, and
*drop* a level that loses more than the level above it (by mean only if its groups are not those of meaning). The best
edit is taken, then the next, as long as each lowers the score; edits that turn out not to matter in the end are taken
back. The top `*` is left alone, and no label is proposed that says nothing (`physical entity`). Levels are scored by
their maximum as published, or by their mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Ints
from kanopy._errors import HierarchyError
from kanopy._lazy import public
from kanopy._mixins import DictMixin, HtmlReprMixin, ReprMixin
from kanopy._usage import checked
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.agreement import agreement, triplet_agreement
from kanopy.hierarchy.quality.semantic_loss import known_concepts, level_losses, level_weights, loss_table
from kanopy.ontology.join import least_common_subsumer
from kanopy.ontology.senses.labels import Match
from kanopy.ontology.senses.senses import Choice, SenseChoices, Senses, senses_of_hierarchy
from kanopy.ontology.taxonomy import Taxonomy
from kanopy.ontology.terms import common_term, says_nothing

Labels = npt.NDArray[np.object_]

SMALLEST_GAIN = 1e-6
EQUAL = 1e-12
MOST_NODES = 12
"""So many nodes of a level are looked at, those that lose most."""
SAME_GROUPS = 0.98
"""Such a share of the triples that the given hierarchy separates must stay separated."""
BY_MEANING = 0.1
"""Groups that agree with nearness by more than this are those of meaning (see `agreement`)."""
MOST_NAMED = 4
MOST_MOVED = 50
"""So many values are tried elsewhere, those that lose most."""


@dataclass(frozen=True)
class Edit(DictMixin, ReprMixin):
    """One edit: its kind, the node or value it changes, the level, what it becomes, the score after it, and why."""

    kind: str
    label: str
    level: int
    to: str
    message: str
    score: float
    values: tuple[str, ...] = ()
    why: str = ""


@public("kanopy.hierarchy")
@dataclass(frozen=True)
class Improvement(HtmlReprMixin):
    """The improved hierarchy, the edits that lead to it, the scores before and after, and what its labels mean."""

    hierarchy: Hierarchy
    edits: tuple[Edit, ...]
    before: float
    after: float
    senses: Senses


@dataclass(frozen=True, eq=False)
class _State:
    """A level table of labels with its concepts; -1 is unknown."""

    labels: Labels
    concepts: Ints

    def without(self, level: int) -> _State:
        return _State(np.delete(self.labels, level, axis=0), np.delete(self.concepts, level, axis=0))

    def with_cells(self, rows: Any, columns: Any, labels: Any, concepts: Any) -> _State:
        new_labels, new_concepts = self.labels.copy(), self.concepts.copy()
        new_labels[rows, columns] = labels
        new_concepts[rows, columns] = concepts
        return _State(new_labels, new_concepts)


@public("kanopy")
@checked
def improve_hierarchy(
    hierarchy: Hierarchy,
    taxonomy: Taxonomy,
    *,
    measure: str = "wu-palmer",
    weights: str | Sequence[float] = "constant",
    choices: SenseChoices | None = None,
    max_edits: int = 10,
    level_score: str = "mean",
) -> Improvement:
    """The fewest edits of which each lowers the mean loss or (`level_score="max"`, as published) VghGSL.

    None if there is nothing to gain.

    >>> from kanopy.ontology.load import load_ontology
    >>> rows = [["cat", "homeotherm", "animal"], ["dog", "homeotherm", "animal"], ["salmon", "fish", "animal"]]
    >>> better = improve_hierarchy(Hierarchy.from_rows(rows), load_ontology("wordnet"), max_edits=1)
    >>> [edit.message for edit in better.edits]
    ["relabel 'homeotherm' (level 1) as 'carnivore'"]
    >>> better.edits[0].why
    "'carnivore' is what cat and dog share: they lose on average 0.0714 instead of 0.2456"
    """
    if max_edits < 1:
        raise HierarchyError(f"max_edits must be at least 1, not {max_edits}.")
    hierarchy.tree()  # only hierarchies that nest can be edited node by node
    rows = list(hierarchy.rows())
    senses = senses_of_hierarchy(taxonomy, rows, choices)
    labels = np.array([list(row) for row in zip(*rows, strict=True)], object)
    where = f"The hierarchy {hierarchy.name}".rstrip()
    approximate = frozenset(choice.label for choice in senses.approximate)
    search = _Search(taxonomy, measure, weights, level_score, approximate)
    start = _State(labels, known_concepts(labels.tolist(), senses, where))
    state, steps = search.run(start, max_edits)
    score = search.score(state)
    edits = [step.edit for step in steps]
    improved = Hierarchy.from_rows((tuple(row) for row in state.labels.T), name=hierarchy.name)
    return Improvement(improved, tuple(edits), search.score(start), score, _senses_after(taxonomy, senses, state))


def _senses_after(taxonomy: Taxonomy, senses: Senses, state: _State) -> Senses:
    choices: dict[str, Choice] = {}
    for label, concept in zip(state.labels.ravel().tolist(), state.concepts.ravel().tolist(), strict=True):
        if label in choices:
            continue
        if label in senses:
            choices[label] = senses[label]
        else:
            match = Match(label, "chosen", taxonomy.sense_name(concept), (concept,))
            choices[label] = Choice(match, concept, "the lowest concept above its values")
    return Senses(taxonomy, choices)


@dataclass(frozen=True, eq=False)
class _Step:
    """A state after an edit, and what is needed to make the same edit elsewhere."""

    edit: Edit
    state: _State
    key: tuple[float, float]
    columns: Ints
    concept: int
    chain: int = -1


class _Search:
    def __init__(
        self,
        taxonomy: Taxonomy,
        measure: str,
        weights: str | Sequence[float],
        level_score: str,
        approximate: frozenset[str] = frozenset(),
    ) -> None:
        self.taxonomy, self.measure, self.weights, self.level_score = taxonomy, measure, weights, level_score
        self.approximate = approximate
        self.memo: dict[int, float] = {}

    def losses(self, state: _State) -> Floats:
        return loss_table(self.taxonomy, state.concepts, self.measure, memo=self.memo)

    def score(self, state: _State) -> float:
        """VghGSL with the levels' means or maxima."""
        return self.scores(state)[0]

    def scores(self, state: _State) -> tuple[float, float]:
        """The score, and that with the mean: it breaks ties between edits."""
        losses = self.losses(state)
        weights = level_weights(len(losses), self.weights)
        one, other = (float(weights @ level_losses(losses, how)) for how in (self.level_score, "mean"))
        return one, other

    def run(self, state: _State, max_edits: int) -> tuple[_State, list[_Step]]:
        steps: list[_Step] = []
        start, score = state, self.score(state)
        while len(steps) < max_edits:
            better = [step for step in self.candidates(state) if step.edit.score < score - SMALLEST_GAIN]
            better.sort(key=lambda step: step.key)
            best = next((step for step in better if self.may(step, state, start)), None)
            if best is None or best.edit.score >= score - SMALLEST_GAIN:
                break
            steps.append(replace(best, edit=replace(best.edit, why=self.reason(best, state, best.state))))
            state, score = best.state, best.edit.score
        return self.without_idle_edits(start, steps)

    def may(self, step: _Step, state: _State, given: _State) -> bool:
        """Whether an edit keeps what is right: the mean loss, and the groups of the given hierarchy."""
        if step.edit.kind == "drop" and self.mean(step.state) > self.mean(state) + EQUAL:
            return False
        if step.edit.kind == "relabel" or (self.level_score == "max" and step.edit.kind != "drop"):
            return True  # the groups stay, or the score asks for others
        return triplet_agreement(given.labels.tolist(), step.state.labels.tolist()) >= SAME_GROUPS

    def mean(self, state: _State) -> float:
        return self.scores(state)[1]

    def without_idle_edits(self, start: _State, steps: list[_Step]) -> tuple[_State, list[_Step]]:
        """Take back the edits that the final score does not need (several nodes can be at their worst together)."""
        if not steps:
            return start, []
        needed, final = steps, steps[-1].edit.score
        for step in steps:
            if step.edit.kind == "drop":
                continue
            rest = [other for other in needed if other is not step]
            state = self.replay(start, rest)
            if state is not None and self.score(state) <= final + EQUAL:
                needed = rest
        # In another order an edit alone may not help: as they were found, each does.
        return self.one_by_one(start, self.without_detours(start, needed, final)) or (steps[-1].state, steps)

    def one_by_one(self, state: _State, steps: list[_Step]) -> tuple[_State, list[_Step]] | None:
        """The edits with the score after each; `None` if one of them does not lower it."""
        score, rescored = self.score(state), []
        for step in steps:
            following = self.replay(state, [step])
            assert following is not None
            before, score = score, self.score(following)
            if score >= before - EQUAL:
                return None
            why = self.reason(step, state, following)
            rescored.append(replace(step, edit=replace(step.edit, score=score, why=why)))
            state = following
        return state, rescored

    def without_detours(self, start: _State, steps: list[_Step], final: float) -> list[_Step]:
        """A node relabelled twice is relabelled once, when its later label has come true of all its values."""
        for later in [step for step in steps if step.edit.kind == "relabel"]:
            level, between = later.edit.level, later.edit.label
            for step in steps:
                if step is later:
                    break
                if step.edit.kind != "relabel" or step.edit.level != level or step.edit.to != between:
                    continue
                direct = [_renamed(other, level, between, step.edit.label) for other in steps if other is not step]
                state = self.replay(start, direct)
                if state is not None and self.score(state) <= final + EQUAL:
                    return self.without_detours(start, direct, final)
                break
        return steps

    def replay(self, state: _State, steps: Sequence[_Step]) -> _State | None:
        """The same edits made one after the other; `None` if one has lost its node or its label is taken."""
        for step in steps:
            level = step.edit.level
            if step.edit.kind == "drop":
                state = state.without(level)
            elif step.edit.kind == "move":
                state = _moved(state, int(step.columns[0]), step.chain)
            else:
                here = np.flatnonzero(state.labels[level] == step.edit.label)
                columns = here if step.edit.kind == "relabel" else np.intersect1d(here, step.columns)
                others = np.setdiff1d(np.arange(state.labels.shape[1]), columns)
                if not len(columns) or step.edit.to in state.labels[level, others]:
                    return None
                state = state.with_cells(level, columns, step.edit.to, step.concept)
        return state

    # ---- candidates ---------------------------------------------------------------------------------------

    def candidates(self, state: _State) -> Iterator[_Step]:
        losses = self.losses(state)
        scores = level_losses(losses, self.level_score)
        for level in range(1, len(state.labels)) if not self.of_names(state) else ():
            worst = self.worst(state.labels[level], losses[level - 1])
            for label in dict.fromkeys(state.labels[level, worst].tolist()):
                columns = np.flatnonzero(state.labels[level] == label).astype(np.int32)
                if label != SUPPRESSED_LABEL and not (level == 0 or label == state.labels[0, columns[0]]):
                    yield from self.relabelled(state, level, label, columns)
                    yield from self.inserted(state, level, label, columns, np.flatnonzero(worst))
            yield from self.moved(state, np.flatnonzero(worst), level)
            above = level + 1 < len(state.labels)
            loses_more = above and isinstance(self.weights, str) and scores[level - 1] > scores[level] + SMALLEST_GAIN
            if loses_more and (self.level_score == "max" or not self.tells(state, level)):
                yield self.dropped(state, level)

    def worst(self, labels: Labels, losses: Floats) -> npt.NDArray[np.bool_]:
        """The values where an edit may help: those at the maximum, or of the nodes that add most to the mean."""
        if self.level_score == "max":
            return np.asarray(losses >= np.nanmax(losses) - EQUAL)
        names, node = np.unique(labels.astype(str), return_inverse=True)
        lost = np.bincount(node, weights=np.nan_to_num(losses), minlength=len(names))
        most: npt.NDArray[np.bool_] = np.isin(node, np.argsort(-lost, kind="stable")[:MOST_NODES])
        return most

    def step(self, kind: str, state: _State, edit: tuple[str, int, str, str], **more: Any) -> _Step:
        label, level, to, message = edit
        key = self.scores(state)
        values = tuple(more.pop("values", ()))
        return _Step(Edit(kind, label, level, to, message, key[0], values), state, key, **more)

    def reason(self, step: _Step, before: _State, after: _State) -> str:
        """Why an edit helps, and what its values lose after it and before, at its level or on average over all."""
        edit, level = step.edit, step.edit.level
        if edit.kind == "drop":
            scores = level_losses(self.losses(before), self.level_score)
            return f"its labels lose {scores[level - 1]:.4f}, those of the broader level above only {scores[level]:.4f}"
        here: Any = level - 1
        if edit.kind == "move":
            message, here, columns = f"{edit.label!r} is a kind of {edit.to!r}", slice(None), step.columns
        elif edit.kind == "insert":
            columns = np.flatnonzero(after.labels[level] == edit.to).astype(np.int32)
            message = f"{edit.to!r} says more of them than {edit.label!r}"
        else:
            columns = np.flatnonzero(before.labels[level] == edit.label).astype(np.int32)
            values = _names(before.labels[0, columns[before.concepts[0, columns] >= 0]])
            message = f"{edit.to!r} is what {values} share"
        now, then = (np.nanmean(self.losses(state)[here][..., columns]) for state in (after, before))
        lose = "they lose on average" if len(columns) > 1 else "it loses"
        return f"{message}: {lose} {now:.4f} instead of {then:.4f}"

    def relabelled(self, state: _State, level: int, label: str, columns: Ints) -> Iterator[_Step]:
        concepts = self.known(state, columns)
        if len(set(concepts)) < 2:
            return  # a value alone needs no other name
        concept = least_common_subsumer(self.taxonomy, concepts)
        term = self.free_term(state, level, concept, columns)
        if concept == state.concepts[level, columns[0]] or term is None:
            return
        changed = state.with_cells(level, columns, term, concept)
        message = f"relabel {label!r} (level {level}) as {term!r}"
        edit = (label, level, term, message)
        yield self.step("relabel", changed, edit, columns=columns, concept=concept)

    def inserted(
        self, state: _State, level: int, label: str, columns: Ints, worst: npt.NDArray[np.intp]
    ) -> Iterator[_Step]:
        """Children of the node that share a lower concept with its worst child get a node of their own."""
        below = state.labels[level - 1]
        children = list(dict.fromkeys(below[columns].tolist()))
        if len(children) < 3:
            return
        meets: dict[int, list[str]] = {}
        value = next(int(column) for column in worst if state.labels[level, column] == label)
        child_concepts = self.known(state, columns[below[columns] == below[value]])
        whole = least_common_subsumer(self.taxonomy, self.known(state, columns))
        for child in children:
            other = self.known(state, columns[below[columns] == child])
            if child != below[value] and child_concepts and other:
                meets.setdefault(least_common_subsumer(self.taxonomy, [*child_concepts, *other]), []).append(child)
        lower = [concept for concept in meets if self.taxonomy.depth[concept] > self.taxonomy.depth[whole]]
        for concept in lower:
            members = {below[value]}
            for other_concept, meeting_children in meets.items():
                if self.taxonomy.is_a(other_concept, concept):
                    members |= set(meeting_children)
            chosen = columns[np.isin(below[columns].astype(str), sorted(map(str, members)))]
            term = self.free_term(state, level, concept, chosen)
            if len(members) == len(children) or term is None:
                continue
            changed = state.with_cells(level, chosen, term, concept)
            names = ", ".join(repr(name) for name in sorted(map(str, members))[:5])
            message = f"insert {term!r} at level {level} beside {label!r}, for {names}"
            values = state.labels[0, chosen].tolist()
            edit = (label, level, term, message)
            yield self.step("insert", changed, edit, columns=chosen, concept=concept, values=values)

    def of_names(self, state: _State) -> bool:
        """Whether most values have names of their own: places go by where they lie, of which kinds say nothing."""
        concepts = self.known(state, np.arange(state.labels.shape[1], dtype=np.int32))
        return 2 * int(self.taxonomy.is_instance[concepts].sum()) > len(concepts)

    def known(self, state: _State, columns: Ints) -> list[int]:
        concepts = state.concepts[0, columns]
        return [int(concept) for concept in concepts if concept >= 0]

    def moved(self, state: _State, worst: npt.NDArray[np.intp], level: int) -> Iterator[_Step]:
        """Each of the worst values under the node where it would lose least, of those that mean something broader."""
        if len(worst) > MOST_MOVED:
            if self.level_score == "max":  # where so many are at their worst, moving one of them changes nothing
                return
            lost = np.nan_to_num(self.losses(state)[level - 1, worst])
            worst = worst[np.sort(np.argsort(-lost, kind="stable")[:MOST_MOVED])]
        first: dict[str, int] = {}
        for column, name in enumerate(state.labels[1].tolist()):
            # What is known by its head noun only is narrower than that: `racket sport` is not for every sport.
            if name not in (state.labels[0, column], SUPPRESSED_LABEL) and name not in self.approximate:
                first.setdefault(name, column)
        for value in worst.tolist():
            above = self.taxonomy.ancestors_of(int(state.concepts[0, value]))
            options = [
                column
                for name, column in first.items()
                if name != state.labels[1, value] and int(state.concepts[1, column]) in above
            ]
            if not options or (state.labels[1] == state.labels[1, value]).sum() == 1:
                continue  # a node would be left without values
            trial = state.concepts[:, options].copy()
            trial[0] = state.concepts[0, value]
            cost = loss_table(self.taxonomy, trial, self.measure, memo=self.memo)
            best = options[int(np.argmin(cost.max(axis=0) + cost.sum(axis=0) * EQUAL))]
            changed = _moved(state, value, best)
            leaf, to = str(state.labels[0, value]), str(state.labels[1, best])
            message = f"move {leaf!r} from {state.labels[1, value]!r} to {to!r}"
            columns = np.array([value], np.int32)
            edit = (leaf, level, to, message)
            yield self.step("move", changed, edit, columns=columns, concept=-1, chain=best)

    def tells(self, state: _State, level: int) -> bool:
        """Whether the groups of a level are those of meaning: continents are, whatever their labels lose."""
        groups = state.labels[[0, level]].tolist()
        return agreement(self.taxonomy, state.concepts[0].tolist(), groups) > BY_MEANING

    def dropped(self, state: _State, level: int) -> _Step:
        names = list(dict.fromkeys(map(str, state.labels[level])))
        label_list = ", ".join(map(repr, names[:5])) + (" …" if len(names) > 5 else "")
        message = f"drop level {level} ({label_list}): it loses more than the level above it"
        edit, nothing = (names[0], level, "", message), np.empty(0, np.int32)
        return self.step("drop", state.without(level), edit, columns=nothing, concept=-1)

    def free_term(self, state: _State, level: int, concept: int, columns: Ints) -> str | None:
        """The common word for a concept that says something, unless another node or value of the level has it."""
        if says_nothing(self.taxonomy, concept):
            return None
        term = common_term(self.taxonomy, concept)
        if term in state.labels[level + 1 :, columns]:
            return None  # a label that stands above these values says nothing new below
        others = np.setdiff1d(np.arange(state.labels.shape[1]), columns)
        if term not in state.labels[level, others]:
            return term
        parents = self.taxonomy.parents_of(concept)
        longer = f"{term} ({common_term(self.taxonomy, parents[0])})" if parents else term
        same = state.concepts[level, others][state.labels[level, others] == term]
        # Two nodes of one meaning would not be two nodes: only a different meaning justifies a longer name.
        return None if (same == concept).any() or longer in state.labels[level, others] else longer


def _names(values: Iterable[Any]) -> str:
    """Some values in words: `cat, dog and 3 more`."""
    names = list(dict.fromkeys(map(str, values)))
    names_shown = (
        names if len(names) <= MOST_NAMED else [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} more"]
    )
    return names_shown[0] if len(names_shown) == 1 else f"{', '.join(names_shown[:-1])} and {names_shown[-1]}"


def _renamed(step: _Step, level: int, between: str, first: str) -> _Step:
    """A step in which a label that is no longer made on the way is replaced by the one that was there first."""
    edit = step.edit
    names_it = level == 1 if edit.kind == "move" else edit.level == level  # values move between nodes of level 1
    if not names_it:
        return step
    swap = {between: first}
    message = edit.message.replace(repr(between), repr(first))
    label, to = swap.get(edit.label, edit.label), swap.get(edit.to, edit.to)
    return replace(step, edit=replace(edit, label=label, to=to, message=message))


def _moved(state: _State, value: int, chain: int) -> _State:
    rows = np.arange(1, len(state.labels))
    return state.with_cells(rows, value, state.labels[1:, chain], state.concepts[1:, chain])
