"""What the generated test of options needs to know: a run of every command, and a value of every option.

`BASE` is a plain run of a command. `VALUES` is what an option is given, by option, or by command and option where that
differs. `WITH` is what makes an option count that the plain run refuses: the test then asks that it changes something.
"""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

WEIGHT = "--sampling-weight"
BASE = {
    "init": "people.csv -o made.toml",
    "anonymize": "people.csv -q age,sex -k 3 -o out.csv",
    "apply": "solution.json people.csv -o out.csv",
    "count": "people.csv -q age,sex -o out.parquet",
    "check": "release.csv -q age,sex",
    "mask": "animals.csv -t animal -k 7 -o out.csv",
    "baseline": "people.csv --method noise -c w -o out.csv",
    "similarity": "dog cat",
    "explore": "people.csv -q age,sex -k 3",
    "compare": "people.csv -q age,sex -k 3 --algorithms optimal",
    "risk": "people.csv -q age,sex",
    "assess": "people.csv release.csv -q age,sex --queries 20",
    "attack": "people.csv release.csv -q age,sex -s ill --no-learn --guesses 40",
    "cells": "people.csv --by sex,zip",
    "evidence": "release.csv --policy nist-800-188 --original people.csv -q age,sex --guesses 40",
    "algorithms": "best",
    "models": "t-equal",
    "treatments": "round",
    "schema": "",
    "hierarchy methods": "otf",
    "hierarchy evaluate": "animal.csv",
    "hierarchy improve": "animal.csv",
    "hierarchy build": "people.csv age",
    "hierarchy show": "animal.csv",
    "hierarchy suggest": "people.csv age",
    "hierarchy compare": "animal.csv other.csv",
    "classifications list": "",
    "classifications search": "germany",
    "classifications show": "countries",
    "ontology compile": "words.csv -o words.npz",
    "ontology info": "words.csv",
    "ledger show": "kept-inside",
    "ledger check": "kept-inside",
}
NOT_RUN = {
    "ledger forget": "it edits the ledger that other runs read; tests/linked runs it",
    "app": "it serves a page until it is stopped; its options say where",
    "mcp": "it serves an assistant until it is stopped, or asks at a terminal; tests/assistant runs it",
    "record": "it reads a project of the app; tests/app runs it",
    "reproduce": "it reruns papers for half a minute; tests/papers runs it, with and without its options",
}

