"""Streams of changed tables."""
