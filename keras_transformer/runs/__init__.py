"""Run folders and their file formats."""
