"""Public names that are loaded on first use, so that importing a package costs nothing (PEP 562)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def lazy_names(
    package: dict[str, Any], homes: Mapping[str, Iterable[str]], modules: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package, given its `globals()`.

    `homes` says which names come from which module; `modules` are public names that are modules themselves.

    >>> get, names = lazy_names({"__name__": "example", "__all__": ["sqrt"]}, {"math": ["sqrt"]})
    >>> get("sqrt")(9.0), names()
    (3.0, ['sqrt'])
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    module_of = modules or {}

    def load(name: str) -> Any:
        if name in module_of:
            package[name] = importlib.import_module(module_of[name])
        elif name in home_of:
            package[name] = getattr(importlib.import_module(home_of[name]), name)
        else:
            raise AttributeError(f"{package['__name__']} has no attribute {name!r}")
        return package[name]

    return load, lambda: list(package["__all__"])
