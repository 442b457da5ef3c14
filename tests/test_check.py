"""`kanopy.check`: how anonymous a table is, by plain counting."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import kanopy
from kanopy._errors import DataError, InputError, JobError
from kanopy.cli import app

values = st.sampled_from(["a", "b", None])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(values, st.integers(0, 2), values), min_size=1, max_size=20))
def test_agrees_with_counting(rows: list[tuple[str | None, int, str | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.Int64, "rows": pl.String}, orient="row")
    sizes = Counter((x, y) for x, y, _ in rows)
    secrets = defaultdict(set)
    for x, y, secret in rows:
        secrets[x, y].add(secret)
    found = kanopy.check(frame, quasi=["x", "y"], sensitive=["rows"])
    assert (found.rows, found.classes, found.k) == (len(rows), len(sizes), min(sizes.values()))
    assert found.unique_rows == sum(size == 1 for size in sizes.values())
    assert found.largest_class == max(sizes.values())
    assert found.highest_risk == 1 / found.k
    assert found.average_risk == pytest.approx(len(sizes) / len(rows))
    assert found.sensitive == {"rows": {"distinct": min(len(group) for group in secrets.values())}}
    assert kanopy.check(frame.to_dicts(), quasi="x,y", sensitive="rows") == found


def test_suppressed_rows_form_no_class() -> None:
    table = {"x": ["*", "a", "a"], "y": ["*", "*", "*"]}
    found = kanopy.check(table, quasi=["x", "y"])
    assert (found.k, found.classes, found.suppressed_rows) == (2, 1, 1)
    everything = kanopy.check({"x": ["*", "*"], "s": ["u", "v"]}, quasi="x", sensitive="s")
    assert (everything.k, everything.classes, everything.suppressed_rows) == (2, 1, 0)
    assert everything.sensitive == {"s": {"distinct": 2}}


def test_what_it_refuses() -> None:
    with pytest.raises(DataError, match=r"no column 'agee'. Did you mean 'age'\?"):
        kanopy.check({"age": [1]}, quasi=["agee"])
    with pytest.raises(DataError, match="at least one quasi-identifier"):
        kanopy.check({"age": [1]}, quasi=[])
    with pytest.raises(InputError, match=r"quasi must be a text, or a list, each a text, not \[1\]"):
        kanopy.check({"age": [1]}, quasi=[1])  # type: ignore[list-item]
    with pytest.raises(DataError, match="no records"):
        kanopy.check({"age": []}, quasi=["age"])


@pytest.mark.parametrize("large", [False, True])
def test_numbered_classes_agree_with_grouped_labels(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick count of `check` against the second opinion's, with suppressed rows and missing values."""
    import numpy as np

    from kanopy._table import grouping
    from kanopy.privacy.models import failing, make_models
    from kanopy.verify.regroup import Background, published

    monkeypatch.setattr(grouping, "SMALL_ALONE", 0 if large else 10**9)
    random = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "zip": random.choice(["1", "2", "3"], 200).tolist(),
            "age": [None if x == 4 else f"{x}0" for x in random.integers(2, 6, 200)],
            "ill": [None if x == 0 else "abcd"[x] for x in random.integers(0, 4, 200)],
        }
    ).with_columns(pl.when(pl.arange(200) % 11 == 0).then(pl.lit("*")).otherwise(pl.col("zip", "age")).name.keep())
    models = make_models(["k:15", "l-distinct:ill:4", "t-equal:ill:0.1", "l-entropy:ill:3.5"])
    found = kanopy.check(frame, quasi=["zip", "age"], sensitive=["ill"], models=models)
    classes, _ = published(frame, ["zip", "age"], models, Background(frame.select("ill")), without="*")
    assert found.classes == classes.count and found.k == classes.sizes.min()
    assert found.suppressed_rows == frame.filter((pl.col("zip") == "*") & (pl.col("age") == "*")).height
    assert found.sensitive["ill"]["distinct"] == (classes.histograms["ill"] > 0).sum(axis=1).min()
    for model, own in zip(models, found.models, strict=True):
        wrong = failing(model, classes)
        assert (own.failing_classes, own.failing_rows) == (wrong.sum(), classes.sizes[wrong].sum())
        assert own.failing_classes and len(own.examples) == min(5, own.failing_classes)


def test_two_releases_give_away_together_what_neither_does_alone() -> None:
    one = pl.DataFrame({"age": ["2*", "2*", "3*", "3*", "*"], "id": list("abcde")})
    two = pl.DataFrame({"age": ["20-24", "20-24", "25-34", "25-34", "20-24"], "id": list("abdce"), "more": range(5)})
    found = kanopy.check(one, quasi="age", beside=two, models=["k:2"], beside_quasi=["age"])
    assert found.beside is not None
    assert (found.beside.joined_by, found.beside.rows, found.beside.classes) == ("row", 5, 3)
    assert (found.beside.unique_rows, found.beside.rows_below, found.beside.unique_alone) == (1, 1, 0)
    assert not found.holds and all(model.holds for model in found.models)
    mixed = two.drop("more").sample(fraction=1, shuffle=True, seed=1)
    by_key = kanopy.check(one, quasi="age", beside=mixed, on="id").beside
    assert by_key is not None and (by_key.joined_by, by_key.classes, by_key.unique_rows) == ("id", 3, 1)
    same = kanopy.check(one[:4], quasi="age", beside=one[:4], models=["k:2"])
    assert same.holds and same.to_dict()["beside"]["classes"] == 2
    assert "beside" not in kanopy.check(one, quasi="age").to_dict()


