"""Models trained with other programs, as runs of this package."""
