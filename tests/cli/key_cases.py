"""What the generated test of job files needs to know: a run of every command that takes one, and a value of every key.

A case is a table, what the job says beside, and what the key says; `ONLY` has those of one command where they differ.
"""

from __future__ import annotations

from typing import Any

QUASI = {"role": "quasi-identifier"}
PLAIN: dict[str, Any] = {"k": 3, "suppress": "20%", "columns": {"age": QUASI, "sex": QUASI}}
LINES = {
    "anonymize": "anonymize {table} -o out.csv",
    "count": "count {table} -o out.parquet",
    "check": "check {table}",
    "mask": "mask {table} -o out.csv",
    "risk": "risk {table}",
    "attack": "attack --no-learn --guesses 40 {table}",
    "evidence": "evidence --policy hipaa-expert --threshold 0.34 --guesses 40 {table}",
    "assess": "assess --no-learn --queries 20 {table}",
    "compare": "compare {table} --algorithms optimal",
    "explore": "explore {table} --k 3",
    "hierarchy suggest": "hierarchy suggest --k 3 {table}",
}
SLOW = ("anonymize", "assess", "compare", "explore", "hierarchy suggest")
Case = tuple[str, dict[str, Any], dict[str, Any]]


def of(table: str = "people.csv", beside: dict[str, Any] | None = None, **said: Any) -> Case:
    """A case; keys are written with underscores."""
    return table, beside or {}, {name.replace("_", "-"): value for name, value in said.items()}


def column(name: str, **own: Any) -> dict[str, Any]:
    """What a job says of a column."""
    return {name: {key.replace("_", "-"): value for key, value in own.items()}}


def instead(*dropped: str, **columns: Any) -> dict[str, Any]:
    """Other columns than those of the plain job."""
    return {"columns": {**dict.fromkeys(dropped), **columns}}


GAPS = {"missing": "suppress", "suppress": "60%"}
BOUGHT = {**QUASI, "separator": ";", "hierarchy": "lists/bought.csv"}
LISTS = instead("age", "sex", bought=QUASI)
LISTED = {"k": 4, "known": 2, **instead("age", "sex", bought=BOUGHT)}
WEIGHTED = {"models": ["individual-risk:0.3"], "sampling-weight": "home"}
HOMES = {
    "k": 2,
    "models": ["household-risk:0.1"],
    "sampling-weight": "w",
    "household": "id",
    **instead("age", zip=QUASI),
}
PLACED = {"places": {"home": ["lat", "lon"]}, "columns": {"lat": None, "home": QUASI}}
CASES: dict[str, Case] = {
    "k": of(k=6),
    "suppress": of(beside={"suppress": "0%"}, suppress="20%"),
    "metric": of(metric="discernibility"),
    "algorithm": of(algorithm="mondrian"),
    "missing": of(beside={"suppress": "50%"}, missing="suppress"),
    "unknown": of("beasts.csv", instead("sex", animal={**QUASI, "hierarchy": "tree/animal.csv"}), unknown="add"),
    "suppressed-rows": of(suppressed_rows="drop"),
    "local": of(local=True),
    "missing-tokens": of(beside=GAPS, missing_tokens=["31"]),
    "skip-rows": of(skip_rows=3),
    "population": of(beside={"models": ["k-map:6"], "population": "people.csv"}, population="everybody.csv"),
    "sampling-weight": of(beside=WEIGHTED, sampling_weight="w"),
    "household": of(beside=HOMES, household="home"),
    "pseudonymize": of(beside={"columns": column("id", role="identifier")}, pseudonymize=["id"]),
    "models": of(beside={"columns": column("ill", role="sensitive")}, models=["l-distinct:ill:3"]),
    "rest": of(rest="publish"),
    "shuffle": of(shuffle=False),
    "allow-dependent": of(
        "born.csv", {"k": 9, "columns": column("born", role="insensitive")}, allow_dependent=["born"]
    ),
    "neutralize-formulas": of(beside={"columns": column("note", role="insensitive")}, neutralize_formulas=True),
    "known": of("visits.csv", {"columns": column("person", role="unit")}, known="all"),
    "repeats": of("baskets.csv", LISTED, repeats="each"),
    "margin": of(margin=9.0),
    "sample": of(sample=0.5),
    "encoding": of(encoding="utf-16"),
    "delimiter": of("cuts.csv", instead("sex"), delimiter=";"),
    "sheet": of(sheet="Data"),
    "header-row": of("heads.csv", instead("age"), header_row=2),
    "places": of("points.csv", instead("age", "sex", lat=QUASI), **PLACED),
    "role quasi-identifier": of(columns={"zip": QUASI}),
    "role sensitive": of(columns=column("ill", role="sensitive")),
    "role identifier": of(columns=column("id", role="identifier")),
    "role insensitive": of(columns=column("zip", role="insensitive")),
    "role undecided": of(columns=column("zip", role="undecided")),
    "role withheld": of(columns=column("zip", role="withheld")),
    "role unit": of(columns=column("person", role="unit")),
    "column hierarchy": of(columns={"age": {"hierarchy": "trees/age.csv"}, "sex": {"hierarchy": "trees/sex.csv"}}),
    "column min-level": of(columns=column("sex", min_level=1)),
    "column max-level": of(columns=column("age", max_level=1)),
    "column weight": of(columns=column("sex", weight=0.001)),
    "column missing-tokens": of(beside=GAPS, columns=column("age", missing_tokens=["31"])),
    "column decimal": of("pay.csv", instead("sex", pay=QUASI), columns=column("pay", decimal=",")),
    "column separator": of("baskets.csv", LISTS, columns=column("bought", separator=";")),
    "column protect": of(
        beside={"columns": column("w", role="sensitive")}, columns=column("w", protect={"method": "round", "base": 3})
    ),
}

