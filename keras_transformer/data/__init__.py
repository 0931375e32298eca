"""Corpora: loading, splitting, tokenizing and batching."""
