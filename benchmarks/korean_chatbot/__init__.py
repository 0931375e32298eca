"""How well our answers, and those of others, suit questions of a Korean chat corpus that nobody met in training."""
