"""The report on a run: scores, sample answers, training curves and settings on one HTML page."""
