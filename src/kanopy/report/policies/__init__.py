"""Profiles of authorities as data: what they require, where that stands, and how each requirement is checked.

A file per profile. `check` names a function of `kanopy.attacks.policy_checks`; a requirement without one is for a
person to judge. Texts are ours; every requirement cites title and section of its source.
"""
