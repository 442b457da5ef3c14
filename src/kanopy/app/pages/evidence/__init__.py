"""Risk and utility, attacks, and profiles of authorities."""
