"""The PostgreSQL server and the small disk of the tests that read and write tables."""

from tests.table.conftest import postgres, tiny_disk

__all__ = ["postgres", "tiny_disk"]
