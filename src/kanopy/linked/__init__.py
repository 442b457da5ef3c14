"""Several tables about the same people, and releases over time: the promise holds for everything that can be joined."""
