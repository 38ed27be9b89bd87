"""Fault runs: real processes under load, broken one after the other, and judged after each fault."""
