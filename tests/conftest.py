"""What all tests share: property tests try the same examples on every machine, unless told to look for new ones."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("KANOPY_PROPERTIES", "repeatable"))
