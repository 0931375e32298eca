"""English and German captions."""
