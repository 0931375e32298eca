"""Conversations of film scripts."""
