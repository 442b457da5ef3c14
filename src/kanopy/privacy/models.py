"""Privacy models: tiny frozen dataclasses that say which classes of a release are not safe enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from kanopy.classes import Classes
from kanopy.errors import JobError

Mask = npt.NDArray[np.bool_]


class Model(Protocol):
    """What a search needs to know about a privacy model."""

    name: ClassVar[str]
    monotonic: ClassVar[bool]
    """Whether merging classes that satisfy the model always gives a class that satisfies it, so that
    generalizing further never needs more suppression. Searches prune by this."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns it looks at."""
        ...

    def violated(self, classes: Classes) -> Mask:
        """Per class, whether it is not safe."""
        ...

    def explain(self) -> str:
        """One sentence for the report."""
        ...


@dataclass(frozen=True)
class KAnonymity:
    """Every published combination of quasi-identifiers belongs to at least `k` rows (Samarati 2001, Sweeney 2002).

    >>> import numpy as np
    >>> KAnonymity(3).violated(Classes(np.array([5, 2, 3]))).tolist()
    [False, True, False]
    """

    k: int
    name: ClassVar[str] = "k"
    monotonic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 2:
            raise JobError(
                f"k must be a whole number of at least 2, not {self.k!r}: with k = 1 every row may stand alone."
            )

    @property
    def sensitive(self) -> tuple[str, ...]:
        return ()

    def violated(self, classes: Classes) -> Mask:
        return classes.sizes < self.k

    def explain(self) -> str:
        return f"Every published combination of quasi-identifiers is shared by at least {self.k} rows."
