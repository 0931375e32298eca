"""The benchmarks of the project: `python -m benchmarks`."""
