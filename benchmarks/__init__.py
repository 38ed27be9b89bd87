"""Benchmarks: ratios against a baseline measured in the same run, never tests with a time limit."""
