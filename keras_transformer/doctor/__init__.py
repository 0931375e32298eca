"""The doctor: checks on the user's own machine, run or export, each with a measured value and advice."""
