"""Folds of stored logs, away from the event loop: the port, the folding process, and the inline folder."""
