"""Releases over time: the ledger of what each said of people, and the promise over all of them."""
