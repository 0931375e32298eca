"""Training past one device: a cluster of processes, models split among devices, Ray."""
