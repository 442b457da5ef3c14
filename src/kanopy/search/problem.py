"""The only judge of a candidate (in progress)."""

from __future__ import annotations

from dataclasses import dataclass

from kanopy.classes import Domain
from kanopy.privacy.models import KAnonymity, Model


@dataclass(frozen=True, eq=False)
class Problem:
    """A domain, what "safe" means, and what counts as loss."""

    domain: Domain
    models: tuple[Model, ...]
    weights: tuple[float, ...] = ()
    max_suppressed_rows: int = 0

    @property
    def k(self) -> int:
        """The class size that the models ask for."""
        return max((model.k for model in self.models if isinstance(model, KAnonymity)), default=1)
