"""Many releases of one table: algorithms compared, and the map of risk and utility."""
