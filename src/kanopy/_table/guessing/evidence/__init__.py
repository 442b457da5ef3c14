"""Evidence about the role of a column: facts, what they weigh for each role, and what follows from all of them."""
