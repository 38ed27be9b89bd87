"""Fault runs: real processes under load, with one fault after another, judged after each."""
