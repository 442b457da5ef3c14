"""A first job file for a table nobody has described yet: guessed roles, how values are read, hierarchies, reasons."""

from __future__ import annotations

import datetime as dt
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import shown_address, some
from kanopy._job.design import Design
from kanopy._job.job import Job
from kanopy._job.parameter_types import DEFAULT_K
from kanopy._job.toml_text import toml_key, toml_value
from kanopy._lazy import public
from kanopy._mixins import ReprMixin, shown_by
from kanopy._table.official.classified import OfficialColumns, proposed, with_classified_roles
from kanopy._table.official.places import place_guesses
from kanopy._table.roles import Role
from kanopy._usage import checked
from kanopy.hierarchy.ordinal import in_known_order
from kanopy.hierarchy.ranges import bands_in_order

if TYPE_CHECKING:
    from kanopy._table.formats.layout import Layout
    from kanopy._table.guessing.guess import Guess
    from kanopy._table.guessing.value_kinds import Values
    from kanopy.hierarchy.hierarchy import Hierarchy

LEVELS = {"numeric": 8, "date": 6, "mask": 6}
"""So many levels has a hierarchy of that kind, about; others have two or three."""
FEW_LEVELS = 3
MOST_CANDIDATES = 200_000
"""Up to so many choices of levels the optimum is proved in seconds."""
MOST_ODD_TEXTS = 20
MOST_CELLS_TRIED = 150_000
"""Tables of at most so many values of quasi-identifiers are tried: that takes seconds."""
NO_QUASI = (
    "No quasi-identifier was found: the job cannot run yet. Give the columns that an attacker may know the role "
    "quasi-identifier."
)
MOST_MEANT = 12
"""So many columns of words are looked up in the ontology: each takes a second."""
MOST_IN_A_FILE = 20_000
"""Nobody looks through a hierarchy of more values."""


@dataclass(frozen=True)
class GuessedJob(ReprMixin):
    """The text of a commented job file, per column what was guessed and why, and what is left to decide."""

    text: str
    columns: list[dict[str, Any]]
    decide: list[str] = field(default_factory=list)

    @property
    def job(self) -> Job:
        """The job that the text describes."""
        return Job.from_toml(self.text)

    def _repr_html_(self) -> str:
        return shown_by("guessed_job", self.columns, self.decide)


@dataclass(frozen=True)
class _Read:
    """How a column is read and generalized: settings of the job, and remarks on them."""

    hierarchy: dict[str, Any] | None = None
    tokens: tuple[str, ...] = ()
    decimal: str | None = None
    remarks: tuple[str, ...] = ()
    separator: str | None = None


@public("kanopy")
@checked
def guess_job(data: Any, source: str = "", *, layout: Layout | None = None) -> GuessedJob:
    """A first job for a table (a frame, columns or a path), with the reasons: what `kanopy init` writes.

    `source` is where a frame was read from; the job says its `layout`, as it was read.

    >>> guessed = guess_job({"name": ["Ann", "Bob"], "age": [41, 29], "income": [1, 2]})
    >>> guessed.job.quasi, guessed.columns[0]["role"]
    (('age',), 'identifier')
    """
    from kanopy._table.frames import to_polars
    from kanopy._table.guessing.guess import guess_roles
    from kanopy._table.guessing.text_formats import rows_of_no_record
    from kanopy._table.guessing.value_kinds import MISSING_WORDS, Values

    is_file = isinstance(data, (str, os.PathLike))
    if layout is not None and not is_file and not source:
        layout.refuse_but(where="The table", what="not a file")
    frame = to_polars(data, layout if is_file else None)[0]
    skipped = rows_of_no_record(frame)
    frame = frame.slice(skipped)
    official = OfficialColumns(frame)
    frame, guesses, places = place_guesses(frame, with_classified_roles(frame, guess_roles(frame), official))
    guesses = _with_dependent(frame, guesses)
    seen = {guess.column: Values(frame[guess.column].rename("")) for guess in guesses}
    reads = {}
    is_meaningful: dict[frozenset[str], bool] = {}
    for guess in guesses:
        reads[guess.column] = _read(guess, seen[guess.column], official, is_meaningful)
    everywhere = sorted(
        {token for read in reads.values() for token in read.tokens if token.strip().lower() in MISSING_WORDS}
    )
    design = Design.of(guesses, seen)

    def text(choice: Choice, guesses: list[Guess]) -> str:
        head = _settings(source, layout, skipped, everywhere, choice, frame.height, design.settings(choice.local))
        blocks = _columns(guesses, reads, everywhere)[0]
        return "\n".join([*head, *_placed(places), *blocks, *design.models(choice.local)]) + "\n"

    choice, suggestions = _recoding(guesses), []
    quasi = [guess.column for guess in guesses if guess.role == Role.QUASI_IDENTIFIER]
    small = frame.height * len(quasi) <= MOST_CELLS_TRIED
    if quasi and (small or choice.people):
        from kanopy._job.first_release import ties, try_release

        job = Job.from_toml(text(choice, guesses))
        tied = ties(frame, job)
        trial = try_release(frame, job, tied=bool(tied)) if small and (tied or not choice.wide) else None
        better = trial.prefers_local if trial is not None else ""
        if better and tied:
            guesses = [_withheld(guess) if guess.column in tied else guess for guess in guesses]
        choice = replace(choice, better=better, tied=bool(tied) and not better)
        suggestions = [trial.suggestion] if trial is not None and trial.suggestion else []
    decide = [*_decide(guesses, frame.height, _hidden(reads)), *suggestions, *design.remarks(choice.local)]
    return GuessedJob(text(choice, guesses), _columns(guesses, reads, everywhere)[1], decide)


