"""How good a run's answers are, measured on questions that it never met."""
