"""What the worker processes do: each function calls the library and answers with plain data."""
