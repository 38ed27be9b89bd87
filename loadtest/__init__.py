"""Thousands of players at real tables, each of whom referees all that he is told: `python -m loadtest --help`."""
