"""A corpus of the user's own."""
