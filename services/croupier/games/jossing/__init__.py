"""Jøssing: say how many tricks you will win, and win exactly so many. The rules are texts/rules.en.md."""
