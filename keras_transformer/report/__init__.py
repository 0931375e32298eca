"""What a run is, how it learned and how good its answers are, on one page."""
