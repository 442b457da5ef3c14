"""The PostgreSQL server of the tests that read tables."""

from tests.table.conftest import postgres

__all__ = ["postgres"]
