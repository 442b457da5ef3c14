"""The small parts that places are made of."""
