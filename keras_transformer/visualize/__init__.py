"""Plots of a Transformer's attention, training, and architecture. Requires the extra `visualize`."""
