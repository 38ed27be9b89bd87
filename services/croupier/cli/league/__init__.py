"""Matches between bots without services, and their statistics."""
