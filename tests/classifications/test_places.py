"""Points: how they are read, fixed cells, the quadtree, releases of places, ZIP codes by HIPAA, and bad input."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import DataError, HierarchyError, JobError
from kanopy._job.guess import guess_job
from kanopy.hierarchy.builders.official.places import Cells, Quadtree
from kanopy.hierarchy.builders.registry import build_hierarchy
from kanopy.hierarchy.column import column_of
from kanopy.hierarchy.points import read_points

NUMBER = r"(\d+(?:\.\d+)?)"


def holds(label: str, latitude: float, longitude: float) -> bool:
    """Whether a cell's label is true of a point: read by code of its own."""
    for part, value, plus in zip(label.split(", "), (latitude, longitude), ("N", "E"), strict=True):
        both = re.fullmatch(rf"{NUMBER} ([SW]) – {NUMBER} ([NE])", part)
        one = re.fullmatch(rf"{NUMBER}–{NUMBER} ([NSEW])", part)
        if both is not None:
            low, high = -float(both[1]), float(both[3])
        else:
            assert one is not None, part
            ends = (float(one[1]), float(one[2])) if one[3] == plus else (-float(one[1]), -float(one[2]))
            low, high = ends
        if not low - 1e-9 <= value <= high + 1e-9:
            return False
    return True


def some_points(number: int, seed: int = 1, spread: float = 0.3) -> pl.DataFrame:
    drawn = np.random.default_rng(seed)
    centres = np.array([[52.5, 13.4], [48.9, 2.35], [-33.9, 18.4], [40.7, -74.0]])[drawn.integers(0, 4, number)]
    points = centres + drawn.normal(0, spread, (number, 2))
    return pl.DataFrame({"lat": points[:, 0].round(5), "lon": points[:, 1].round(5)})


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("52.52, 13.405", (52.52, 13.405)),
        ("(52.52; 13.405)", (52.52, 13.405)),
        ("-33.9 18.4", (-33.9, 18.4)),
        ("POINT (13.405 52.52)", (52.52, 13.405)),
        ("SRID=4326;POINT(13.405 52.52)", (52.52, 13.405)),
        ("52°31'12\"N 13°24'18\"E", (52.52, 13.405)),
        ("33°54'S, 18°24'E", (-33.9, 18.4)),
        ("N52.5 W13.5", (52.5, -13.5)),
    ],
)
def test_points_are_read_as_they_are_written(text: str, point: tuple[float, float]):
    read = read_points([text])
    assert (read.latitude[0], read.longitude[0]) == pytest.approx(point)


def test_what_is_no_place_is_said_and_shares_a_label():
    values = ["52.5, 13.4", "52.6, 13.5", "0, 0", "91, 5", "nowhere", "52°99'N 13°E"]
    made = Quadtree(k=1).place_column(column_of(values))
    assert made.points.problems == {
        "outside the globe": ["91, 5"], "null island (0, 0)": ["0, 0"], "unreadable": ["52°99'N 13°E", "nowhere"],
    }  # fmt: skip
    assert {made.hierarchy.generalize(value, 1) for value in values[2:]} == {"no place"}
    assert any("1 values are not a place (outside the globe): '91, 5'" in note for note in made.notes)


def test_swapped_coordinates_are_an_error_that_says_so():
    swapped = ["-122.4, 37.8", "-118.2, 34.1", "-104.9, 39.7"]
    with pytest.raises(HierarchyError, match="latitude and longitude look swapped"):
        Quadtree().build(swapped)
    assert Quadtree(k=1, order="lon lat").build(swapped).size == 3
    with pytest.raises(HierarchyError, match="contains no points"):
        Cells().build(["a", "b"])
    with pytest.raises(HierarchyError, match="no points on the globe"):
        Cells().build(["0, 0", "200, 300"])


def test_cells_of_a_fixed_grid_are_the_same_for_every_table_and_true():
    frame = some_points(300)
    texts = [f"{a}, {b}" for a, b in frame.rows()]
    h = Cells(sizes=(0.1, 0.5, 5)).build(texts)
    for row in h.rows():
        latitude, longitude = map(float, row[0].split(", "))
        assert all(holds(label, latitude, longitude) for label in row[1:-1]), row
    other = Cells(sizes=(0.1, 0.5, 5)).build(texts[:50])
    assert all(other.generalize(text, 1) == h.generalize(text, 1) for text in texts[:50])
    with pytest.raises(HierarchyError, match="each must divide the next"):
        Cells(sizes=(0.1, 0.25))


