"""Pictures of what a Transformer is and does. Needs the extra `visualize`."""
