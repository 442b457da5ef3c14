"""Evidence about releases that needs a run: attacks with people held back, and provenance for catalogues."""
