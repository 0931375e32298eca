"""Training: the paper's learning rate schedule and loss, and the trainer of run folders."""
