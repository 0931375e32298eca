"""User-defined corpora."""