VALUES: dict[str | tuple[str, str], str] = {
    "--output": "made.csv",
    "--ledger": "new-ledger",
    ("ledger check", "--key-file"): "other.txt",
    ("init", "--output"): "other.toml",
    ("count", "--output"): "other.parquet",
    ("explore", "--output"): "map.csv",
    ("schema", "--output"): "made.json",
    ("compare", "--output"): "compared.csv",
    ("hierarchy improve", "--output"): "better.csv",
    ("ontology compile", "--output"): "other.npz",
    "--force": "",
    "--hierarchies": "trees",
    ("init", "--hierarchies"): "made-trees",
    "--no-hierarchies": "",
    "--encoding": "utf-16",
    "--delimiter": ";",
    "--sheet": "Data",
    "--header-row": "2",
    "--json": "",
    "--job": "job.toml",
    "--quasi": "zip",
    ("mask", "--quasi"): "legs",
    "--k": "9",
    "--suppress": "10%",
    ("explore", "--suppress"): "0,10%",
    "--metric": "discernibility",
    "--budget": "1s",
    "--threads": "1",
    "--param": "most_candidates=2",
    ("hierarchy build", "--param"): "k=9",
    "--sensitive": "ill",
    ("mask", "--job"): "mask.toml",
    ("assess", "--job"): "age.toml",
    ("hierarchy suggest", "--job"): "age.toml",
    ("risk", "--job"): "age.toml",
    ("mask", "--sensitive"): "kept",
    "--identifiers": "id",
    ("mask", "--identifiers"): "kept",
    "--withheld": "id",
    ("mask", "--withheld"): "kept",
    "--insensitive": "ill",
    ("mask", "--insensitive"): "kept",
    "--rest": "publish",
    "--allow-dependent": "note",
    "--shuffle": "--keep-order",
    "--unit": "person",
    "--known": "2",
    "--separator": "bought=;",
    "--repeats": "each",
    "--missing": "suppress",
    ("mask", "--missing"): "error",
    "--missing-tokens": "31",
    ("hierarchy compare", "--missing-tokens"): "trout",
    ("mask", "--missing-tokens"): "horse",
    "--unknown": "suppress",
    ("mask", "--unknown"): "error",
    "--neutralize-formulas": "",
    "--model": "l-distinct:ill:2",
    "--every": "1:4",
    "--population": "everybody.csv",
    "--sampling-weight": "w",
    "--household": "home",
    "--key-file": "key.txt",
    "--mapping": "mapping.csv",
    "--manifest": "manifest.json",
    "--report": "report.json",
    "--report-values": "",
    "--sampling-fraction": "10%",
    "--target": "zip",
    "--algorithm": "datafly",
    ("mask", "--algorithm"): "semantic-swapping",
    "--local": "",
    "--bound": "",
    "--bound-budget": "1s",
    "--drop-suppressed": "",
    "--pseudonymize": "id",
    "--protect": "w=round:base=3",
    "--solution": "found.json",
    "--engine": "stream",
    "--master": "local[1]",
    "--overwrite": "",
    "--counts": "counts.parquet",
    "--emit-sql": "duckdb",
    "--as-release": "",
    "--beside": "earlier.csv",
    "--on": "id",
    "--beside-quasi": "age",
    "--text": "kept",
    "--targets": "any",
    "--allow": "number",
    "--guide": "path",
    "--measure": "path",
    "--search": "refined",
    "--heuristics": "1",
    "--ontology": "words.csv",
    "--vgh": "animal.csv",
    "--senses": "own.senses.toml",
    "--decisions": "decided.csv",
    "--embedding": "nothing",
    "--weights": "animal=3",
    ("hierarchy evaluate", "--weights"): "level",
    ("hierarchy improve", "--weights"): "level",
    "--diversity": "kept=2",
    "--seed": "7",
    "--method": "rank-swapping",
    ("hierarchy build", "--method"): "otf",
    "--columns": "age",
    "--amount": "0.5",
    "--depth-offset": "0",
    "--pairs": "pairs.csv",
    "--benchmark": "ratings.csv",
    "--models": "l-distinct:ill:2",
    "--algorithms": "datafly",
    "--state": "state.json",
    "--population-size": "500",
    "--released": "release.csv",
    "--threshold": "0.01",
    "--subsets": "1",
    "--missing-means": "any",
    "--exact": "",
    "--suda": "2",
    "--row-risks": "rows.csv",
    "--combinations": "combinations.csv",
    "--learn": "--no-learn",
    ("attack", "--learn"): "--learn",
    ("evidence", "--job"): "age.toml",
    "--policy": "cms-11",
    "--original": "fewer.csv",
    ("evidence", "--threshold"): "0.5",
    ("attack", "--job"): "age.toml",
    ("cells", "--output"): "counts.csv",
    "--control": "others.csv",
    "--secret": "age",
    "--first-source": "sex",
    "--guesses": "9",
    "--by": "ill",
    "--least": "4",
    "--queries": "5",
    "--disturbed": "",
    "--level-score": "max",
    "--write-senses": "",
    "--svg": "drawn.svg",
    "--html": "drawn.html",
    "--max-edits": "1",
    "--margin": "9",
    "--sample": "0.9",
    "--levels": "3",
    "--classification": "us-zip3",
    "--in": "countries",
    "--most": "1",
    "--code": "DE",
    "--language": "de",
    "--max-fan-out": "2",
    "--style": "taxonomy",
    "--level": "1",
    "--lines": "2",
    "--data": "animals.csv",
    "--column": "animal",
    "--name": "zoo",
    "--is-a": "kind",
}

