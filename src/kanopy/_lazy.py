"""Public names that are loaded on first use, so that importing a package costs nothing (PEP 562)."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, TypeVar, cast

T = TypeVar("T")


def lazy_names(package: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, given its `globals()`.

    The stub beside it (`__init__.pyi`) imports every public name from its home: the one list that type checkers read
    and that is followed here.

    >>> import kanopy.privacy
    >>> get, names, public = lazy_names({"__name__": "kanopy.privacy", "__file__": kanopy.privacy.__file__})
    >>> get("KMap")(5), names() == public, "KMap" in public
    (KMap(k=5), True, True)
    """
    stub = ast.parse(Path(package["__file__"]).with_name("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    home_of = {alias.name: str(node.module) for node in imports for alias in node.names}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"{package['__name__']} has no attribute {name!r}")
        home = home_of[name]
        if home == package["__name__"]:  # a room of the package itself
            package[name] = importlib.import_module(f"{home}.{name}")
        else:
            package[name] = getattr(__import__(home, fromlist=[name]), name)
        return package[name]

    public = sorted(home_of)
    return load, lambda: public, public


class Named(MutableMapping[str, T]):
    """Things by name, each given by where it stands (`module:Thing`) and loaded when it is first asked for.

    The dictionaries of builders, models, algorithms and readers are such: adding one is adding a line.

    >>> known = Named({"k": "kanopy.privacy.sizes:KAnonymity"})
    >>> list(known), known["k"](5)
    (['k'], KAnonymity(k=5))
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._known: dict[str, str | T] = dict(places)

    def __getitem__(self, name: str) -> T:
        found = self._known[name]
        if isinstance(found, str):
            module, _, thing = found.partition(":")
            found = self._known[name] = getattr(importlib.import_module(module), thing)
        return cast(T, found)

    def __setitem__(self, name: str, thing: T) -> None:
        self._known[name] = thing

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self)})"