@pytest.mark.parametrize("k", [3, 10])
def test_the_quadtree_has_k_people_in_each_cell_and_true_labels(k: int):
    frame = some_points(2_000, seed=k)
    texts = [f"{a}, {b}" for a, b in frame.rows()]
    h = Quadtree(k=k).build(texts)
    held = Counter(h.generalize(text, 1) for text in texts)
    assert min(held.values()) >= k and len(held) > 2_000 / (k * 12)
    for row in h.rows():
        latitude, longitude = map(float, row[0].split(", "))
        assert all(holds(label, latitude, longitude) for label in row[1:-1]), row


def test_the_quadtree_counts_people_not_rows():
    frame = some_points(60, spread=0.05).with_columns(person=pl.arange(60) // 20)
    job = kanopy.Job(
        quasi=["place"],
        k=2,
        unit=["person"],
        places={"place": ["lat", "lon"]},
        hierarchies={"place": {"method": "quadtree"}},
    )
    released = kanopy.anonymize(frame, job).frame
    people = pl.DataFrame({"place": released["place"]}).with_columns(person=pl.arange(60) // 20)
    assert released.height <= 60 and "lat" not in released.columns and people.height


@pytest.mark.parametrize("algorithm", ["optimal", "best"])
def test_a_default_job_of_init_publishes_true_cells_of_k_people(algorithm: str):
    frame = some_points(800, seed=5).with_columns(sex=pl.Series(["f", "m"] * 400))
    guessed = guess_job(frame)
    assert guessed.job.places == {"place": ("lat", "lon")} and "place" in guessed.job.quasi
    assert kanopy.Job.from_toml(guessed.job.to_toml()) == guessed.job
    released = kanopy.anonymize(frame, guessed.job.replaced(algorithm=algorithm, shuffle=False))
    out = released.frame
    assert {"lat", "lon"} & set(out.columns) == set() and released.smallest_class >= 5
    for (latitude, longitude), label in zip(frame[["lat", "lon"]].rows(), out["place"].to_list(), strict=True):
        assert label == "*" or holds(label, latitude, longitude)


def test_places_in_pandas_and_missing_coordinates():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"lat": [52.5, 52.6, None, 48.1] * 5, "lon": [13.4, 13.5, 2.0, 11.5] * 5, "kept": range(20)}
    )
    job = kanopy.Job(
        quasi=["home"],
        insensitive=["kept"],
        k=5,
        places={"home": ["lat", "lon"]},
        hierarchies={"home": {"method": "quadtree"}},
    )
    released = kanopy.anonymize(frame, job).data
    assert list(released.columns) == ["home", "kept"] and released["home"].isna().sum() == 5


def test_places_that_cannot_be_made_are_refused():
    table = {"lat": [1.5, 2.5], "lon": [1.5, 2.5], "home": ["a", "b"]}
    with pytest.raises(JobError, match="has the name of a column"):
        kanopy.anonymize(table, kanopy.Job(quasi="home", k=2, places={"home": ["lat", "lon"]}))
    with pytest.raises(JobError, match="made of two columns"):
        kanopy.anonymize(table, kanopy.Job(quasi="place", k=2, places={"place": ["lat"]}))
    with pytest.raises(DataError, match="no column 'lng' for the place"):
        kanopy.anonymize(table, kanopy.Job(quasi="place", k=2, places={"place": ["lat", "lng"]}))
    with pytest.raises(JobError, match="places has no effect without a role"):
        kanopy.anonymize(table, kanopy.Job(quasi="home", k=2, places={"place": ["lat", "lon"]}))
    with pytest.raises(DataError, match="no column 'lat'"):
        kanopy.anonymize(table, kanopy.Job(quasi=["place", "lat"], k=2, places={"place": ["lat", "lon"]}))


