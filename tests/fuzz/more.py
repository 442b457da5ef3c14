"""What else a job may say, on top of a random job with options: builders of every kind, numbers as texts, columns
without a role, copies of what is generalized, models of surveys and of populations, parameters of algorithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

import kanopy
from kanopy._errors import KanopyError
from kanopy._job.usage import used_alone
from tests.fuzz.jobs import ABOVE, WORDS, Case
from tests.fuzz.official import Words, places, with_countries, with_zips
from tests.fuzz.options import Drawn, with_options
from tests.fuzz.treated import treatments
from tests.quick import QUICK

FULL_DOMAIN = ("optimal", "samarati", "datafly", "incognito")
LOCAL = (
    "best",
    "xu",
    "he-naughton",
    "iterative-local",
    "mondrian",
    "k-member",
    "cell-level",
    "one-pass-k-means",
    "nearest-neighbours",
)
ANYTHING = ("person", "causal agent", "entity", "worker", "physical entity")


def with_everything(case: Case) -> Drawn:
    """A case with options of all kinds and with everything here, from its number."""
    found, draw = with_options(case), np.random.default_rng([case.seed, 7])
    for chance, change in CHANGES:
        if draw.random() < chance:
            try:
                found = change(draw, found)
            except KanopyError:  # a job that cannot be: two of its options contradict each other
                continue
    if "k-map" in found.models:
        people = pl.concat([found.table.slice(found.skipped)[list(found.job.quasi)]] * found.models["k-map"][1])
        found = replace(found, people=people)
    return replace(found, job=used_alone(found.job))


def _plain_quasi(case: Drawn) -> list[str]:
    """Quasi-identifiers that nothing else in the job speaks of."""
    named = {*case.tokens, *case.job.weights, *case.job.min_levels, *case.job.max_levels, *case.decimals}
    named |= {name for model in case.job.models for name in model.quasi}
    named |= {*case.job.parameters.get("free", ())}
    return [name for name in case.job.quasi if name not in named]


def _column(draw: np.random.Generator, case: Drawn, values: Sequence[Any], source: Any, **changes: Any) -> Drawn:
    """The case with another quasi-identifier in the place of one of its own."""
    places = _plain_quasi(case)
    if not places:
        return case
    name = str(draw.choice(places))
    own = [*values[: case.table.height]]
    if draw.random() < 0.25:
        own = [None if draw.random() < 0.12 else value for value in own]
    above = {key: value for key, value in case.above.items() if key != name}
    groups = changes.pop("groups", None)
    trees = {key: tree for key, tree in case.job.hierarchies.items() if key != name}
    told = {key: {name: value} for key, value in changes.items()}
    return replace(
        case,
        table=case.table.with_columns(pl.Series(name, own)),
        job=case.job.replaced(hierarchies=trees | ({} if source is None else {name: source}), **told),
        above=above if groups is None else above | {name: groups},
        decimals={**case.decimals, **told.get("decimals", {})},
    )


# ---- columns ------------------------------------------------------------------------------------------------------


def _numbers(draw: np.random.Generator, case: Drawn) -> Drawn:
    """A column of numbers, with a builder and its parameters."""
    values = draw.integers(-20, 120, case.table.height).tolist()
    edges = sorted({int(edge) for edge in draw.integers(-10, 100, 3)})
    sources: list[dict[str, Any]] = [
        {"method": "round", "k": int(draw.integers(1, 5)), "label": str(draw.choice(["dash", "interval"]))},
        {"method": "chimerge", "target": "ill"},
        {"method": "mdl", "target": "ill"},
        {"method": "cuts", "edges": edges, "fan_out": 3},
        {"method": "cuts", "quantiles": int(draw.integers(2, 6))},
        {"method": "cuts", "edges": edges, "bottom": edges[0], "top": edges[-1]},
        {"method": "widths", "widths": [4, 8, 40], "start": 1, "fit": True},
        {"method": "equal_width", "fan_out": 3, "depth": 2},
        {"method": "equal_frequency", "fan_out": 3},
    ]
    return _column(draw, case, values, sources[int(draw.integers(0, len(sources)))])


def _codes(draw: np.random.Generator, case: Drawn) -> Drawn:
    """A column of codes, whose ends are hidden or left away."""
    values = [f"{number:05d}" for number in draw.integers(10_000, 10_250, case.table.height)]
    sources: list[dict[str, Any]] = [
        {"method": "redact", "side": "left"},
        {"method": "redact", "steps": [2, 1], "char": "*"},
        {"method": "redact", "keep_length": False},
        {"method": "prefix", "lengths": [4, 2]},
        {"method": "prefix", "lengths": [3], "joining": True},
        {"method": "frequency", "k": int(draw.integers(1, 5))},
        {"method": "suppress"},
    ]
    source = sources[int(draw.integers(0, len(sources)))]
    return _column(draw, case, values, source, groups=lambda value: [value[:length] for length in range(1, 5)])


def _words(draw: np.random.Generator, case: Drawn) -> Drawn:
    """A column of words: by meaning, by how often they occur, or in groups with several tops."""
    kind, values = int(draw.integers(0, 6)), draw.choice(WORDS, case.table.height).tolist()
    if kind == 0:
        tree = kanopy.Hierarchy.from_rows([[word, ABOVE[word]] for word in WORDS])
        return _column(draw, case, values, tree, groups=lambda value: [ABOVE[value]])
    if kind == 1:
        known = [word for word in WORDS if word != "farmer"]
        tree = kanopy.Hierarchy.from_rows([[word, ABOVE[word], "*"] for word in known])
        found = _column(draw, case, values, tree, groups=lambda value: [ABOVE[value]])
        unknown = str(draw.choice(["error", "suppress", "add"], p=[0.1, 0.4, 0.5]))
        return replace(found, job=found.job.replaced(unknown=unknown))
    if kind == 2:
        return _column(draw, case, values, {"method": "frequency", "k": int(draw.integers(1, 8))})
    if kind == 3:
        groups = {"work": {"indoors": list(WORDS[:5]), "outdoors": list(WORDS[5:])}}
        above = lambda value: ["anybody", "work", "indoors" if value in WORDS[:5] else "outdoors"]  # noqa: E731
        return _column(draw, case, values, {"method": "groups", "groups": groups, "top": "anybody"}, groups=above)
    method = ["ontology", "semantic_clusters"][kind - 4]
    source = {"method": method} | ({"style": "taxonomy"} if kind == 4 and draw.random() < 0.3 else {})
    # What words mean is not the textbook's: any label of several words may be true.
    return _column(draw, case, values, source, groups=Words(WORDS))


def _official(draw: np.random.Generator, case: Drawn) -> Drawn:
    """A column of an official classification, or of ZIP codes."""
    known, source, above = (with_countries if draw.random() < 0.5 else with_zips)(draw)
    return _column(draw, case, draw.choice(known, case.table.height).tolist(), source, groups=above)


def _decimals(draw: np.random.Generator, case: Drawn) -> Drawn:
    """Numbers as texts, with a decimal sign that the job tells."""
    sign = str(draw.choice([",", "."]))
    other = "." if sign == "," else ","
    numbers = draw.integers(0, 400_000, case.table.height) / 100
    texts = [f"{number:,.2f}".replace(",", "\0").replace(".", sign).replace("\0", other) for number in numbers]
    source = {"method": str(draw.choice(["iotf", "equal_width", "chu"]))} if draw.random() < 0.7 else None
    return _column(draw, case, texts, source, decimals=sign)


# ---- columns that are published or not ----------------------------------------------------------------------------


def _rest(draw: np.random.Generator, case: Drawn) -> Drawn:
    """Columns without a role are published; what looks like a name or a number of its own is not."""
    insensitive = [name for name in case.job.insensitive if name not in case.extras]
    job = case.job.replaced(rest="publish", insensitive=insensitive, identifiers=[*case.job.identifiers])
    table = case.table.drop("nobody", strict=False)
    if draw.random() < 0.5:
        mails = [f"secret.{number}@example.org" for number in range(table.height)]
        table = table.with_columns(pl.Series("contact", mails, dtype=pl.String))
    return replace(case, table=table, job=job, extras=(), maybe=(*case.extras, "guard", "stands", "home"))


def _withheld(draw: np.random.Generator, case: Drawn) -> Drawn:
    """A column about the sample, which identifies nobody and is not published."""
    column = pl.Series("design", draw.integers(0, 4, case.table.height))
    return replace(
        case, table=case.table.with_columns(column), job=case.job.replaced(withheld=[*case.job.withheld, "design"])
    )


def _form(draw: np.random.Generator, case: Drawn) -> Drawn:
    """How a file of text is written: it counts where there is such a file."""
    form: dict[str, Any] = {"delimiter": str(draw.choice([";", "|", "\t"]))}
    if draw.random() < 0.25:
        form["encoding"] = str(draw.choice(["cp1252", "utf-16", "mac-roman"]))
    if draw.random() < 0.25:
        form["header_row"] = int(draw.integers(2, 4))
    return replace(case, form=form)


def _copy(draw: np.random.Generator, case: Drawn) -> Drawn:
    """A copy of a quasi-identifier, which is published only where the job says so."""
    name = str(draw.choice(list(case.job.quasi)))
    if name in case.decimals or name in case.tokens or "extra" in case.tokens:
        return case
    table = case.table.with_columns(case.table[name].alias("copy"))
    # Of rows that are dropped memory knows what they would tell, engines ask all: they may hold more back.
    changes: dict[str, Any] = {"insensitive": [*case.job.insensitive, "copy"], "suppressed_rows": "keep"}
    allowed = draw.random() < 0.6
    if allowed:
        changes["allow_dependent"] = ["copy"]
    job = case.job.replaced(**changes)
    extras = (*case.extras, "copy") if allowed else case.extras
    maybe = case.maybe if allowed else (*case.maybe, "copy")
    tokens = case.tokens
    if "missing_tokens" in case.job.to_dict() and case.job.missing_tokens:
        tokens = {**tokens, "copy": tuple(case.job.missing_tokens)}
    return replace(case, table=table, job=job, extras=extras, maybe=maybe, tokens=tokens)


# ---- how it is searched -------------------------------------------------------------------------------------------


def _local(draw: np.random.Generator, case: Drawn) -> Drawn:
    algorithm = None if draw.random() < 0.5 else str(draw.choice(LOCAL))
    parameters = QUICK.get(algorithm or "best", {})
    return replace(case, job=case.job.replaced(local=True, algorithm=algorithm, parameters=parameters))


def _parameters(draw: np.random.Generator, case: Drawn) -> Drawn:
    """Parameters of the algorithm: those that decide what is found, and those that limit its work."""
    seed = int(draw.integers(0, 5))
    choices: dict[str, dict[str, Any]] = {
        "optimal": {"most_candidates": int(draw.integers(1, 40))},
        "top-down-specialization": {"target": "ill"},
        "iyengar": {"generations": 2, "population": 6, "seed": seed},
        "li-sps": {"steps": 2, "seed": seed},
        "li-gsps": {"steps": 2, "seed": seed},
        "li-gops": {"steps": 2, "seed": seed},
        **{key: {"seed": seed} for key in ("k-member", "one-pass-k-means", "nearest-neighbours")},
        "mondrian": {"strict": bool(seed % 2), "cut": str(draw.choice(["loss", "widest"]))},
        "xu": {"direction": str(draw.choice(["bottom-up", "top-down"])), "seed": seed},
        "iterative-local": {"share": 0.3, "rounds": 3},
        "best": {"steps": 3, "seed": seed},
    }
    given = choices.get(case.job.algorithm, {})
    return replace(case, job=case.job.replaced(parameters={**case.job.parameters, **given}))


def _error(draw: np.random.Generator, case: Drawn) -> Drawn:
    return replace(case, job=case.job.replaced(missing="error"))


# ---- models -------------------------------------------------------------------------------------------------------


def _model(case: Drawn, name: str, text: str, value: Any, **changes: Any) -> Drawn:
    job = case.job.replaced(models=[*case.job.models, text], **changes)
    return replace(case, job=job, models={**case.models, name: value})


def _missing_ills(draw: np.random.Generator, case: Drawn) -> Drawn:
    """A threshold for those whose sensitive value is missing."""
    if case.models.keys() & {"l-plus", "t-hierarchical", "guarding"} or case.job.unit or "ill" in case.tokens:
        return case
    gaps = draw.random(case.table.height) < 0.25
    ills = [None if gap else value for gap, value in zip(gaps, case.table["ill"].to_list(), strict=True)]
    case = replace(case, table=case.table.with_columns(pl.Series("ill", ills, dtype=case.table["ill"].dtype)))
    least = float(draw.choice([1.5, 2.0, 3.0]))
    return _model(case, "l-plus", f"l-plus:ill:(missing)={least:g}", {None: least})


def _subsets(draw: np.random.Generator, case: Drawn) -> Drawn:
    """Combinations of few columns, maybe instead of k."""
    if case.job.unit:
        return case
    size, rows = int(draw.integers(1, 1 + len(case.job.quasi))), int(draw.integers(2, 6))
    changes = _alone(draw, case) if draw.random() < 0.5 else {}
    case = _model(case, "subset-k", f"subset-k:{size}:{rows}", (size, rows), **changes)
    if case.job.k == 1 and draw.random() < 0.4:
        most = float(draw.choice([0.0, 0.1, 0.3]))
        case = _model(case, "uniqueness", f"uniqueness:{most:g}", most)
    return case


def _alone(draw: np.random.Generator, case: Drawn) -> dict[str, Any]:
    """What a job needs whose k is 1."""
    if case.job.unit:
        return {}
    algorithm = str(draw.choice(FULL_DOMAIN))
    return {"k": 1, "algorithm": algorithm, "parameters": QUICK.get(algorithm, {}), "local": False}


def _survey(draw: np.random.Generator, case: Drawn) -> Drawn:
    """Models of sample surveys: weights, and households."""
    if case.job.unit or case.job.sampling_weight is not None:
        return case
    rows = case.table.height
    homes = [None if draw.random() < 0.05 else int(home) for home in draw.integers(0, max(2, rows // 2), rows)]
    weights = pl.Series("stands", draw.integers(1, 60, rows) * 2.5)
    case = replace(case, table=case.table.with_columns(weights, pl.Series("home", homes, dtype=pl.Int64)))
    changes = _alone(draw, case) if draw.random() < 0.4 else {}
    most, exact = float(draw.choice([0.02, 0.1, 0.3])), bool(draw.random() < 0.4)
    end = ",true" if exact else ""
    if draw.random() < 0.5:
        changes |= {"sampling_weight": "stands", "household": "home"}
        return _model(case, "household-risk", f"household-risk:{most:g}{end}", (most, exact), **changes)
    return _model(
        case, "individual-risk", f"individual-risk:{most:g}{end}", (most, exact), sampling_weight="stands", **changes
    )


def _presence(draw: np.random.Generator, case: Drawn) -> Drawn:
    """δ-presence in a population of everybody in the table and others like them."""
    if case.job.unit or "k-map" in case.models or case.tokens or case.decimals or case.skipped:
        return case
    own = case.table[list(case.job.quasi)]
    # Some are there once more, and others are put together of what these have.
    more = own[draw.integers(0, own.height, int(draw.integers(1, 3 * own.height))).tolist()]
    mixed = pl.DataFrame([more[name].gather(draw.permutation(more.height).tolist()) for name in own.columns])
    people = pl.concat([own, more, mixed] if draw.random() < 0.5 else [own, more])
    least, most = float(draw.choice([0.0, 0.0, 0.1])), float(draw.choice([0.4, 0.6, 0.9]))
    algorithm = str(draw.choice(FULL_DOMAIN))
    case = replace(case, people=people)
    return _model(
        case, "delta-presence", f"delta-presence:{least:g},{most:g}", (least, most), algorithm=algorithm,
        parameters={}, local=False, suppressed_rows=str(draw.choice(["keep", "drop"])),
    )  # fmt: skip


def _few(draw: np.random.Generator, case: Drawn) -> Drawn:
    """Few people who are unique in the whole population. The textbook has no estimator: only engines are compared."""
    return _model(case, "population-uniqueness", "population-uniqueness:0.1,0.5", (0.1, 0.5))


def _absent(draw: np.random.Generator, case: Drawn) -> Drawn:
    """Parameters that few give: what a missing value discloses, the least share of all other values."""
    if case.models.keys() & {"delta-disclosure", "alpha-k"}:
        return case
    if draw.random() < 0.5:
        return _model(case, "delta-present", "delta-disclosure:ill:1.2,ignored", 1.2)
    return _model(case, "alpha-k", "alpha-k:ill:0.6,3", 0.6)


def _given(draw: np.random.Generator, case: Drawn) -> Drawn:
    """Hierarchies for numbers that have none: to fit them takes most of the time of a small job."""
    plain = [name for name in case.job.quasi if name not in case.job.hierarchies and name not in case.decimals]
    trees = {name: {"method": "iotf"} for name in plain if case.table[name].dtype.is_numeric()}
    return replace(case, job=case.job.replaced(hierarchies={**case.job.hierarchies, **trees}))


CHANGES: tuple[tuple[float, Callable[[np.random.Generator, Drawn], Drawn]], ...] = (
    (0.15, _numbers), (0.12, _codes), (0.2, _words), (0.08, _decimals), (0.1, _missing_ills), (0.08, _subsets),
    (0.08, _survey), (0.08, _presence), (0.02, _few), (0.04, _absent), (0.1, _local), (0.15, _parameters),
    (0.01, _error), (0.12, _rest), (0.12, _copy),
    (0.85, _given), (0.08, _official), (0.06, _withheld), (0.12, treatments), (0.05, places), (0.2, _form),
)  # fmt: skip
"""How often each of these is done, one after the other."""