def _withheld(guess: Guess) -> Guess:
    """A column that stays out, because it tells which rows are about one person."""
    why = f"has one value per person, and together with other columns links the rows of a person; {guess.reason}"
    return replace(guess, role=Role.WITHHELD, reason=why)


def _placed(places: dict[str, list[str]]) -> list[str]:
    """The line of the job that makes places of coordinates."""
    if not places:
        return []
    return [
        "# Two columns, latitude and longitude: only the cell of a place is published.",
        f"places = {toml_value(places)}",
    ]


@dataclass(frozen=True)
class Choice:
    """How the job recodes: one level per column, or locally because of the number of columns or of a trial."""

    wide: bool = False
    """Whether there are too many columns to prove an optimum."""
    people: bool = False
    """Whether several rows are about one person."""
    better: str = ""
    """Why local recoding is better, where a trial showed it."""
    tied: bool = False
    """Whether what is published tells which rows are about one person: full-domain recoding then protects all."""

    @property
    def local(self) -> bool:
        """Whether rows with equal values may be published differently."""
        return not self.tied and bool(self.wide or self.better)


def _recoding(guesses: list[Guess]) -> Choice:
    """How to recode, as far as the number of columns tells."""
    quasi = [guess for guess in guesses if guess.role == Role.QUASI_IDENTIFIER]
    candidates = math.prod(LEVELS.get(guess.hierarchy_hint or "", FEW_LEVELS) for guess in quasi)
    return Choice(candidates > MOST_CANDIDATES, any(guess.role == Role.UNIT for guess in guesses))


def _columns(
    guesses: list[Guess], reads: dict[str, _Read], everywhere: list[str]
) -> tuple[list[str], list[dict[str, Any]]]:
    """The lines of the job about its columns, and the same as plain data."""
    from kanopy.hierarchy.builders.registry import method_of

    lines: list[str] = []
    columns: list[dict[str, Any]] = []
    for guess in guesses:
        read = reads[guess.column]
        column_only_tokens = [token for token in read.tokens if token not in everywhere]
        settings: dict[str, Any] = {
            "role": str(guess.role),
            "missing-tokens": column_only_tokens,
            "decimal": read.decimal,
            "separator": read.separator,
            "hierarchy": read.hierarchy,
        }
        lines += ["", f"[columns.{toml_key(guess.column)}]"]
        lines += [f"# {' '.join(remark.split())}" for remark in (f"{guess.certainty}: {guess.reason}", *read.remarks)]
        lines += [f"{key} = {toml_value(value)}" for key, value in settings.items() if value]
        columns.append(
            {
                "column": guess.column,
                "role": str(guess.role),
                "hierarchy": None if read.hierarchy is None else method_of(read.hierarchy),
                "certainty": guess.certainty,
                "reason": guess.reason,
                "missing": list(read.tokens),
                "remarks": list(read.remarks),
                "kind": guess.kind,
            }
        )
    return lines, columns


def _hidden(reads: dict[str, _Read]) -> list[str]:
    """Columns of which nothing can be published, because nobody knows how their values are written."""
    return [
        name
        for name, read in reads.items()
        if read.hierarchy is not None and read.hierarchy.get("method") == "suppress"
    ]