def test_a_column_of_texts_that_are_points_is_a_place():
    frame = some_points(100)
    texts = pl.DataFrame({"position": [f"{a}, {b}" for a, b in frame.rows()], "sex": ["f", "m"] * 50})
    guessed = guess_job(texts)
    assert guessed.job.hierarchies["position"] == {"method": "quadtree"}


def test_coordinates_of_a_file_of_text_are_a_place(tmp_path):
    frame = some_points(100).with_columns(pl.all().cast(pl.String))
    frame = frame.with_columns(pl.Series("lat", ["NA", *frame["lat"][1:]]), sex=pl.Series(["f", "m"] * 50))
    frame.write_csv(tmp_path / "points.csv")
    guessed = guess_job(tmp_path / "points.csv")
    assert guessed.job.hierarchies["place"] == {"method": "quadtree"}
    released = kanopy.anonymize(tmp_path / "points.csv", guessed.job.replaced(k=5))
    rows = zip(released.data["place"].to_list(), frame.rows(), strict=True)
    for number, (label, (north, east, _)) in enumerate(rows):
        assert label in (None, "*") if number == 0 else label == "*" or holds(label, float(north), float(east))


@pytest.mark.parametrize(("system", "library"), [("h3", "h3"), ("geohash", "pygeohash")])
def test_cells_of_libraries_nest(system: str, library: str):
    pytest.importorskip(library)
    frame = some_points(100)
    h = Cells(system=system).build([f"{a}, {b}" for a, b in frame.rows()])
    assert h.nested and h.height >= 3 and h.labels_at(1)[0].startswith(f"{system} ")


def test_the_map_of_a_report_holds_the_published_cells():
    frame = some_points(300)
    job = kanopy.Job(
        quasi=["place"], k=5, places={"place": ["lat", "lon"]}, hierarchies={"place": {"method": "quadtree"}}
    )
    page = kanopy.anonymize(frame, job).report.to_html()
    assert "published cells of place" in page and "default-src 'none'" in page


def test_zip_codes_by_hipaa(tmp_path):
    table = {"zip": ["02139", "03601", "02140", "10001", "03602", "10002"] * 3}
    job = kanopy.Job(quasi=["zip"], k=3, hierarchies={"zip": {"method": "hipaa_zip"}}, min_levels={"zip": 1})
    released = set(kanopy.anonymize(table, job).data["zip"])
    assert released == {"021**", "100**", "000 (few people)"}
    (tmp_path / "people.csv").write_text("zip,people\n02139,15000\n02140,16000\n100,19999\n")
    h = build_hierarchy(["02139", "10001", "94105", "n/a"], "hipaa_zip", population=str(tmp_path / "people.csv"))
    assert h.generalize("02139", 1) == "021**"
    assert {h.generalize(value, 1) for value in ("10001", "94105", "n/a")} == {"000 (few people)"}
    (tmp_path / "bad.csv").write_text("zip,people\nx,y\n")
    with pytest.raises(HierarchyError, match="line 2: x,y"):
        build_hierarchy(["02139"], "hipaa_zip", population=str(tmp_path / "bad.csv"))


def test_the_command_line_lists_searches_and_shows(tmp_path, capsys):
    from typer.testing import CliRunner

    from kanopy.cli import app

    def run(*words: str):
        done = CliRunner().invoke(app, ["classifications", *words, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.output)

    listed = {each["name"]: each for each in run("list")["classifications"]}
    assert listed["icd-10-cm"]["codes"] == 98_505 and "public domain" in listed["icd-10-cm"]["licence"]
    assert listed["atc"]["needs"] and run("search", "cholera", "--in", "icd-10-cm")["found"][0]["code"] == "A00"
    shown = run("show", "countries", "--code", "DE", "--language", "de")
    assert [each["label"] for each in shown["above"]] == ["Westeuropa", "Europa"]
    table = tmp_path / "t.csv"
    table.write_text("c\n" + "DEU\nFRA\nJPN\nXX9\n" * 3)
    done = CliRunner().invoke(app, ["hierarchy", "build", str(table), "c", "--classification", "countries", "--json"])
    assert done.exit_code == 0 and json.loads(done.output)["notes"][0].startswith("1 of 4 values are not in")
