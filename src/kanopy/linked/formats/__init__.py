"""Formats of clinical data that come as several tables."""
