"""Both papers rerun: verdicts, numbers of the curves, files, and the command's JSON."""

import csv
import json
import struct

import pytest
from typer.testing import CliRunner

from kanopy._errors import InputError
from kanopy.cli import app
from kanopy.report.shell import BAD, GOOD
from kanopy_papers.campan2011 import METRICS, QUICK_K, SETTINGS
from kanopy_papers.reproduction import VERDICTS, Claim, reproduce_paper


@pytest.fixture(scope="module")
def campan():
    return reproduce_paper("campan2011", quick=True)


@pytest.fixture(scope="module")
def yaseen():
    return reproduce_paper("yaseen2018", quick=True)


def verdicts(found, text):
    return [claim.verdict for claim in found.claims if text in claim.claim]


@pytest.mark.slow
def test_campan_losses_hold_and_win_counts_need_all_k(campan):
    assert verdicts(campan, "IOTF has the least") == ["holds", "holds"]
    assert verdicts(campan, "Hierarchy-free generalization has a lower") == ["holds", "holds"]
    assert verdicts(campan, "Han and Predefined are worst") == ["holds"]
    assert verdicts(campan, "Times each method") == ["not decidable", "not decidable"]
    assert verdicts(campan, "Without hierarchies NIL∞ is close to 1") == ["does not hold"]
    assert verdicts(campan, "IOTF clearly outperforms") == ["does not hold"]
    assert verdicts(campan, "whatever OTF's centres are") == ["does not hold"]
    assert verdicts(campan, "Adult has 45,422") == ["does not hold"]


@pytest.mark.slow
def test_campan_means_over_row_orders_come_from_orders_that_differ(campan):
    assert verdicts(campan, "Over several row orders") == ["holds", "holds", "holds"]
    table = next(table for table in campan.tables if table.name == "row_orders")
    spread = {row[:3]: row[4:] for row in table.rows}
    assert all(least <= mean <= most for mean, least, most in spread.values())
    mean, least, most = spread["IOTF", 10, "NTIL"]
    assert least < most and mean == pytest.approx(0.0218, rel=0.02), "near the value in file order"


@pytest.mark.slow
def test_campan_under_other_models_costs_more_and_is_judged_by_its_numbers(campan):
    from kanopy_papers.campan2011 import OTHER_MODELS_K, _model_claim

    curves, models = campan.data["curves"], campan.data["other_models_NTIL"]
    alone = {s: each["NTIL"][QUICK_K.index(OTHER_MODELS_K)] for s, each in curves.items()}
    assert all(losses[s] >= alone[s] for losses in models.values() for s in losses)
    assert len(verdicts(campan, "Under other models")) == 1
    scaled = {"a model": {s: 3 * alone[s] for s in ("IOTF", "OTF", "Predefined", "Chu", "Han")}}
    assert _model_claim(curves, QUICK_K, scaled).verdict == "holds"
    scaled["a model"]["Chu"] *= 2
    assert _model_claim(curves, QUICK_K, scaled).verdict == "does not hold"


@pytest.mark.slow
def test_verdicts_follow_from_numbers(campan):
    """Other numbers, other verdicts: nothing is written down beforehand."""
    from kanopy_papers import campan2011

    curves = {s: {m: list(v) for m, v in each.items()} for s, each in campan.data["curves"].items()}
    curves["Chu"]["NTIL"][0] = 10 * curves["Han"]["NTIL"][0]
    changed = {claim.claim: claim.verdict for claim in campan2011._loss_claims(curves, QUICK_K)}
    assert changed["Chu and OTF come close to IOTF."] == "does not hold"
    assert {claim.source for claim in campan.claims} == {"paper", "ours"} and campan.conventions


@pytest.mark.slow
def test_campan_curves_have_the_fixtures_values(campan):
    curves, ks = campan.data["curves"], campan.data["k"]
    assert ks == list(QUICK_K) and set(curves) == set(SETTINGS)
    assert all(set(curves[s]) == set(METRICS) and len(curves[s]["NTIL"]) == len(ks) for s in SETTINGS)
    at = ks.index(10)
    assert curves["IOTF"]["NTIL"][at] == pytest.approx(0.02183768825180652, rel=1e-12)
    assert curves["Free"]["NILinf"][at] == pytest.approx(0.40824092193955214, rel=1e-12)
    assert curves["Han"]["DM_merged"][at] == 2470682


def test_yaseen_says_which_columns_of_table_4_follow(yaseen):
    assert verdicts(yaseen, "Table 4: nodes per level of CGH") == ["holds"]
    assert verdicts(yaseen, "Table 4: nodes per level of DBGH") == ["holds"]
    assert verdicts(yaseen, "Table 4: nodes per level of CBGH") == ["holds"]
    assert verdicts(yaseen, "Table 4: nodes per level of IOTF") == ["does not hold"]
    assert verdicts(yaseen, "Table 4: distortion per level of CGH") == ["holds"]
    assert verdicts(yaseen, "Table 4: distortion per level of CBGH") == ["holds"]
    assert verdicts(yaseen, "Table 4: distortion per level of DBGH") == ["does not hold"]
    assert verdicts(yaseen, "DBGH is a generalization hierarchy") == ["does not hold"]
    assert verdicts(yaseen, "Generalizing further never lowers k") == ["does not hold"]
    assert verdicts(yaseen, "Definitions 5 and 6") == ["not decidable"]


def test_yaseen_figure_7_is_read_both_ways(yaseen):
    assert len(verdicts(yaseen, "Figure 7 with k as the number of groups")) == 1
    least = next(table for table in yaseen.tables if table.name == "least_DCP_by_groups").rows
    lattice = next(table for table in yaseen.tables if table.name == "lattices").rows
    for method, groups, dcp in least:
        assert dcp == min(row[7] for row in lattice if row[0] == method and row[8] <= groups)


@pytest.mark.parametrize("paper", [pytest.param("campan", marks=pytest.mark.slow), "yaseen"])
def test_files_are_written_and_the_page_shows_every_claim(paper, request, tmp_path):
    found = request.getfixturevalue(paper)
    files = found.write(tmp_path / "out")
    assert {file.suffix for file in files} == {".csv", ".svg", ".png", ".html"} and all(f.exists() for f in files)
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert GOOD not in page and BAD not in page  # no verdict on a paper as a whole
    assert page.count('<span class="verdict') == len(found.claims) and page.count("<figure>") == len(
        found.figures
    ) + len(found.pictures)
    for figure in found.figures:
        data = (tmp_path / "out" / f"{figure.name}.png").read_bytes()
        width, height = struct.unpack(">II", data[16:24])
        assert width > 800 and height > 400
    for table in found.tables:
        with (tmp_path / "out" / f"{table.name}.csv").open(encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines))
        assert rows[0] == list(table.header) and len(rows) == len(table.rows) + 1


def test_the_command_prints_one_json_object():
    result = CliRunner().invoke(app, ["reproduce", "yaseen2018", "--quick", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {"claim", "published", "ours", "verdict"} <= set(found["claims"][0])
    assert all(claim["verdict"] in VERDICTS for claim in found["claims"]) and found["files"] == []


def test_unknown_papers_and_verdicts_are_refused():
    with pytest.raises(InputError, match="Did you mean 'campan2011'"):
        reproduce_paper("campan2010")
    with pytest.raises(ValueError, match="unknown verdict"):
        Claim("a", "b", "c", "maybe")
