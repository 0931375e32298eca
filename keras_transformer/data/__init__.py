"""Corpora: reading, splitting, batching."""
