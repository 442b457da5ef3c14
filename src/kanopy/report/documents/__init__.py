"""Documents that can be filed: one structure, written as a page, PDF, DOCX or JSON."""
