"""Data: opening a table, its columns and rows."""
