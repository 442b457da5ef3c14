"""Things by name: those that come with Kanopy, those of installed packages, and those that a program passes itself.

A package offers what it has through an entry point, such as this one in its `pyproject.toml`:

    [project.entry-points."kanopy.models"]
    even = "my_package:Even"

Nothing of a package is looked for before a name is asked that Kanopy does not have, or all names are listed. What is
wrong with a package (it does not load, its class is not complete, another one claims the same name) is an error that
names it, once its name is asked for; lists leave it out.
"""

from __future__ import annotations

import importlib
import re
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from kanopy._errors import JobError, KanopyError, called, short, some
from kanopy._lazy import cached_property

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
_USABLE = re.compile(r"[.]?[a-z0-9]+([._-][a-z0-9]+)*")


class Named(UserDict[str, T], Generic[T]):
    """Things by name, each given by where it stands (`module:Thing`) and loaded when it is first asked for.

    The dictionaries of builders, models, algorithms and readers are such: adding one is adding a line. `find` answers
    unknown names with the near misses among the known ones; `what` they are called, and the error, are for that.
    `group` is the name of the entry points through which packages add to them, and `faults` says what is wrong with a
    thing that does not come with Kanopy.

    >>> known = Named({"k": "kanopy.privacy.sizes:KAnonymity"}, "privacy model")
    >>> list(known), known.find("k")(5)
    (['k'], KAnonymity(k=5))
    """

    def __init__(
        self,
        places: Mapping[str, Any],
        what: str,
        error: type[KanopyError] | None = None,
        group: str = "",
        faults: Callable[[Any], list[str]] | None = None,
    ) -> None:
        super().__init__(cast(Mapping[str, T], places))
        self.what, self.error, self.group, self.faults = what, error or JobError, group, faults
        self.built_in = tuple(places)
        self.adopted: dict[str, T] = {}
        """Things that a program passed itself: found by name in this process, and not listed."""

    def __getitem__(self, name: str) -> T:
        if name not in self.data:
            if name in self.adopted:
                return self.adopted[name]
            if name not in self.offered:
                raise KeyError(name)
            return self._loaded(name)
        entry = self.data[name]
        if isinstance(entry, str):
            module, _, thing = entry.partition(":")
            entry = self.data[name] = getattr(importlib.import_module(module), thing)
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self.data or name in self.adopted or name in self.offered

    def __iter__(self) -> Iterator[str]:
        """The names of all that can be used: a package that cannot is left out of lists."""
        yield from self.data
        for name in sorted(self.offered):
            try:
                self._loaded(name)
            except self.error:
                continue
            yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def usable(self) -> list[str]:
        """The names of all that a job may give, also of those that the program passed itself."""
        return [*self, *self.adopted]

    def find(self, name: str) -> T:
        """What is meant by a name; `-` and `_` are the same in it."""
        for spelled in (name, name.replace("_", "-"), name.replace("-", "_")):
            if spelled in self:
                return self[spelled]
        return self[called(name, self, self.what, self.error)]

    @cached_property
    def offered(self) -> dict[str, list[EntryPoint]]:
        """What installed packages offer under names that Kanopy does not have."""
        if not self.group:
            return {}
        from importlib.metadata import entry_points

        offered_names: dict[str, list[EntryPoint]] = {}
        for entry_point in entry_points(group=self.group):
            if entry_point.name not in self.built_in:
                offered_names.setdefault(entry_point.name, []).append(entry_point)
        return offered_names

    def _loaded(self, name: str) -> T:
        """What a package offers under a name; an error that names the package if it cannot be used."""
        first, *others = self.offered[name]
        if others:
            packages = [_package(entry_point) for entry_point in self.offered[name]]
            raise self.error(
                f"The {self.what} {name!r} is claimed by several packages: {', '.join(packages)}. Uninstall all but "
                "one."
            )
        if name not in self._known:
            try:
                loaded = first.load()
                wrong = self.faults_of(loaded, name)
            except (Exception, SystemExit) as error:
                reason = (str(error).splitlines() or [""])[0]
                loaded, wrong = None, [f"it cannot be loaded ({type(error).__name__}: {reason})"]
            self._known[name] = (loaded, wrong)
        loaded, wrong = self._known[name]
        if wrong:
            raise self.error(
                f"The {self.what} {name!r} of the package {_package(first)} cannot be used: {'; '.join(wrong)}. Update "
                "the package, or uninstall it."
            )
        return cast(T, loaded)

    @cached_property
    def _known(self) -> dict[str, tuple[Any, list[str]]]:
        """What was loaded from packages, and what is wrong with it: found out once."""
        return {}

    def faults_of(self, thing: Any, name: str | None = None) -> list[str]:
        """What is wrong with a thing that does not come with Kanopy; `name` is the one it is offered under."""
        its_name = name_of(thing)
        wrong = [] if self.faults is None else list(self.faults(thing))
        if not wrong and its_name is not None and not _USABLE.fullmatch(its_name):
            wrong.append(f"its name {short(its_name)} is not made of small letters, digits and hyphens")
        if not wrong and name is not None and its_name is not None and its_name != name:
            wrong.append(f"it calls itself {its_name!r}")
        return wrong

    def adopt(self, thing: T) -> str:
        """The name of a class that a program passes itself; from now on it is found by that name in this process.

        A class of the same name that was defined again, as in a notebook, takes the place of the one before.
        """
        name = name_of(thing) or ""
        if wrong := [] if name in self.data and self[name] is thing else self.faults_of(thing):
            raise self.error(f"{_described(thing)} is not a usable {self.what}: {'; '.join(wrong)}.")
        if name in self.data or name in self.offered:
            if self[name] is thing:
                return name
            owner = (
                "Kanopy"
                if name in self.built_in
                else some([_package(entry_point) for entry_point in self.offered.get(name, ())])
            )
            raise self.error(
                f"{_described(thing)} has the name {name!r}, which is the name of a {self.what} of {owner}. Rename it."
            )
        adopted_before = self.adopted.get(name)
        if adopted_before is not None and _described(adopted_before) != _described(thing):
            raise self.error(
                f"{_described(thing)} and {_described(adopted_before)} have the same name {name!r}. Rename one of them."
            )
        self.adopted[name] = thing
        return name


def name_of(thing: Any) -> str | None:
    """How a class calls itself; `None` for a function, which has the name it is offered under."""
    if not isinstance(thing, type) and not hasattr(thing, "name"):
        return None
    name_given = getattr(thing, "name", None) or getattr(thing, "method", None)
    return name_given if isinstance(name_given, str) else ""


def _described(thing: Any) -> str:
    """A class by where it was defined."""
    definition = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{definition.__module__}.{definition.__qualname__}"


def _package(offer: EntryPoint) -> str:
    """The package that offers something, with its version."""
    return f"{offer.dist.name} {offer.dist.version}" if offer.dist is not None else offer.value
