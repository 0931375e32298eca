"""Quality check of a corpus: statistics, problems, and recommended settings for training."""
