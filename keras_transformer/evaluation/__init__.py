"""Evaluation of runs on unseen questions: scores, confidence intervals, calibration, golden answers."""
