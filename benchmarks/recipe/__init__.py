"""Does training with default options work on many kinds of corpora?"""
