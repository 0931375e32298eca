"""A trained run in the formats of other programs, each a folder that needs nothing of this package."""
