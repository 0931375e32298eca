"""Does training without options work on corpora of many kinds?"""
