"""One contract for every builder of hierarchies: the one that `kanopy.extend.check` runs on those of other packages.

Whoever adds a builder adds its name to `BUILDERS`; this file then tests it without being touched (parameters that a
builder cannot do without stand in `tests/quick.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kanopy.extend.contracts.builders import CHECKS
from kanopy.hierarchy.builders.registry import BUILDERS
from tests.quick import BUILDER_NEEDS


@pytest.mark.parametrize("name", list(BUILDERS))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_contract_of_builders(name: str, check: Callable[..., Any]) -> None:
    assert BUILDERS[name].method == name
    check(BUILDERS[name], lambda kind: BUILDER_NEEDS.get((name, kind), BUILDER_NEEDS.get((name, ""), {})))