PAGE, NUMBERS = "--report report.html", "--report report.json"
WITH: dict[tuple[str, str], str] = {
    ("anonymize", "--known"): "--unit person",
    ("anonymize", "--ledger"): "--identifiers id --pseudonymize id --key-file key.txt",
    ("anonymize", "--separator"): "-q bought",
    ("anonymize", "--population"): "--model k-map:4",
    ("anonymize", "--household"): "--sampling-weight w --model household-risk:0.9",
    ("anonymize", "--key-file"): "--pseudonymize id",
    ("anonymize", "--pseudonymize"): "--key-file key.txt",
    ("anonymize", "--report-values"): PAGE,
    ("anonymize", "--sampling-fraction"): PAGE,
    ("anonymize", "--target"): f"{PAGE} --insensitive ill,zip",
    ("anonymize", "--drop-suppressed"): "--suppress 10%",
    ("apply", "--report-values"): PAGE,
    ("apply", "--sampling-fraction"): PAGE,
    ("apply", "--target"): PAGE,
    ("check", "--population"): "--model k-map:4",
    ("check", "--known"): "--unit person",
    ("check", "--hierarchies"): "--model t-hierarchical:ill:0.9",
    ("check", "--on"): "--beside earlier.csv",
    ("check", "--beside-quasi"): "--beside earlier.csv",
    ("mask", "--weights"): "-q legs",
    ("mask", "--diversity"): "-s kept",
    ("explore", "--population"): "--model k-map:4",
    ("explore", "--known"): "--unit person",
    ("compare", "--population"): "--model k-map:4",
    ("risk", "--known"): "--unit person",
    ("risk", "--household"): "--sampling-weight w",
    ("risk", "--missing-means"): "--sampling-weight w",
    ("risk", "--exact"): "--sampling-weight w",
    ("risk", "--row-risks"): "--suda 2",
    ("risk", "--combinations"): "--every 1:4",
    ("hierarchy show", "--level"): "--svg drawn.svg",
    ("hierarchy compare", "--missing-tokens"): "--data animals.csv --column animal --k 8",
    ("hierarchy compare", "--k"): "--data animals.csv --column animal",
}
RULES: dict[tuple[str, str], str] = {
    ("anonymize", "--budget"): NUMBERS,
    ("anonymize", "--threads"): NUMBERS,
    ("anonymize", "--neutralize-formulas"): "--rest publish",
    ("explore", "--missing-tokens"): "--missing suppress --suppress 60%",
    ("compare", "--missing-tokens"): "--missing suppress --suppress 60%",
}
"""What makes an option count that is a rule for what the plain run has none of, and is not refused there."""
MEASURED = "hierarchy compare animal.csv other.csv --data animals.csv --column animal"
INSTEAD: dict[tuple[str, str], tuple[str, str]] = {
    ("anonymize", "--allow-dependent"): (
        "anonymize born.csv -q age,sex -k 9 --insensitive born -o out.csv", "--allow-dependent born"
    ),
    ("anonymize", "--repeats"): (
        "anonymize baskets.csv -q bought -k 4 --separator bought=; --hierarchies lists --known 2 -o out.csv", ""
    ),
    ("mask", "--hierarchies"): ("mask kinds.csv -t animal -q kept -k 4 -o out.csv", ""),
    ("init", "--force"): ("init people.csv -o old.toml", ""),
    ("anonymize", "--sampling-weight"): (
        f"anonymize people.csv -q age,sex -k 3 -o out.csv --model individual-risk:0.5 {WEIGHT} home", f"{WEIGHT} w"
    ),
    ("count", WEIGHT): (f"count people.csv -q age -o o.parquet --model individual-risk:0.5 {WEIGHT} home", ""),
    ("anonymize", "--encoding"): ("anonymize people.csv -q age -k 3 -o out.csv", ""),
    ("anonymize", "--master"): ("anonymize people.parquet -q age -k 3 -o out --engine spark", "--master nonsense"),
    ("anonymize", "--overwrite"): ("anonymize people.csv -q age -k 3 -o held.sqlite::people", ""),
    ("anonymize", "--emit-sql"): ("anonymize people.csv -q age -k 3 -o out.sql", ""),
    ("anonymize", "--unknown"): ("anonymize animals.csv -q animal -k 3 --hierarchies tree -o out.csv", ""),
    ("apply", "--unknown"): ("apply animals.json more.csv -o out.csv", ""),
    ("apply", "--suppress"): ("apply solution.json fewer.csv -o out.csv", "--suppress 50%"),
    ("apply", "--rest"): ("apply animals.json animals.csv -o out.csv", ""),
    ("apply", "--population"): ("apply mapped.json people.csv -o out.csv", "--population nosuch.csv"),
    ("anonymize", "--counts"): (
        "anonymize people.csv -q age,sex -k 3 --rest publish -o out.csv --engine stream", "--counts fewer.parquet"
    ),
    ("mask", "--neutralize-formulas"): ("mask people.csv -t ill -k 4 --rest publish -o out.csv", ""),
    ("compare", "--known"): (
        "compare visits.csv -q age,sex -k 3 --algorithms optimal --unit person", "--known all"
    ),
    ("risk", "--seed"): ("risk many.csv -q zip --released many-released.csv --subsets 0", ""),
    ("risk", "--on"): ("risk people.csv -q age,sex --released release.csv", ""),
    ("risk", "--beside-quasi"): ("risk release.csv -q age,sex --beside earlier.csv", "--beside-quasi age,sex"),
    ("risk", "--job"): ("risk people.csv", ""),
    ("assess", "--job"): ("assess people.csv release.csv --no-learn", ""),
    ("apply", "--ledger"): ("apply secret.json people.csv -o out.csv --key-file key.txt", ""),
    ("apply", "--key-file"): ("apply secret.json people.csv -o out.csv --key-file other.txt", "--key-file key.txt"),
    ("mask", "--job"): ("mask animals.csv -k 4 -o out.csv -t animal", ""),
    ("mask", "--missing"): ("mask gaps.csv -t animal -k 4 -o out.csv", ""),
    ("mask", "--allow"): ("mask gaps.csv -t animal -k 4 -o out.csv", ""),
    ("mask", "--unknown"): ("mask gaps.csv -t animal -k 4 -o out.csv", ""),
    ("mask", "--heuristics"): ("mask animals.csv -t animal -k 7 --targets any -o out.csv", ""),
    ("mask", "--embedding"): ("mask gaps.csv -t animal -k 4 --unknown embedding -o out.csv", ""),
    ("baseline", "--k"): ("baseline animals.csv --method representatives -c animal -o out.csv", ""),
    ("similarity", "--pairs"): ("similarity dog cat", "similarity --pairs pairs.csv"),
    ("similarity", "--benchmark"): ("similarity dog cat", "similarity --benchmark ratings.csv"),
    ("check", "--as-release"): ("check people.csv --job skipping.toml", ""),
    ("check", "--separator"): ("check people.csv -q bought", ""),
    ("risk", "--separator"): ("risk people.csv -q bought", ""),
    ("check", WEIGHT): (f"check people.csv -q sex --model individual-risk:0.05 {WEIGHT} home", f"{WEIGHT} w"),
    ("check", "--household"): (
        "check people.csv -q sex --model household-risk:0.05 --sampling-weight w --household id", "--household home"
    ),
    ("explore", "--sampling-weight"): (
        "explore people.csv -q age,sex -k 3 --model individual-risk:0.1 --sampling-weight home", "--sampling-weight w"
    ),
    ("explore", "--household"): (
        f"explore people.csv -q sex,zip -k 2 --model household-risk:0.1 {WEIGHT} w --household id", "--household home"
    ),
    ("compare", "--sampling-weight"): (
        "compare people.csv -q age,sex -k 3 --algorithms optimal --model individual-risk:0.1 --sampling-weight home",
        "--sampling-weight w",
    ),
    ("compare", "--household"): (
        f"compare people.csv -q sex,zip -k 2 --algorithms optimal --model household-risk:0.1 {WEIGHT} w --household id",
        "--household home",
    ),
    ("count", "--household"): (
        f"count people.csv -q age -o o.parquet --model household-risk:0.2 {WEIGHT} w --household id", "--household home"
    ),
    ("attack", "--hierarchies"): ("attack people.csv broader.csv -q ill,sex --no-learn --guesses 40", ""),
    ("attack", "--sensitive"): ("attack people.csv release.csv -q age,sex --no-learn --guesses 40", ""),
    ("attack", "--job"): ("attack people.csv release.csv --no-learn --guesses 40", ""),
    ("evidence", "--threshold"): (
        "evidence release.csv --policy hipaa-expert --threshold 0.2 --original people.csv -q age,sex --guesses 40",
        "evidence release.csv --policy hipaa-expert --threshold 0.5 --original people.csv -q age,sex --guesses 40",
    ),
    ("evidence", "--job"): ("evidence release.csv --policy nist-800-188 --original people.csv --guesses 40", ""),
    ("assess", "--hierarchies"): ("assess people.csv broader.csv -q ill,sex --no-learn", ""),
    ("risk", "--hierarchies"): ("risk people.csv -q ill,sex --released broader.csv", ""),
    ("mask", "--key-file"): (
        "mask animals.csv --job secret.toml -o out.csv --key-file other.txt", "--key-file key.txt"
    ),
    ("assess", "--on"): ("assess people.csv turned.csv -q age --no-learn", ""),
    ("assess", "--disturbed"): ("assess people.csv turned.csv -q age --no-learn", ""),
    ("hierarchy build", "--max-fan-out"): ("hierarchy build animals.csv animal --method ontology", ""),
    ("hierarchy build", "--levels"): ("hierarchy build animals.csv animal --method ontology", ""),
    ("hierarchy build", "--senses"): ("hierarchy build animals.csv animal --method ontology", ""),
    ("hierarchy build", "--classification"): ("hierarchy build people.csv zip", ""),
    ("hierarchy build", "--style"): ("hierarchy build animals.csv animal --method ontology", ""),
    ("hierarchy suggest", "--style"): ("hierarchy suggest animals.csv animal", ""),
    ("hierarchy compare", "--data"): ("hierarchy compare animal.csv other.csv", MEASURED),
    ("hierarchy compare", "--column"): (MEASURED, "--column kept"),
    ("hierarchy compare", "--encoding"): (MEASURED, ""),
    ("hierarchy improve", "--level-score"): ("hierarchy improve other.csv", ""),
    ("hierarchy improve", "--max-edits"): ("hierarchy improve other.csv", ""),
    ("hierarchy compare", "--delimiter"): (MEASURED, ""),
    ("hierarchy compare", "--sheet"): (MEASURED, ""),
    ("hierarchy compare", "--header-row"): (MEASURED, ""),
    ("classifications search", "--most"): ("classifications search island --in countries", ""),
    ("ontology compile", "--is-a"): ("ontology compile words.obo -o words.npz", ""),
}  # fmt: skip
"""Runs of their own where the plain one cannot show it: the run without the option, and with it where more differs."""

