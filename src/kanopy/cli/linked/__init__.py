"""Commands about several linked tables, and about releases over time."""
