"""The reproduction of Ayala-Rivera et al. 2014: every number has a verdict, and every verdict is that it holds."""

from __future__ import annotations

import json

from kanopy_papers.ayala2014 import reproduce


def test_every_claim_and_the_files(tmp_path):
    found = reproduce()
    assert len(found.claims) == 21 + 3 + 1 + 20 + 4 + 6
    assert {claim.verdict for claim in found.claims} == {"holds"}
    assert "reconstructed" in found.introduction
    plain = json.loads(json.dumps(found.json()))
    assert plain["table2_is_a_reconstruction"] is True
    assert len(plain["table1"]["transitions"]) == 21
    written = {path.name for path in found.write(tmp_path)}
    assert {"table1.csv", "table2.csv", "figure4.svg", "figure4.png", "index.html"} <= written
    assert "VGH2" in (tmp_path / "figure4.svg").read_text(encoding="utf-8")
