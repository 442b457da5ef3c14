"""One file per place of the page."""