def _with_dependent(frame: Any, guesses: list[Guess]) -> list[Guess]:
    """Columns that would be published and tell what a quasi-identifier hides are undecided."""
    from kanopy._table.guessing.inference import told_of_hidden

    hidden = [guess.column for guess in guesses if guess.role == Role.QUASI_IDENTIFIER]
    published_names = [guess.column for guess in guesses if guess.role in (Role.SENSITIVE, Role.INSENSITIVE)]
    why = told_of_hidden(frame, published_names, hidden)
    return [
        replace(
            guess,
            role=Role.UNDECIDED,
            reason=f"{why[guess.column]}: it would undo the generalization if published; {guess.reason}",
        )
        if guess.column in why
        else guess
        for guess in guesses
    ]


def with_hierarchies(guessed: GuessedJob, data: Any, folder: str) -> tuple[GuessedJob, dict[str, Hierarchy]]:
    """The same job with the hierarchies it chose as files of a folder, to be looked at and edited, and what they hold.

    Numbers keep their bounds in JSON files, words are tables of levels. Columns that can only be kept or hidden are
    named among what is left to decide; a column of very many values keeps its method, which builds the same.

    >>> table = {"age": [31, 34, 52, 57] * 5, "town": ["Bonn", "Kiel", "Bonn", "Ulm"] * 5}
    >>> better, files = with_hierarchies(guess_job(table), table, "levels")
    >>> list(files), better.job.hierarchies["town"]
    (['age.json', 'town.csv'], 'levels/town.csv')
    """
    from kanopy._job.inputs import resolve_hierarchies
    from kanopy._job.reading_rules import apply_reading_rules
    from kanopy._table.frames import to_polars
    from kanopy.engine.lists import unrolled

    job = guessed.job
    frame, _ = unrolled(apply_reading_rules(*to_polars(data), job)[0], job.quasi, job.separators)
    built = resolve_hierarchies(frame, job)
    files: dict[str, Hierarchy] = {}
    places = {}
    for name, hierarchy in built.items():
        if hierarchy.size > MOST_IN_A_FILE:
            continue
        stem = re.sub(r"[^\w.-]+", "_", name).strip("._") or "column"
        stem = (
            stem
            if not any(stem.lower() == Path(file_name).stem.lower() for file_name in files)
            else f"{stem}_{len(files)}"
        )
        file = f"{stem}.csv" if hierarchy.low is None else f"{stem}.json"
        files[file], places[f"[columns.{toml_key(name)}]"] = hierarchy, f"{folder}/{file}"
    lines, hierarchy_file = [], None
    for line in guessed.text.splitlines():
        hierarchy_file = places.get(line) if line.startswith("[columns.") else hierarchy_file
        if hierarchy_file is not None and line.startswith("hierarchy = "):
            lines += [
                f"# built by {line} (write this instead to build it again)",
                f"hierarchy = {toml_value(hierarchy_file)}",
            ]
        else:
            lines.append(line)
    flat = [name for name, hierarchy in built.items() if hierarchy.height < 2 < hierarchy.size]
    where = "its file" if len(flat) == 1 else "their files"
    more = [f"No levels between the value and *: {some(flat)}. Add levels in {where}."] if flat else []
    return replace(guessed, text="\n".join(lines) + "\n", decide=[*guessed.decide, *more]), files


def _settings(
    source: str,
    layout: Layout | None,
    skipped: int,
    tokens: list[str],
    choice: Choice,
    rows: int,
    design: Iterable[str],
) -> Iterator[str]:
    """The lines of the job outside its columns."""
    yield "# What to publish and how safe it must be. Every setting below is a guess: check it before you rely on it."
    if source:
        yield f"# Table: {' '.join(shown_address(source).split())}"
    layout_settings = (
        {} if layout is None else {name: value for name, value in vars(layout).items() if value is not None}
    )
    if layout_settings:
        yield "# How its file is read."
        yield from (f"{name.replace('_', '-')} = {toml_value(value)}" for name, value in layout_settings.items())
    yield from ("", "# How many rows must share each published combination of quasi-identifiers.")
    yield f"k = {min(DEFAULT_K, max(2, rows))}"
    yield "# The share of rows that may be suppressed to keep the others more exact."
    yield 'suppress = "2%"'
    yield "# The loss to minimise: loss, loss-geometric, aecs, discernibility, precision, entropy, height."
    yield 'metric = "loss"'
    if choice.wide and not choice.local:
        yield "# optimal: one level per column. With so many columns not all choices can be tried in seconds: the best"
        yield "# of those tried is used. Leave out columns that nobody needs to lose less."
        yield 'algorithm = { name = "optimal", budget_seconds = 10 }'
    elif choice.local and choice.better:
        yield "# best: rows with equal values may be published differently. On this table (tried on its rows)"
        yield f"# {choice.better}."
        yield '# To publish one level per column nevertheless: algorithm = "optimal".'
        yield 'algorithm = "best"'
    elif choice.wide:
        yield "# best: rows with equal values may be published differently. With so many columns, one level"
        yield '# per column (algorithm = "optimal") takes long and loses nearly everything.'
        yield 'algorithm = "best"'
    else:
        yield "# optimal: one level per column, proved to lose least. `kanopy algorithms` lists the others."
        yield 'algorithm = "optimal"'
        yield '# To lose far less, let rows with equal values be published differently: algorithm = "best".'
    if skipped:
        yield "# Rows below the header that are not records: they contain words where all others contain numbers."
        yield f"skip-rows = {skipped}"
    yield "# Missing values: as-value (a value of its own), suppress, error."
    yield 'missing = "as-value"'
    if tokens:
        yield "# Texts that mean missing in every column; texts of a single column are listed with the column."
        yield f"missing-tokens = {toml_value(tokens)}"
    yield "# Values that are not in a hierarchy: error, suppress, add."
    yield 'unknown = "error"'
    yield "# Columns without a role: leave out, publish."
    yield 'rest = "leave out"'
    yield from design
    yield ""
    yield "# Roles: identifier (not published), quasi-identifier (an attacker may know it; generalized), sensitive"
    yield "# (published; a privacy model can guard it), insensitive (published unchanged), undecided (not published"
    yield "# until you decide), withheld (not published, such as a sampling weight), unit (the person of a row, if"
    yield "# a person has several rows; not published)."
    yield '# A hierarchy is a file ("age.csv") or a method ({ method = "iotf" }); also: min-level, max-level, weight.'


