"""Releases within a margin of the least loss: chosen by a secret, so that being minimal tells nothing."""
