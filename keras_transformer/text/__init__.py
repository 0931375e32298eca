"""Text: its normal form, and the tokenizer between text and token ids."""
