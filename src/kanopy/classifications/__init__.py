"""Official classifications (ICD, NACE, countries of the United Nations) as sources of hierarchies.

`registry.py` loads one by name, by version or from a user's file; `matching.py` tells which code a value means;
`recognition.py` tells which classification a column belongs to. Hierarchies are built from them in
`kanopy/hierarchy/builders/official/classified.py`.
"""
