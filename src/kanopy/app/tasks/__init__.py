"""The tasks of worker processes: each function calls the library and returns plain data."""
