"""Training: the paper's schedule and loss, and the trainer that keeps a run folder."""
