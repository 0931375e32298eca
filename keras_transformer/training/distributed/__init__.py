"""Distributed training: clusters of processes, model parallelism, and Ray."""
