"""What a column probably is, from its name, its values and its place among the others; `kanopy init` asks here."""
