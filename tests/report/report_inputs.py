"""Texts that must not do harm in a page, and one that must not be in it."""

EVIL = '<script>alert("x")</script>'
WORSE = "\"' onload=x ]]> &amp; \x00\x1b </style></title>"
SECRET = "Zanzibar-unpublished"
