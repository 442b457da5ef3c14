"""The report of a release as one page to hand on: complete, right, and without anything rare or identifying."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy.metrics.utility.column_utility import bins_of
from kanopy.metrics.utility.published_values import ColumnDomain, understand
from kanopy.report.text import percent
from kanopy.study import release_study as findings

RARE_TOWN, RARE_AGE, RARE_PAY, NAME = "Ultima-Thule", 867, 987_654, "Person-No-17"


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """300 people; one lives alone in a town, one is very old, one earns very much, and everybody has a name."""
    random = np.random.default_rng(7)
    towns = random.choice(["Lyon", "Paris", "Rome", "Milan"], 300).tolist()
    ages = random.integers(20, 60, 300).tolist()
    pays = (random.integers(20, 60, 300) * 1_000).tolist()
    towns[5], ages[6], pays[7] = RARE_TOWN, RARE_AGE, RARE_PAY
    return pl.DataFrame(
        {
            "name": [f"Person-No-{i}" for i in range(300)],
            "town": towns,
            "age": ages,
            "pay": pays,
            "ill": random.choice(["flu", "cold", "gout"], 300, p=[0.6, 0.3, 0.1]).tolist(),
        }
    )


def job(**changes: object) -> kanopy.Job:
    towns = [["Lyon", "France", "*"], ["Paris", "France", "*"], ["Rome", "Italy", "*"], ["Milan", "Italy", "*"]]
    widths = {"method": "widths", "widths": [10, 20, 40]}
    given: dict[str, object] = {
        "quasi": ["town", "age", "pay"],
        "identifiers": ["name"],
        "sensitive": ["ill"],
        "k": 4,
        "suppress": 0.05,
        "hierarchies": {
            "town": kanopy.Hierarchy.from_rows([*towns, [RARE_TOWN, "Far", "*"]]),
            "age": widths,
            "pay": {"method": "widths", "widths": [10_000, 40_000]},
        },
        "models": ["l-distinct:ill:2"],
    }
    return kanopy.Job(**(given | changes))


@pytest.fixture(scope="module")
def release(people: pl.DataFrame):
    return kanopy.anonymize(people, job(), source="/home/someone/people.csv")


@pytest.fixture(scope="module")
def page(release) -> str:
    return release.full_report(sampling_fraction=0.1).to_html()


SECTIONS = (
    "verdict", "promises", "columns", "rows", "suppressed", "groups", "attackers", "population", "linkage",
    "disclosure", "identifying", "loss", "distributions", "associations", "counts", "statistics", "hierarchies",
    "search", "manifest",
)  # fmt: skip


def body(page: str) -> ElementTree.Element:
    return ElementTree.fromstring(page.split("\n", 1)[1])


def text_of(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def cells(page: str, caption: str) -> dict[str, list[str]]:
    """The lines of a table by their first cell."""
    found = [t for t in body(page).iter("table") if text_of(t.find("caption")).startswith(caption)]
    assert len(found) == 1, caption
    return {text_of(row[0]): [text_of(cell) for cell in row[1:]] for row in found[0].find("tbody")}


def test_every_section_is_there_once_and_the_navigation_leads_to_it(page):
    ids = [element.attrib["id"] for element in body(page).iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids)) and set(SECTIONS) <= set(ids)
    links = [element.attrib["href"][1:] for element in body(page).iter("a")]
    assert set(links) <= set(ids) and len(links) < 9


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "k-member", pytest.param("best", marks=pytest.mark.slow)])
@pytest.mark.parametrize("rows", ["keep", "drop"])
def test_every_kind_of_release_has_the_whole_page(people, algorithm, rows):
    models = ("l-distinct:ill:2",) if algorithm == "optimal" else ()
    made = kanopy.anonymize(people, job(algorithm=algorithm, suppressed_rows=rows, models=models))
    page = made.report.to_html()
    ids = {element.attrib["id"] for element in body(page).iter() if "id" in element.attrib}
    assert set(SECTIONS) - {"population"} <= ids
    assert made.report.findings.notes[0].startswith("No classifier")
    found = made.report.findings
    assert found.after["smallest_class"] == made.verification.smallest_class
    assert found.after["classes"] == made.verification.classes
    assert found.utility["rows"] == people.height
    assert [(c["name"], c["loss"]) for c in found.utility["columns"][:3]] == list(made.column_losses.items())


def shown(page: str) -> str:
    """What a reader sees and a screen reader says, without the checksums."""
    labels = " ".join(e.attrib.get("aria-label", "") + e.attrib.get("title", "") for e in body(page).iter())
    pieces = " ".join(body(page).find("body").itertext())
    return re.sub(r"\b[0-9a-f]{64}\b", "", pieces + " " + labels)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_no_rare_original_value_and_no_identifier_is_on_the_page(people, algorithm):
    made = kanopy.anonymize(people, job(algorithm=algorithm, models=()))
    page = shown(made.report.to_html())
    published = {str(value) for name in made.frame.columns for value in made.frame[name].unique()}
    for name in ("town", "age", "pay"):
        counts = people[name].value_counts()
        for value, count in counts.iter_rows():
            # Numbers of one or two digits are everywhere on a page; the old age and the high pay are not.
            if count < 4 and str(value) not in published and len(str(value)) > 2:
                assert not re.search(rf"(?<![\d.,]){value}(?![\d.,])" if name != "town" else value, page), value
    assert RARE_TOWN not in page and str(RARE_PAY) not in page and f"{RARE_PAY:,}" not in page
    assert NAME not in page and "Person-No" not in page
    own = made.report.to_html(values=True)
    assert RARE_TOWN in own and "Person-No" not in own and "For internal use: contains original values" in own


def test_no_folder_and_no_password_is_on_the_page(release, people):
    assert "/home" not in release.report.to_html()
    made = kanopy.anonymize(people, job(), source="postgresql://me:hunter2@server/db?query=select")
    assert "hunter2" not in made.report.to_html()


def test_numbers_are_those_of_risk_and_assess(people, release, page):
    quasi = ["town", "age", "pay"]
    found = release.full_report(sampling_fraction=0.1).findings
    before = kanopy.assess_risk(people, quasi=quasi, sensitive=["ill"], sampling_fraction=0.1)
    assert found.before == before.to_dict()
    after = kanopy.assess_risk(release.frame, quasi=quasi, sensitive=["ill"], sampling_fraction=0.1, largest_subset=0)
    attacked = kanopy.assess_risk(people, quasi=quasi, released=release.frame, hierarchies=dict(release.hierarchies))
    assert {**found.after, "attacks": []} == after.to_dict()
    assert found.after["attacks"] == attacked.to_dict()["attacks"]
    names = [*quasi, "ill"]
    useful = kanopy.assess(
        people.select(names), release.frame.select(names), quasi=quasi, hierarchies=release.hierarchies, learn=False
    ).to_dict()
    for key in ("rows", "released_rows", "hidden_rows", "pairs", "queries"):
        assert found.utility[key] == useful[key], key
    for ours, theirs in zip(found.utility["columns"], useful["columns"], strict=True):
        assert ours == pytest.approx(theirs), ours["name"]

    attackers = cells(page, "Three attackers")
    assert attackers["Prosecutor, average"][:2] == [
        percent(before.sizes.average_prosecutor), percent(after.sizes.average_prosecutor),
    ]  # fmt: skip
    assert attackers["Journalist, highest"][:2] == [
        percent(before.journalist.highest), percent(after.journalist.highest),
    ]  # fmt: skip
    assert cells(page, "Unique people")["Pitman (chosen)"][1] == percent(found.before["population"]["dankar"]["share"])
    assert cells(page, "Relative error")["Median"][0] == percent(useful["queries"]["median"])
    assert cells(page, "Record linkage")["Exact"][1] == f"{attacked.attacks[0].certain:,}"
    assert cells(page, "Distances")["age"][0] == percent(useful["columns"][1]["total_variation"])
    assert cells(page, "Sensitive columns")["ill, after"][0] == str(after.disclosure[0].distinct)


def test_every_promise_is_said_and_verified(page):
    promises = cells(page, "Privacy models")
    assert promises["k"] == ["Every published combination of quasi-identifiers is shared by at least 4 rows.", "holds"]
    assert "2 different values of ill" in promises["l-distinct"][0] and promises["l-distinct"][1] == "holds"
    assert "name" in promises["identifiers"][0]


def test_models_that_name_values_do_not_name_them_on_the_page(people):
    made = kanopy.anonymize(people, job(models=["constrained:town:France|Italy|Far"], suppress=1.0))
    assert "France" not in cells(made.report.to_html(), "Privacy models")["constrained"][0]
    assert "France" in cells(made.report.to_html(values=True), "Privacy models")["constrained"][0]


def test_the_manifest_is_on_the_page_with_checksums(people, tmp_path):
    data, out, report = tmp_path / "people.csv", tmp_path / "release.csv", tmp_path / "report.html"
    people.write_csv(data)
    from typer.testing import CliRunner

    from kanopy.cli import app

    done = CliRunner().invoke(
        app,
        ["anonymize", str(data), "-q", "town,age", "--identifiers", "name", "-k", "4", "--suppress", "5%",
         "-o", str(out), "--report", str(report), "--manifest", str(tmp_path / "m.json")],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    recorded = json.loads((tmp_path / "m.json").read_text())["files"]
    files = cells(report.read_text(encoding="utf-8"), "Files")
    assert files == {role: [each["name"], each["sha256"]] for role, each in recorded.items()}


def test_a_manifest_names_no_value_of_a_builder(people):
    made = kanopy.anonymize(
        people, job(hierarchies={**job().hierarchies, "age": {"method": "widths", "widths": [10, 20]}})
    )
    plain = json.loads(made.manifest())["job"]["columns"]
    assert plain["age"]["hierarchy"] == {"method": "widths", "widths": [10, 20]}
    assert RARE_TOWN not in made.manifest()


def test_a_classifier_only_if_asked_for(people, release):
    pytest.importorskip("sklearn")
    page = release.full_report(target="ill").to_html()
    assert 'id="learning"' in page and "No classifier" not in page
    with pytest.raises(kanopy.KanopyError, match="no column 'il'"):
        release.full_report(target="il").to_html()


def test_large_tables_are_sampled_and_say_so(people, release, monkeypatch):
    monkeypatch.setattr(findings, "MOST_ROWS", 200)
    monkeypatch.setattr(findings, "SAMPLE_ROWS", 100)
    found = release.full_report().findings
    assert not found.after["attacks"] and found.before["identifying"] is None
    assert found.utility["rows"] == 100 and "more than 200 rows" in found.notes[0]
    dropped = kanopy.anonymize(people, job(suppressed_rows="drop")).report
    assert dropped.findings.utility["rows"] == 100 and "more than 200 rows" in dropped.to_html()


def test_a_population_table_is_counted(people):
    everybody = pl.concat([people] * 3)
    made = kanopy.anonymize(people, job(models=["k-map:6"]), population=everybody)
    found = made.report.findings
    assert found.before["journalist"]["basis"] == "counted" and found.before["journalist"]["k_map"] == 3
    assert found.after["journalist"]["k_map"] >= 6
    assert cells(made.report.to_html(), "Three attackers")["k-map"][0] == "3"


def test_labels_that_cannot_be_read_are_said_not_to_be_measured(release, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise kanopy.KanopyError("a label such as Ultima-Thule")

    monkeypatch.setattr(findings, "match_tables", fail)
    page = release.full_report().to_html()
    assert "was not measured" in page and RARE_TOWN not in page and 'id="distributions"' not in page


def test_missing_tokens_are_missing_on_both_sides(people):
    holes = people.with_columns(pl.when(pl.arange(300) % 9 == 0).then(pl.lit("?")).otherwise("town").alias("town"))
    made = kanopy.anonymize(holes, job(missing_tokens=["?"], models=()))
    assert made.report.findings.utility is not None
    assert made.report.findings.before["rows"] == 300


def test_a_bound_is_worded(people, release):
    small = job(
        quasi=["town", "age"], insensitive=["pay"], models=(), hierarchies=dict(list(job().hierarchies.items())[:2])
    )
    report = kanopy.anonymize(people, small, bound=True).report
    assert report.gap is not None and report.facts.bound is not None
    text = text_of(body(report.to_html()))
    assert f"Gap{percent(report.gap)}: at most this share of the loss is avoidable" in text
    assert f"Bound{report.facts.bound.value:.4f}" in text
    assert "How far from the best possible" not in text_of(body(release.report.to_html()))


def test_bins_never_name_a_value_of_few_rows():
    numbers = np.arange(60.0)
    counts = np.where(np.arange(60) % 7 == 0, 1, 9)
    counts[-4:] = 1
    ages = ColumnDomain("age", tuple(f"{n:g}" for n in numbers), counts, numbers)
    places, names = bins_of(understand(["3"], ages), least=5)
    rows = np.bincount(places, weights=counts)
    assert (rows >= 5).all() and len(rows) == len(names) and names[0] == "up to 2" and names[-1].endswith("and above")
    named = {int(part) for name in names for part in re.findall(r"\d+", name)}
    assert named and all(counts[value] >= 5 for value in named)
    towns = ColumnDomain("town", ("a", "b", "c", "d"), np.array([9, 2, 1, 8]))
    assert bins_of(understand(["a"], towns), least=5)[1] == ["a", "other"]
    assert bins_of(understand(["a"], towns), least=3)[1] == ["a", "d", "other"]
    assert bins_of(understand(["x"], ColumnDomain("t", ("x",), np.array([1]))), least=3)[1] == ["other"]


def test_statistics_that_give_a_rare_value_away_are_withheld(people, release, page):
    bounds = release.report.findings.utility["bounds"]
    assert {each["column"] for each in bounds} == {"age", "pay"}
    hidden = [each for each in bounds if each["column"] == "pay"]
    assert all(each["high"] is None and each["estimate"] is None for each in hidden), "the highest pay is one person's"
    mean = next(each for each in hidden if each["statistic"] == "mean")
    assert mean["truth"] == pytest.approx(people["pay"].mean())
    assert "Numbers are withheld" in page


EVERY_MODEL = {
    "k": "k:4", "p-sensitive": "p-sensitive:ill:2", "l-distinct": "l-distinct:ill:2", "l-entropy": "l-entropy:ill:1.2",
    "l-recursive": "l-recursive:ill:3,2", "l-plus": "l-plus:ill:flu=1.1", "t-equal": "t-equal:ill:0.6",
    "t-ordered": "t-ordered:dose:0.6", "t-hierarchical": "t-hierarchical:ill:0.6", "alpha-k": "alpha-k:ill:0.9,4",
    "delta-disclosure": "delta-disclosure:ill:5", "beta-basic": "beta-basic:ill:8",
    "beta-enhanced": "beta-enhanced:ill:8",
    "epsilon-m": "epsilon-m:dose:1,1.1", "delta-presence": "delta-presence:0,0.9", "k-map": "k-map:5",
    "risk-average": "risk-average:0.2", "uniqueness": "uniqueness:0",
    "constrained": "constrained:town:France|Italy|Far",
    "population-uniqueness": "population-uniqueness:0.1,0.1", "guarding": "guarding:ill:guard,0.99",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(EVERY_MODEL))
def test_a_release_under_every_model_has_its_page(people, name):
    table = people.with_columns(pl.Series("dose", np.arange(300) % 40), pl.lit(None, pl.String).alias("guard"))
    ills = kanopy.Hierarchy.from_rows([["flu", "mild", "*"], ["cold", "mild", "*"], ["gout", "grave", "*"]])
    sensitive = ["dose"] if "dose" in EVERY_MODEL[name] else ["ill"]
    wanted = job(
        models=[EVERY_MODEL[name]], suppress=1.0, sensitive=sensitive,
        insensitive=[each for each in ("ill", "dose") if each not in sensitive],
        hierarchies={**job().hierarchies, "ill": ills} if name in ("t-hierarchical", "guarding") else job().hierarchies,
        identifiers=["name", "guard"],
    )  # fmt: skip
    made = kanopy.anonymize(
        table,
        wanted,
        population=pl.concat([table] * 2) if any(each.needs_population for each in wanted.models) else None,
    )
    page = made.report.to_html()
    assert cells(page, "Privacy models")[name][1] == "holds" and 'class="hero"' in page
    assert RARE_TOWN not in page and "flu=" not in page.split('id="made"')[0]


def test_a_mean_that_gives_the_few_hidden_values_away_is_withheld():
    """The mean of all, less the values that are published as they are, is that of the rows that are not."""
    table = pl.DataFrame({"town": ["Lyon"] * 60 + ["Rome"], "pay": [1000, 2000, 3000] * 20 + [987_654]})
    towns = kanopy.Hierarchy.flat(["Lyon", "Rome"])
    pays = kanopy.Hierarchy.flat(["1000", "2000", "3000", "987654"])
    wanted = kanopy.Job(quasi=["town", "pay"], k=5, suppress=0.1, hierarchies={"town": towns, "pay": pays})
    made = kanopy.anonymize(table, wanted)
    assert made.suppressed == 1
    mean = next(each for each in made.report.findings.utility["bounds"] if each["statistic"] == "mean")
    assert mean["truth"] is None and mean["high"] is None
    none_hidden = kanopy.anonymize(table.head(60), wanted.replaced(suppress=0.0))
    assert all(each["truth"] is not None for each in none_hidden.report.findings.utility["bounds"])
