"""Text normalization and tokenization."""
