"""What may be done with missing and unknown values, in words."""

MISSING_POLICIES = {
    "as-value": "a missing value is a value of its own",
    "suppress": "records with a missing value are suppressed",
    "error": "a missing value is an error",
}
UNKNOWN_POLICIES = {
    "error": "a value that the hierarchy does not know is an error",
    "suppress": "records with a value that the hierarchy does not know are suppressed",
    "add": "a value that the hierarchy does not know is added directly under its top",
}
