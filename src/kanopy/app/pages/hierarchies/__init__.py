"""Hierarchies: the tree, edits by hand, suggestions, methods and classifications."""
