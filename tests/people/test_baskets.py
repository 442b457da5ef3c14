"""kᵐ-anonymity: lists, as such or unrolled to one row per element, equal brute force over all levels."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import DataError, JobError, NoSolution, VerificationFailed
from kanopy._job.guess import guess_job, with_hierarchies
from kanopy.hierarchy.files.files import write_hierarchy
from kanopy.verify.people import UnitColumns, require_lists

ITEMS = [f"i{number}" for number in range(8)]
TREE = kanopy.Hierarchy.from_rows([[item, f"g{i // 2}", f"h{i // 4}", "*"] for i, item in enumerate(ITEMS)])


def rarest(baskets: list[list[str]], m: int) -> int:
    """How many baskets hold the rarest combination of up to m items, equal ones counted as often as they occur."""
    fits: Counter[tuple[str, ...]] = Counter()
    for basket in baskets:
        fits.update({part for size in range(1, m + 1) for part in combinations(sorted(basket), size)})
    return min(fits.values())


@pytest.mark.parametrize("m", [1, 2, 3])
def test_unrolled_lists_equal_brute_force(m: int) -> None:
    draw = np.random.default_rng(m)
    for _ in range(25):
        baskets = [draw.choice(ITEMS, int(draw.integers(2, 5))).tolist() for _ in range(int(draw.integers(4, 16)))]
        table = pl.DataFrame({"basket": range(len(baskets)), "items": baskets}).explode("items")
        levels = [
            [[TREE.label(int(TREE.table[at, TREE.index[i]])) for i in each] for each in baskets] for at in range(4)
        ]
        safe = [at for at in range(4) if rarest(levels[at], m) >= 3]
        if m > max(map(len, baskets)):
            continue
        wanted = Job(quasi="items", k=3, unit="basket", known=m, hierarchies={"items": TREE})
        try:
            found = kanopy.anonymize(table, wanted).levels
        except NoSolution:
            assert not safe
            continue
        assert found == {"items": safe[0]}


def safe_levels(baskets: list[list[str]], m: int, k: int, once: bool) -> list[int]:
    """The levels at which every combination of up to m labels of one list is in k of them."""
    found = []
    for at in range(4):
        lists = [[TREE.label(int(TREE.table[at, TREE.index[i]])) for i in each] for each in baskets]
        if rarest([sorted(set(each)) if once else each for each in lists], m) >= k:
            found.append(at)
    return found


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("repeats", ["once", "each"])
def test_lists_in_cells_equal_brute_force(m: int, repeats: str) -> None:
    draw = np.random.default_rng(10 * m)
    for _ in range(15):
        baskets = [draw.choice(ITEMS, int(draw.integers(1, 5))).tolist() for _ in range(int(draw.integers(6, 16)))]
        if m > max(map(len, baskets)):
            continue
        safe = safe_levels(baskets, m, 3, repeats == "once")
        wanted = Job(quasi="items", k=3, known=m, repeats=repeats, hierarchies={"items": TREE})
        try:
            result = kanopy.anonymize(pl.DataFrame({"items": baskets}), wanted)
        except NoSolution:
            assert not safe
            continue
        assert result.levels == {"items": safe[0]} and result.counted == "records"
        released = result.data["items"].to_list()
        assert len(released) == len(baskets) and rarest(released, m) >= 3
        assert repeats == "each" or all(len(set(each)) == len(each) for each in released)


def shop(**more: Any) -> pl.DataFrame:
    bought = [["i0", "i4"], ["i0", "i4"], ["i1", "i5"], ["i1", "i5"], ["i0", "i5"], ["i1", "i4"], [], None]
    return pl.DataFrame({"sex": list("ffffmmmm"), "bought": bought, "note": range(8)}).with_columns(**more)


def job(**more: Any) -> Job:
    given = {"quasi": "bought", "insensitive": "note", "k": 2, "known": 2, "hierarchies": {"bought": TREE}}
    return Job(**(given | more))


def test_what_a_row_says_besides_its_list_goes_with_it() -> None:
    result = kanopy.anonymize(shop(), job(suppress=0.2))
    assert result.data["note"].to_list() == list(range(8))
    assert any("12 elements of 8 records. 2 lists are empty" in note for note in result.notes)
    assert result.data["bought"].to_list()[-2:] == [[], []], "two empty lists, k is 2"
    both = kanopy.anonymize(shop(), job(quasi=["bought", "sex"], suppress=0.5, shuffle=True)).data
    assert set(both["note"]) == set(range(8)), "no row is lost when rows are shuffled"
    shown = both.filter(pl.col("sex") != "*")
    fits = Counter((sex, *labels) for sex, labels in shown.select("sex", "bought").rows())
    assert min(fits.values()) >= 2


def test_single_elements_are_suppressed_where_one_is_known() -> None:
    table = pl.DataFrame({"bought": [["i0", "i7"], ["i0"], ["i0"], ["i0"]]})
    result = kanopy.anonymize(table, Job(quasi="bought", k=3, suppress=0.3, hierarchies={"bought": TREE}))
    assert result.data["bought"].to_list() == [["i0"]] * 4 and result.suppressed == 1


def test_lists_in_texts_come_back_as_texts(tmp_path: Path) -> None:
    table = shop(bought=pl.col("bought").list.join("; "))
    wanted = job(separators={"bought": ";"}, suppress=0.2)
    plain = wanted.replaced(hierarchies={}, repeats="each")
    assert Job.from_toml(plain.to_toml()) == plain and 'separator = ";"' in wanted.to_toml()
    result = kanopy.anonymize(table.to_pandas(), wanted)
    lists = kanopy.anonymize(shop(), job(suppress=0.2)).data["bought"].to_list()
    assert [text or "" for text in result.frame["bought"]] == [";".join(labels) for labels in lists]
    assert "protected element by element" in result.report.to_html()
    assert result.apply(table).frame.equals(result.frame)
    from typer.testing import CliRunner

    from kanopy.cli import app

    table.write_csv(tmp_path / "shop.csv")
    write_hierarchy(TREE, tmp_path / "bought.csv")
    asked = ["-q", "bought", "-k", "2", "--known", "2", "--separator", "bought=;", "--suppress", "20%"]
    out = ["--hierarchies", str(tmp_path), "-o", str(tmp_path / "out.csv")]
    told = CliRunner().invoke(app, ["anonymize", str(tmp_path / "shop.csv"), *asked, *out])
    assert told.exit_code == 0, told.output
    written = pl.read_csv(tmp_path / "out.csv", infer_schema=False)["bought"].fill_null("").to_list()
    assert sorted(written) == sorted(";".join(labels) for labels in lists)


@pytest.mark.parametrize(
    ("cells", "more", "words"),
    [
        ([[["a"]], [["b"]], [["a"]]], {}, "flatten them first"),
        ([[], [], []], {}, "All lists of 'bought' are empty"),
        ([["a"], ["b"], ["a"]], {"known": 2}, "no list of 'bought' has more than 1 elements"),
        ([1, 2, 3], {"separators": {"bought": ";"}}, "a separator is for texts"),
        (["a", "b", "c"], {"separators": {"bougth": ";"}}, "which is not a quasi-identifier"),
        (["a", "b", "c"], {"separators": {"bought": ""}}, "separators of 'bought' must be a text"),
        (["a", "b", "c"], {"known": 2}, "or a quasi-identifier that contains lists"),
        ([["a"], ["b"], ["a"]], {"repeats": "twice"}, "repeats must be"),
    ],
)
def test_lists_that_cannot_be_protected(cells: list[Any], more: dict[str, Any], words: str) -> None:
    with pytest.raises((DataError, JobError), match=words):
        kanopy.anonymize(pl.DataFrame({"bought": cells}), job(insensitive=(), hierarchies={}, **({"known": 1} | more)))


def test_init_recognises_lists() -> None:
    draw = np.random.default_rng(0)
    bought = [draw.choice(ITEMS, int(draw.integers(1, 5))).tolist() for _ in range(60)]
    table = pl.DataFrame({"lists": bought, "texts": ["; ".join(each) for each in bought]})
    guessed = guess_job(table)
    assert guessed.job.quasi == ("lists", "texts") and guessed.job.separators == {"texts": ";"}
    assert all("holds lists" in each["reason"] for each in guessed.columns)
    one = guess_job(table.select("texts"))
    better, files = with_hierarchies(one, table.select("texts"), "levels")
    assert files["texts.csv"].size == 8 and better.job.separators == {"texts": ";"}
    assert kanopy.anonymize(table, one.job.replaced(known=2, suppress=1.0)).data.height == 60
    assert guess_job({"town": ["Bonn; Rhein", "Ulm; Donau", "Kiel; Förde"] * 9}).job.separators == {}, "always two"


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.string())])
def test_lists_of_arrow_come_back_as_lists_of_arrow(kind: Any) -> None:
    table = shop().to_arrow()
    lists = pa.array(shop()["bought"].to_list(), kind)
    table = table.set_column(table.column_names.index("bought"), "bought", lists)
    released = kanopy.anonymize(table, job(suppress=0.2)).data
    found = released["bought"]
    assert isinstance(released, pa.Table) and (pa.types.is_large_list(found.type) or pa.types.is_list(found.type))
    assert found.to_pylist() == kanopy.anonymize(shop(), job(suppress=0.2)).data["bought"].to_list()
    assert rarest([each for each in found.to_pylist() if each], 2) >= 2


def test_lists_of_fixed_length_are_lists() -> None:
    pairs = shop().head(6).with_columns(pl.col("bought").list.to_array(2))
    released = kanopy.anonymize(pairs.to_arrow(), job(suppress=0.4)).data
    assert rarest([each for each in released["bought"].to_pylist() if each], 2) >= 2


def test_lists_of_parquet_files_are_written_as_lists(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from kanopy.cli import app

    shop().write_parquet(tmp_path / "shop.parquet")
    write_hierarchy(TREE, tmp_path / "bought.csv")
    asked = ["-q", "bought", "--insensitive", "note", "-k", "2", "--known", "2", "--suppress", "20%"]
    out = ["--hierarchies", str(tmp_path), "-o", str(tmp_path / "out.parquet")]
    told = CliRunner().invoke(app, ["anonymize", str(tmp_path / "shop.parquet"), *asked, *out])
    assert told.exit_code == 0, told.output
    written = duckdb.sql(f"SELECT bought FROM '{tmp_path / 'out.parquet'}'").fetchall()
    meant = kanopy.anonymize(shop(), job(suppress=0.2)).data["bought"].to_list()
    assert sorted(each for (each,) in written) == sorted(meant)
    nested = pl.DataFrame({"bought": [[["i0"]], [["i1"]]]})
    nested.write_parquet(tmp_path / "nested.parquet")
    told = CliRunner().invoke(app, ["anonymize", str(tmp_path / "nested.parquet"), *asked[:2], "-k", "2", *out])
    assert isinstance(told.exception, DataError) and "flatten them first" in str(told.exception)


def test_two_columns_of_lists_are_refused() -> None:
    with pytest.raises(DataError, match="only one column of lists"):
        kanopy.anonymize(shop(sold=pl.col("bought")), job(quasi=["bought", "sold"]))


def test_labels_that_hold_the_separator_are_refused() -> None:
    tree = kanopy.Hierarchy.from_rows([[item, "a;b", "*"] for item in ITEMS])
    wanted = job(separators={"bought": ";"}, hierarchies={"bought": tree}, min_levels={"bought": 1}, suppress=0.5)
    with pytest.raises(DataError, match="contain its separator"):
        kanopy.anonymize(shop(bought=pl.col("bought").list.join(";")), wanted)


def holders(lists: list[list[str]], known: int | str) -> list[int]:
    """Per list how many lists hold what may be known of it, by the definition."""
    sets = [set(each) for each in lists]
    if known == "all":
        return [sets.count(own) for own in sets]
    return [
        min(
            sum(set(part) <= other for other in sets)
            for size in range(1, min(int(known), len(own)) + 1)
            for part in combinations(sorted(own), size)
        )
        for own in sets
    ]


@pytest.mark.parametrize("known", [1, 2, "all"])
@pytest.mark.parametrize("seed", range(6))
def test_what_may_be_known_of_lists_is_measured_by_the_definition(seed: int, known: int | str) -> None:
    draw = np.random.default_rng(seed)
    lists = [sorted(set(draw.choice(ITEMS, int(draw.integers(2, 5))).tolist())) for _ in range(12)]
    fits = holders(lists, known)
    for table in (pl.DataFrame({"bought": lists}), pl.DataFrame({"bought": [";".join(each) for each in lists]})):
        parted = {} if table["bought"].dtype == pl.List else {"bought": ";"}
        looked = kanopy.check(table, quasi="bought", models=["k:2"], known=known, separators=parted)
        assert (looked.rows, looked.units, looked.counted) == (12, 12, "records")
        assert looked.highest_risk == 1 / min(fits) and looked.unique_rows == fits.count(1)
        assert looked.holds == (min(fits) >= 2)
        found = kanopy.assess_risk(table, quasi=["bought"], known=known, separators=parted, largest_subset=1)
        assert found.sizes.average_prosecutor == pytest.approx(sum(1 / each for each in fits) / 12)
        assert "records" in found.to_html() and found.rows == 12


def test_lists_are_assessed_element_by_element() -> None:
    wanted = job(suppress=0.2)
    made = kanopy.anonymize(shop(), wanted)
    found = kanopy.assess(shop(), made.data, job=wanted, learn=False, queries=0)
    (column,) = [each for each in found.columns if each.name == "bought"]
    assert column.loss == pytest.approx(made.column_losses["bought"], abs=0.02) and not column.contradicted_rows
    assert any("counts elements" in note for note in found.notes)
    with pytest.raises(DataError, match="rows in the same order"):
        kanopy.assess(shop(), made.data.head(3), job=wanted, learn=False)


def test_what_counts_rows_refuses_lists_with_what_to_do() -> None:
    with pytest.raises(JobError, match="only elements are counted"):
        kanopy.assess_risk(shop(), quasi=["bought"], suda=2)
    with pytest.raises(JobError, match="nobody has more than"):
        kanopy.check(shop(), quasi="bought", known=40)
    with pytest.raises(DataError, match="one row per element"):
        kanopy.assess_risk(shop())


def test_the_second_opinion_counts_lists_itself() -> None:
    unit_columns = UnitColumns(pl.DataFrame({"row": [0]}), known=2, once=True)
    frame = pl.DataFrame({"bought": [["a", "b"], ["a"], ["b"]]})
    with pytest.raises(VerificationFailed, match="2 of the rows of one of the people fit only 1"):
        require_lists(frame, ["bought"], "bought", None, unit_columns, 2)


@pytest.mark.slow
def test_a_hundred_thousand_baskets() -> None:
    draw = np.random.default_rng(0)
    items = np.array([f"item {number:04d}" for number in range(1000)])
    table = pl.DataFrame({"items": items[draw.integers(0, 1000, (100_000, 10))].tolist()})
    tree = kanopy.Hierarchy.from_rows(
        [[item, f"shelf {i // 10}", f"aisle {i // 100}", "*"] for i, item in enumerate(items)]
    )
    began = time.process_time()
    result = kanopy.anonymize(table, Job(quasi="items", k=5, known=2, hierarchies={"items": tree}))
    assert result.levels == {"items": 1} and result.data.height == 100_000
    assert time.process_time() - began < 60
