"""The names of the masking algorithms, for those who only ask whether an algorithm masks (no kernels are loaded)."""

MASKING_NAMES = ("fusion", "local-recoding", "semantic-microaggregation", "semantic-swapping")