WRONG_IS_SEEN: dict[str | tuple[str, str], str] = {
    "--encoding": "a wrong encoding is an error, which shows that it is used",
    "--delimiter": "with a wrong one the columns are not there, which shows that it is used",
    "--sheet": "a text has no sheets: refused; tests/cli/test_file_layout.py reads workbooks",
    "--header-row": "below a wrong one the columns are not there, which shows that it is used",
    "--embedding": "a folder without a model is an error, which shows that it is used: tests have no model",
    "--master": "a wrong address of a cluster is an error, which shows that it is used",
    "--emit-sql": "the statement needs a library that is not always there; without it there is an error",
    ("apply", "--population"): "a table that is not there is an error, which shows that it is used",
    ("anonymize", "--counts"): "counts of another table are an error; those of the same make the same release",
    ("ledger check", "--key-file"): "another key is an error, which shows that it is used",
    ("hierarchy compare", "--column"): "a column of other values is an error, which shows that it is used",
}

NO_EFFECT: dict[tuple[str, str], str] = {
    ("anonymize", "--engine"): "every engine makes the same release, which is promised and tested"
}
"""Options that change no output and are not refused, each with the reason."""


def write_inputs(folder: Path) -> None:
    """The files that the runs read, but for those that commands make."""

    def write(name: str, lines: list[str]) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    chance = random.Random(3)
    lines = ["id,age,sex,zip,ill,w,home,person,bought,note"]
    for i in range(48):
        age = "" if i == 11 else str(20 + chance.randrange(24))
        ill, bought = chance.choice(["flu", "cold", "cough"]), chance.choice(["ale;nuts", "ale", "tea;nuts;ale", "tea"])
        note = "=1+1" if i == 5 else "é" if i == 6 else "x"
        lines.append(
            f"{1000 + i},{age},{'fm'[i % 2]},{13000 + i % 4},{ill},{1 + i % 4},{i // 3},{i // 2},{bought},{note}"
        )
    write("people.csv", lines)
    write("fewer.csv", lines[:40])
    write("later.csv", [lines[0], *lines[4:]])
    write("turned.csv", [lines[0], *reversed(lines[1:])])
    write("everybody.csv", [*lines, *lines[1:]])
    others = (
        f"{3000 + i},{20 + 5 * i % 24},{'mf'[i % 2]},{13000 + i % 3},flu,1,{90 + i},{90 + i},tea,y" for i in range(40)
    )
    write("others.csv", [lines[0], *others])
    write("twice.csv", [*lines, *lines[1:], *lines[1:]])
    kinds = ["dog", "cat", "horse", "eagle", "hawk", "trout"]
    animals = [f"{kinds[i % 6]},{'ab'[i % 2]}{i % 3},{i % 5}" for i in range(30)]
    write("animals.csv", ["animal,kept,legs", *animals])
    many = [20 + 37 * i % 60 for i in range(120)]
    write("born.csv", ["age,born,sex", *(f"{age},{2020 - age},{'fm'[i % 2]}" for i, age in enumerate(many))])
    visits = (f"{20 + chance.randrange(24)},{chance.choice('fm')},{i // 2}" for i in range(60))
    write("visits.csv", ["age,sex,person", *visits])
    goods = ("ale", "beer", "nuts", "rice")
    lists = (f"{';'.join(chance.choices(goods, k=chance.randrange(1, 4)))},{20 + i % 9}" for i in range(40))
    write("baskets.csv", ["bought,age", *lists])
    write("many.csv", ["zip", *(str(i % 7) for i in range(100_050))])
    write("many-released.csv", ["zip", *(str(i % 7) if i % 7 < 3 else "*" for i in range(100_050))])
    write("points.csv", ["lat,lon", *(f"{48 + i % 7 / 10},{2 + i % 5 / 10}" for i in range(40))])
    write("placed.csv", ["home", *("*" for _ in range(40))])
    write("pay.csv", ["age,pay", *(f'{20 + i % 9},"1.{i % 7}00,5{"0" * (i % 2)}"' for i in range(40))])
    write("paid.csv", ["age,pay", *(f"{20 + i % 9},1{i % 7}00.5" for i in range(40))])
    write("lists/bought.csv", [f"{each};{'drink' if i < 2 else 'food'};*" for i, each in enumerate(goods)])
    kinds_of = {"a0": 5, "b1": 5, "b0": 2, "a1": 1}
    write("kinds.csv", ["animal,kept", *(f"dog,{name}" for name, rows in kinds_of.items() for _ in range(rows))])
    write("beasts.csv", ["animal,age", *(f"{kinds[i % 6]},{20 + i % 9}" for i in range(40))])
    write("signs.csv", ["animal,kept,legs", *animals[:-1], "dog,=1+1,2"])
    write("gaps.csv", ["animal,kept,legs", *animals, ",a0,1", "12,a0,2", "12,a0,2", "12,a0,2", "12,a0,2", "qxz,a0,1"])
    write("more.csv", ["animal,kept,legs", *animals, "newt,a0,2"])
    tree = ["dog;mammal;*", "cat;mammal;*", "horse;bird;*", "eagle;bird;*", "hawk;bird;*", "trout;fish;*"]
    write("animal.csv", tree)
    write("tree/animal.csv", tree[:5])
    write("whole/animal.csv", tree)
    write("other.csv", ["dog;pet;*", "cat;pet;*", *(f"{each};animal;*" for each in kinds[2:])])
    write("trees/sex.csv", ["f;person;*", "m;person;*"])
    write("trees/age.csv", [f"{age};{'young' if age < 32 else 'older'};*" for age in range(20, 44)])
    write("trees/ill.csv", ["flu;light;*", "cold;light;*", "cough;other;*"])
    write("trees/kept.csv", [f"{letter}{i};{i};*" for letter in "ab" for i in range(3)])
    below = {"animal": "", "bird": "animal", "mammal": "animal", "fish": "animal", "eagle": "bird", "hawk": "bird",
             "dog": "mammal", "cat": "mammal", "horse": "mammal", "trout": "fish"}  # fmt: skip
    write("words.csv", [f"{word},{above}" for word, above in below.items()])
    stanzas = [
        f"[Term]\nid: A:{word}\nname: {word}\n" + (f"relationship: kind A:{above}\n" if above else "")
        for word, above in below.items()
    ]
    write("words.obo", ["format-version: 1.2\n", *stanzas, "[Typedef]\nid: kind\nname: kind"])
    write("own.senses.toml", ["[senses]", 'dog = "dog#3"', 'cat = "cat#2"'])
    write("decided.csv", ["column,original,decision", "animal,dog,suppress"])
    write("pairs.csv", ["dog,wolf", "cat,tiger"])
    write("ratings.csv", ["dog,wolf,9", "cat,tiger,8", "cat,stone,1", "horse,tree,2"])
    write("key.txt", ["a secret that is long enough to be one"])
    write("other.txt", ["another secret that is long enough too"])
    zipped = ["[columns.zip]", 'role = "quasi-identifier"', "[columns.ill]", 'role = "sensitive"']
    write("job.toml", ["k = 4", 'metric = "discernibility"', *zipped])
    write("age.toml", ["k = 4", "[columns.age]", 'role = "quasi-identifier"', "[columns.zip]",
                       'role = "quasi-identifier"'])  # fmt: skip
    write("mask.toml", ["k = 9", 'algorithm = "fusion"', "[columns.legs]", 'role = "quasi-identifier"'])
    write("secret.toml", ["k = 4", 'algorithm = "fusion"', 'pseudonymize = ["kept"]', "[columns.animal]",
                          'role = "quasi-identifier"', "[columns.kept]", 'role = "identifier"'])  # fmt: skip
    write("skipping.toml", ["k = 4", "skip-rows = 3", *zipped])
    write("old.toml", ["k = 4"])
    cut = [f"{20 + i % 9};{i % 3},{kinds[i % 6]};{i % 4}" for i in range(40)]
    write("cuts.csv", ["age;shoe,animal;legs", *cut])
    write("ages.csv", ["age", *(line.partition(";")[0] for line in cut)])
    write("sexes.csv", ["sex", *("fm"[i % 2] for i in range(40))])
    write("heads.csv", ["id,age,sex,animal", "nr,age,sex,animal", *(f"{i},{20 + i % 9},{'fm'[i % 2]},{kinds[i % 6]}"
                                                             for i in range(40))])  # fmt: skip
    sqlite3.connect(folder / "held.sqlite").execute("CREATE TABLE other (age TEXT)").connection.commit()


MADE = (
    "anonymize people.csv -q age,sex -k 3 --suppress 10% --rest publish -s ill --insensitive id --identifiers bought "
    "-o release.csv --solution solution.json",
    "anonymize people.csv -q age,sex,zip -k 2 --suppress 20% --rest publish --insensitive id -o earlier.csv",
    "anonymize people.csv -q ill,sex -k 8 --hierarchies trees --insensitive zip -o broader.csv",
    "anonymize people.csv -q age,sex -k 3 --model k-map:4 --population everybody.csv -o o.csv --solution mapped.json",
    "anonymize people.csv -q age,sex -k 3 --identifiers id --pseudonymize id --key-file key.txt -o o.csv "
    "--solution secret.json",
    "anonymize animals.csv -q animal -k 3 --hierarchies whole -o o.csv --solution animals.json",
    "anonymize people.csv -q sex -k 3 --unit id --key-file key.txt --ledger kept-inside -o o.csv",
    "anonymize people.csv -q age -k 3 -o held.sqlite::people",
    "count people.csv -q age,sex -o counts.parquet",
    "count fewer.csv -q age,sex -o fewer.parquet",
)
"""Runs that make further inputs."""
