"""Public names that are loaded on first use, so that importing a package costs nothing (PEP 562)."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


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
