"""What is made on first use: public names, so that importing a package costs nothing (PEP 562), and properties."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

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