def _decide(guesses: list[Guess], rows: int, hidden: list[str]) -> Iterator[str]:
    """What a steward has to do before the job gives a release, or gives all that it could; the gravest first."""
    if not any(guess.role == Role.QUASI_IDENTIFIER for guess in guesses):
        yield NO_QUASI
    if rows < 2:
        yield "The table has one record only: k-anonymity needs at least two."
    undecided = [guess.column for guess in guesses if guess.role == Role.UNDECIDED]
    if undecided:
        number = "1 column is" if len(undecided) == 1 else f"{len(undecided):,} columns are"
        yield f"{number} undecided and not published until you decide: {some(undecided)}."
    if hidden:
        yield (
            f"Dates in an unknown format, or without a century, are fully suppressed: {some(hidden)}. State their "
            "format."
        )
    alone = [guess.column for guess in guesses if guess.alone and guess.role in (Role.SENSITIVE, Role.INSENSITIVE)]
    if alone:
        yield (
            "Published unchanged, although many records have a unique value, which can re-identify them: "
            f"{some(alone)}. Round or leave out what an attacker may know."
        )


def _read(guess: Guess, seen: Values, official: OfficialColumns, is_meaningful: dict[frozenset[str], bool]) -> _Read:
    """What the job says of a column besides its role: words for missing values, and how to generalize it."""
    if guess.role == Role.SENSITIVE:
        recognition = proposed(guess, official)
        return _Read(tokens=guess.missing, remarks=() if recognition is None else (recognition.remark,))
    if guess.role != Role.QUASI_IDENTIFIER:
        return _Read()
    if seen.elements:
        advice = "known = 2 above the columns protects against an attacker who knows two elements of a list"
        return _Read({"method": "auto"}, guess.missing, None, (advice,), seen.separator)
    if guess.hierarchy_hint == "place":
        advice = 'cells of at least k people, cut at round degrees; { method = "cells" } is a fixed grid'
        return _Read({"method": "quadtree"}, guess.missing, None, (advice,))
    if guess.column in official.frame.columns and (recognition := proposed(guess, official)) is not None:
        return _Read(recognition.hierarchy, guess.missing, None, (recognition.remark,))
    texts = [text for text in seen.texts if text not in guess.missing]
    if guess.hierarchy_hint == "date" and not seen.column.dtype.is_temporal():
        return _dates(guess, texts)
    if seen.text and (ordered := _in_order(guess, texts)) is not None:
        return ordered
    if seen.decimal is not None and guess.hierarchy_hint != "mask":
        sign = "comma" if seen.decimal == "," else "point, with thousands separators"
        return _Read({"method": "auto"}, guess.missing, seen.decimal, (f"numbers written with a decimal {sign}",))
    if guess.hierarchy_hint == "mask" or seen.leading_zeros:
        return _Read(_shortened(guess, seen), guess.missing, None, ("codes, shortened from the right",))
    if seen.text and _means_something(guess, seen, is_meaningful):
        return _Read({"method": "ontology"}, guess.missing, None, ("words, grouped by what they mean",))
    return _Read({"method": "auto"}, guess.missing)