def test_what_only_the_earlier_release_tells_counts_too() -> None:
    """Ages with k = 2 and areas with k = 2 are four different people together."""
    one = pl.DataFrame({"age": ["20-29", "20-29", "30-39", "30-39"], "ill": list("abcd")})
    two = pl.DataFrame({"area": ["n", "s", "n", "s"], "ill": list("abcd")})
    found = kanopy.check(one, quasi="age", beside=two).beside
    assert found is not None and found.unique_rows == 4 and found.columns == ("age", "area")


def test_ranges_that_overlap_say_more_together() -> None:
    one = pl.DataFrame({"age": ["[20, 30)"] * 4 + ["≥ 50"] * 2, "who": ["{a, b}"] * 6})
    two = pl.DataFrame({"age": ["[25, 40)"] * 4 + ["50–59"] * 2, "who": ["{b, c}"] * 2 + ["{a, b, c}"] * 4})
    found = kanopy.check(one, quasi=["age", "who"], beside=two).beside
    assert found is not None and found.narrowed == {"age": 4, "who": 2}


RELEASED = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=9)


@given(RELEASED, st.randoms(use_true_random=False))
def test_shuffled_releases_are_never_said_to_give_away_less_than_they_do(
    people: list[tuple[int, int]], random: Any
) -> None:
    """Whoever knows an age looks at the rows of both that may be of the same person: all are tried here."""
    new = pl.DataFrame({"age": [f"[{age // 2 * 2}, {age // 2 * 2 + 1}]" for age, _ in people],
                        "ill": [ill for _, ill in people]})  # fmt: skip
    rows = [(f"[{(age + 1) // 2 * 2 - 1}, {(age + 1) // 2 * 2}]", ill) for age, ill in people]
    random.shuffle(rows)
    earlier = pl.DataFrame(rows, schema=["age", "ill"], orient="row")
    found = kanopy.check(new, quasi="age", beside=earlier, in_order=False).beside
    assert found is not None and found.joined_by == "values"
    real = []
    for age, _ in people:
        ours = Counter(ill for other, ill in people if other // 2 == age // 2)
        theirs = Counter(ill for other, ill in people if (other + 1) // 2 == (age + 1) // 2)
        real.append(sum((ours & theirs).values()))
    assert found.smallest_class <= min(real)
    assert found.rows_below >= sum(size < found.k for size in real)


def test_shuffled_releases_that_publish_nothing_as_it_is_are_as_safe_as_alone() -> None:
    one = pl.DataFrame({"age": ["20-29"] * 3 + ["30-39"] * 3})
    two = pl.DataFrame({"age": ["25-34"] * 4 + ["20-24", "35-39"]})
    found = kanopy.check(one, quasi="age", beside=two, in_order=False).beside
    assert found is not None and (found.smallest_class, found.unique_rows) == (1, 2)
    assert kanopy.check(one, quasi="age", models=["k:3"], beside=one, in_order=False).holds


def test_manifests_say_what_nobody_need_remember(tmp_path: Path) -> None:
    """Columns, k, keys and whether rows were shuffled come from the manifests that lie beside the releases."""
    people = tmp_path / "people.csv"
    pl.DataFrame({"who": [f"p{i}" for i in range(24)], "age": list(range(20, 44)), "ill": list("abcd") * 6}).write_csv(
        people
    )

    def run(*words: str) -> str:
        found = CliRunner().invoke(app, [*words])
        assert found.exit_code in (0, 1), found.output
        return " ".join(found.output.split())

    def release(name: str, width: int, *more: str) -> str:
        job = tmp_path / f"{name}.toml"
        tree = {"method": "widths", "widths": [width]}
        wanted = kanopy.Job(quasi=["age"], k=4, sensitive=["ill"], identifiers=["who"], hierarchies={"age": tree})
        job.write_text(wanted.to_toml())
        out = str(tmp_path / f"{name}.csv")
        manifest = str(tmp_path / f"m-{name}.json")
        run("anonymize", str(people), "--job", str(job), "-o", out, "--manifest", manifest, *more)
        return out

    ten, fifteen = release("ten", 10, "--keep-order"), release("fifteen", 15, "--keep-order")
    in_order = run("check", ten, "--beside", fifteen)
    assert (
        "joined row by row" in in_order
        and "✓ k: " in in_order
        and "narrow the values of these columns: age" in in_order
    )
    shuffled = run("check", release("other", 10), "--beside", fifteen)
    assert "shuffled: joined by what both publish" in shuffled
    Path(fifteen).write_text(Path(fifteen).read_text() + "\n")  # another file than the manifest speaks of
    with pytest.raises(JobError, match="Name the columns"):
        CliRunner().invoke(app, ["check", fifteen, "--beside", ten], catch_exceptions=False)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_two_releases_are_counted_by_pairs_of_labels(pairs: list[tuple[int, int]]) -> None:
    frames = [pl.DataFrame({"a": [str(pair[side]) for pair in pairs]}) for side in (0, 1)]
    found = kanopy.check(frames[0], quasi="a", beside=frames[1]).beside
    sizes = Counter(pairs)
    assert found is not None and found.classes == len(sizes) and found.smallest_class == min(sizes.values())
    assert found.unique_rows == found.rows_below == sum(size == 1 for size in sizes.values())


def test_releases_that_cannot_be_joined_are_refused() -> None:
    one = pl.DataFrame({"age": ["2*", "2*"], "id": [1, 2]})
    for other, key, message in (
        ({"age": ["2*"]}, None, "2 and 1 rows"),
        ({"id": [1, 2]}, None, "none of the columns 'age'"),
        ({"age": ["2*", "2*"], "id": [3, 4]}, "id", "No value of 'id'"),
        ({"age": ["2*", "2*"]}, "id", "no column 'id'"),
    ):
        with pytest.raises(DataError, match=message):
            kanopy.check(one, quasi="age", beside=other, on=key)
