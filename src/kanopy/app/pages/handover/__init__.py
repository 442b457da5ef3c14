"""Review, download, and what is stored."""
