"""One contract for every treatment: the one that `kanopy.extend.check` runs on those of other packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kanopy.extend.contracts.treatments import CHECKS
from kanopy.treatments.registry import TREATMENTS
from kanopy.verify.treatments import CHECKS as VERIFIED
from tests.quick import TREATMENT_NEEDS


@pytest.mark.parametrize("name", list(TREATMENTS))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_contract_of_treatments(name: str, check: Callable[..., Any]) -> None:
    assert TREATMENTS[name].name == name
    check(TREATMENTS[name], TREATMENT_NEEDS.get(name, {}))


def test_every_treatment_is_verified_by_code_of_its_own() -> None:
    assert set(VERIFIED) == set(TREATMENTS)
