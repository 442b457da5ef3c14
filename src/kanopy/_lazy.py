"""What is made on first use: public names, so that importing a package costs nothing (PEP 562), and properties."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from collections import UserDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from kanopy._errors import KanopyError

T = TypeVar("T")

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """That of Python 3.12, without the lock that all objects of a class shared before: threads that each work on
        an object of their own waited for each other while one of them made, say, its tables."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


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


class Named(UserDict[str, T]):
    """Things by name, each given by where it stands (`module:Thing`) and loaded when it is first asked for.

    The dictionaries of builders, models, algorithms and readers are such: adding one is adding a line. `find` answers
    unknown names with the near misses among the known ones; `what` they are called, and the error, are for that.

    >>> known = Named({"k": "kanopy.privacy.sizes:KAnonymity"}, "privacy model")
    >>> list(known), known.find("k")(5)
    (['k'], KAnonymity(k=5))
    """

    def __init__(self, places: Mapping[str, str], what: str, error: type[KanopyError] | None = None) -> None:
        super().__init__(cast(Mapping[str, T], places))
        self.what, self.error = what, error

    def __getitem__(self, name: str) -> T:
        found = self.data[name]
        if isinstance(found, str):
            module, _, thing = found.partition(":")
            found = self.data[name] = getattr(importlib.import_module(module), thing)
        return found

    def find(self, name: str) -> T:
        """What is meant by a name; `-` and `_` are the same in it."""
        from kanopy._errors import called

        return self[called(name, self, self.what, self.error)]
