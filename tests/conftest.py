"""What all tests share: property tests try the same examples on every machine, unless told to look for new ones,
the command is put together once, and linear algebra runs in one thread."""

from __future__ import annotations

import os
from functools import cache

import typer.main
import typer.testing
from hypothesis import settings

# Set before NumPy is loaded. Where several processes test, threads that wait for each other burn what the others need.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("KANOPY_PROPERTIES", "repeatable"))

# Typer reads the annotations of all commands anew at every call: three quarters of the time of one that is refused.
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)
