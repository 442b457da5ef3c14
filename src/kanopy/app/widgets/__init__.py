"""The elements that pages are made of."""