MASKED = {"k": 4, "suppress": None, "algorithm": "fusion", **instead("age", "sex", animal=QUASI)}
KIND = {"columns": {"kept": QUASI}}
ILL = instead("age", ill=QUASI)
ONLY: dict[tuple[str, str], Case] = {
    ("compare", "algorithm"): of(
        beside={"algorithm": {"name": "optimal"}}, algorithm={"name": "optimal", "most_candidates": 1}
    ),
    ("count", "algorithm"): of(algorithm={"name": "top-down-specialization", "target": "ill"}),
    ("count", "models"): of(models=["l-distinct:ill:3"]),
    ("count", "column hierarchy"): of(columns=column("age", hierarchy={"method": "mdl", "target": "ill"})),
    ("check", "column hierarchy"): of(
        beside={"models": ["t-hierarchical:ill:0.9"], "columns": column("ill", role="sensitive")},
        columns=column("ill", hierarchy="trees/ill.csv"),
    ),
    ("risk", "column hierarchy"): of(
        "people.csv --released broader.csv", ILL, columns=column("ill", hierarchy="trees/ill.csv")
    ),
    ("risk", "sampling-weight"): of(sampling_weight="w"),
    ("risk", "household"): of(beside={"sampling-weight": "w"}, household="home"),
    ("risk", "population"): of(population="everybody.csv"),
    ("evidence", "k"): of(k=2),
    ("evidence", "column hierarchy"): of(
        "broader.csv --original people.csv", ILL, columns=column("ill", hierarchy="trees/ill.csv")
    ),
    ("evidence", "column decimal"): of(
        "paid.csv --original pay.csv", instead("sex", pay=QUASI), columns=column("pay", decimal=",")
    ),
    ("attack", "column hierarchy"): of("people.csv broader.csv", ILL, columns=column("ill", hierarchy="trees/ill.csv")),
    ("attack", "column decimal"): of("pay.csv paid.csv", instead("sex", pay=QUASI), columns=column("pay", decimal=",")),
    ("assess", "column hierarchy"): of("people.csv broader.csv", ILL, columns=column("ill", hierarchy="trees/ill.csv")),
    ("assess", "role sensitive"): of("people.csv people.csv --learn", columns=column("ill", role="sensitive")),
    ("assess", "column decimal"): of("pay.csv paid.csv", instead("sex", pay=QUASI), columns=column("pay", decimal=",")),
    ("assess", "skip-rows"): of("people.csv later.csv", skip_rows=3),
    ("hierarchy suggest", "local"): of(beside={"algorithm": "datafly"}, local=True),
    ("hierarchy suggest", "household"): of("people.csv zip", HOMES, household="home"),
    ("hierarchy suggest", "role unit"): of("visits.csv", columns=column("person", role="unit")),
    ("hierarchy suggest", "repeats"): of("baskets.csv bought", LISTED, repeats="each"),
    ("hierarchy suggest", "column separator"): of("baskets.csv bought", LISTS, columns=column("bought", separator=";")),
    ("hierarchy suggest", "column hierarchy"): of(
        beside={"columns": {"ill": QUASI}}, columns=column("ill", hierarchy="trees/ill.csv")
    ),
    ("hierarchy suggest", "places"): of("points.csv home", instead("age", "sex", lat=QUASI), **PLACED),
    ("assess", "places"): of("points.csv placed.csv", instead("age", "sex", lat=QUASI), **PLACED),
    ("mask", "places"): of(places={"kept": ["kept", "legs"]}),
    ("mask", "k"): of(k=7),
    ("mask", "algorithm"): of(algorithm={"name": "fusion", "targets": "any"}),
    ("mask", "missing"): of("gaps.csv", missing="error"),
    ("mask", "missing-tokens"): of(missing_tokens=["horse"]),
    ("mask", "pseudonymize"): of(beside={"columns": column("kept", role="identifier")}, pseudonymize=["kept"]),
    ("mask", "models"): of(beside={"columns": column("kept", role="sensitive")}, models=["l-distinct:kept:2"]),
    ("mask", "allow-dependent"): of(beside={"columns": column("legs", role="insensitive")}, allow_dependent=["legs"]),
    ("mask", "neutralize-formulas"): of(
        "signs.csv", {"columns": column("kept", role="insensitive")}, neutralize_formulas=True
    ),
    ("mask", "known"): of(known=2),
    ("mask", "repeats"): of(repeats="each"),
    ("mask", "population"): of(population="everybody.csv"),
    ("mask", "sampling-weight"): of(sampling_weight="legs"),
    ("mask", "household"): of(household="legs"),
    ("mask", "unknown"): of(unknown="add"),
    ("mask", "delimiter"): of("cuts.csv", instead("animal", age=QUASI), delimiter=";"),
    ("assess", "delimiter"): of("cuts.csv ages.csv", instead("sex"), delimiter=";"),
    ("assess", "header-row"): of("heads.csv sexes.csv", instead("age"), header_row=2),
    ("hierarchy suggest", "header-row"): of("heads.csv sex", instead("age"), header_row=2),
    ("mask", "role quasi-identifier"): of(columns={"kept": QUASI}),
    ("mask", "role sensitive"): of(columns=column("kept", role="sensitive")),
    ("mask", "role identifier"): of(beside={"rest": "publish"}, columns=column("kept", role="identifier")),
    ("mask", "role insensitive"): of(columns=column("kept", role="insensitive")),
    ("mask", "role undecided"): of(beside={"rest": "publish"}, columns=column("kept", role="undecided")),
    ("mask", "role withheld"): of(beside={"rest": "publish"}, columns=column("kept", role="withheld")),
    ("mask", "role unit"): of(columns=column("kept", role="unit")),
    ("mask", "column hierarchy"): of(
        "kinds.csv",
        {"algorithm": {"name": "fusion", "text": ["animal"]}, **KIND},
        columns=column("kept", hierarchy="trees/kept.csv"),
    ),
    ("mask", "column min-level"): of(columns=column("animal", min_level=1)),
    ("mask", "column max-level"): of(columns=column("animal", max_level=1)),
    ("mask", "column weight"): of("animals.csv", {"columns": {"legs": QUASI}}, columns=column("animal", weight=3)),
    ("mask", "column missing-tokens"): of(columns=column("animal", missing_tokens=["horse"])),
    ("mask", "column decimal"): of("animals.csv", KIND, columns=column("kept", decimal=",")),
    ("mask", "column separator"): of(columns=column("animal", separator=";")),
}

NO_EFFECT: dict[tuple[str, str], str] = {}
"""Keys that a command reads and that change nothing here, each with the reason."""
