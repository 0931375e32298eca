"""Text generation: model-independent search algorithms, and the functions that run them with a Transformer."""
