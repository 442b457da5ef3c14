"""Examples of public names are run where they are defined, although their module is the path of users."""

from __future__ import annotations

import doctest
import inspect
from types import ModuleType
from typing import Any

_from_module = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


def _from_home(self: doctest.DocTestFinder, module: ModuleType | None, thing: Any) -> bool:
    if (inspect.isclass(thing) or inspect.isroutine(thing)) and "__home__" in getattr(thing, "__dict__", {}):
        return module is not None and bool(thing.__dict__["__home__"] == module.__name__)
    return bool(_from_module(self, module, thing))


doctest.DocTestFinder._from_module = _from_home  # type: ignore[attr-defined]
