"""Attacks on a release, with a control group: what an attacker learns about the people in it and about others.

Singling out, linkability and inference are the three criteria of the opinion WP216 of the Article 29 Working Party
(2014); with membership, the intersection with an earlier release, and two attacks on minimal releases. Definitions:
`docs/how-to/attacks.md`.
"""
