"""Compares our answers to unseen questions of a Korean chat corpus with those of other systems."""
