"""Public names: where users import them from, loaded on first use so that importing a package costs nothing (PEP 562),
and what becomes of those that retire. Also properties that are made on first use."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ForwardRef, TypeVar

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


def public(room: str) -> Callable[[T], T]:
    """Mark a class or function as a public name of `room`: its `__module__` is the path that users import it from.

    Error messages, help and pickles then name what stays, not the file of today. Annotations of a class are still
    resolved where it is defined.

    >>> import kanopy
    >>> kanopy.NoSolution.__module__, kanopy.check.__module__, kanopy.privacy.KMap.__module__
    ('kanopy', 'kanopy', 'kanopy.privacy')
    """

    def mark(thing: T) -> T:
        home = thing.__module__
        if isinstance(thing, type):
            types = vars(thing).get("__annotations__", {})
            for name, text in types.items():
                if isinstance(text, str):
                    types[name] = ForwardRef(text, is_argument=False, module=home, is_class=True)
        thing.__home__, thing.__module__ = home, room  # type: ignore[attr-defined]
        return thing

    return mark


def deprecated(old: str, instead: str, since: str, until: str, *, stacklevel: int = 3) -> None:
    """Warn whoever uses `old`, which still works: what to use instead, and the version that no longer has it.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     deprecated("kanopy.old", "kanopy.new", since="1.2", until="2.0")
    >>> print(caught[0].message)
    kanopy.old is deprecated since Kanopy 1.2 and is removed in 2.0. Use kanopy.new instead.
    """
    text = f"{old} is deprecated since Kanopy {since} and is removed in {until}. Use {instead} instead."
    warnings.warn(text, DeprecationWarning, stacklevel=stacklevel)


def lazy_names(
    package: dict[str, Any], retired: Mapping[str, tuple[str, str, str]] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, given its `globals()`.

    The stub beside it (`__init__.pyi`) imports every public name from its home: the one list that type checkers read
    and that is followed here. `retired` has former names, each with the present one, the version that renamed it and
    the version that forgets it: they work, with a warning, and are not listed.

    >>> import kanopy.privacy
    >>> get, names, public = lazy_names({"__name__": "kanopy.privacy", "__file__": kanopy.privacy.__file__})
    >>> get("KMap")(5), names() == public, "KMap" in public
    (KMap(k=5), True, True)
    """
    stub = ast.parse(Path(package["__file__"]).with_name("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    home_of = {alias.name: str(node.module) for node in imports for alias in node.names}

    def load(name: str) -> Any:
        if retired and name in retired:
            present, since, until = retired[name]
            deprecated(f"{package['__name__']}.{name}", f"{package['__name__']}.{present}", since, until)
            return load(present)
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
