"""Run folders and how their files are written."""
