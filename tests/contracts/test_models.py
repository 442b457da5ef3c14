"""One contract for every privacy model: the one that `kanopy.extend.check` runs on models of other packages.

Whoever adds a model adds its name to `MODELS`; this file then tests the model of its `example` without being touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kanopy.extend.contracts.models import CHECKS
from kanopy.privacy.models import MODELS


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_contract_of_models(name: str, check: Callable[..., Any]) -> None:
    check(MODELS[name])
