"""What ties the rows of one person together in a release, and how rare whole traces are then."""