def _shortened(guess: Guess, seen: Values) -> dict[str, Any]:
    """How codes are shortened: as post codes of a known form are, otherwise character by character."""
    from kanopy._parameters import parameters_of
    from kanopy._table.column import typed_column
    from kanopy.hierarchy.builders.masking import Prefix, Redact
    from kanopy.hierarchy.suggest import readable

    column = typed_column(seen.column, missing_tokens=guess.missing, name=guess.column)
    for builder in () if column is None else readable(column.inferred(), DEFAULT_K)[:1]:
        if (isinstance(builder, Redact) and builder.zeros) or isinstance(builder, Prefix):
            default_of = {name: parameter.default for name, parameter in parameters_of(type(builder)).items()}
            settings = {
                name: getattr(builder, name) for name in default_of if getattr(builder, name) != default_of[name]
            }
            return {
                "method": builder.method,
                **{k: list(v) if isinstance(v, tuple) else v for k, v in settings.items()},
            }
    return {"method": "redact", "joining": True}


def _means_something(guess: Guess, seen: Values, is_meaningful: dict[frozenset[str], bool]) -> bool:
    """Whether a column's words are better grouped by meaning than by how often they occur."""
    from kanopy._table.column import typed_column
    from kanopy._table.guessing.evidence.value_facts import meaning_of_values
    from kanopy._table.guessing.lexicon import ORIGIN
    from kanopy.hierarchy.suggest import by_meaning

    meaning = meaning_of_values(seen)
    if meaning is not None and meaning.says == ORIGIN:
        return False  # words for peoples are words for languages, too: a thesaurus puts them under "tongue"
    texts = frozenset(seen.texts)
    if texts in is_meaningful or len(is_meaningful) >= MOST_MEANT:
        return is_meaningful.get(texts, False)

    column = typed_column(seen.column, missing_tokens=guess.missing, name=guess.column)
    is_meaningful[texts] = column is not None and by_meaning(column, min(DEFAULT_K, column.rows)) is not None
    return is_meaningful[texts]


def _dates(guess: Guess, texts: list[str]) -> _Read:
    from kanopy._table.guessing.text_formats import date_form
    from kanopy.hierarchy.timestamps import read_moments

    read = read_moments(texts)
    if read is not None and read.period:
        return _Read({"method": "dates"}, guess.missing, None, (f"{read.period}s",))
    if read is not None and read.kind == "time":
        return _Read({"method": "auto"}, guess.missing, None, ("times of the day",))
    if (ordered := _in_order(guess, texts)) is not None:
        return ordered
    form_found = date_form(texts)
    if form_found is None or len(form_found[1]) > MOST_ODD_TEXTS:
        why = 'dates in an unknown format, or without a century: state it as { method = "dates", format = "%d.%m.%y" }'
        return _Read({"method": "suppress"}, guess.missing, None, (why,))
    form, odd, ambiguous = form_found
    remarks = [f"dates written {form}"] if form else []
    remarks += ["day and month may be exchanged: check the format"] if ambiguous else []
    remarks += [f"not dates, treated as missing: {some(odd)}"] if odd else []
    hierarchy = {"method": "dates", **({"format": form} if form else {}), **_periods(texts, form, odd)}
    return _Read(hierarchy, (*guess.missing, *odd), None, tuple(remarks))


def _periods(texts: list[str], form: str, odd: Collection[str]) -> dict[str, Any]:
    """The periods that part dates written in a form, where they are not the usual ones."""
    from kanopy.hierarchy.builders.dates import Dates, periods_of
    from kanopy.hierarchy.timestamps import read_moments

    date_texts = [text.strip() for text in texts if text not in odd]
    read = None if form else read_moments(date_texts)
    if form:
        days = [dt.datetime.strptime(text, form).date() for text in date_texts]
    elif read is not None and read.kind != "time":
        days = [moment.date() if isinstance(moment, dt.datetime) else moment for moment in read.moments]
    else:
        return {}
    periods = periods_of(days)
    if form and "hour" in periods:
        periods = ("day",)  # a format reads the day of a moment
    return {} if periods == Dates.granularities else {"granularities": list(periods)}


def _in_order(guess: Guess, texts: list[str]) -> _Read | None:
    """Bands of numbers or words of a scale in their order; `None` if they are neither."""
    order = in_known_order(texts)
    if order is None:
        return None
    what = "bands of numbers" if bands_in_order(texts) is not None else "words of a scale"
    return _Read({"method": "order", "order": order}, guess.missing, None, (f"{what}, in this order",))
