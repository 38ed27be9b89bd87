"""Locust conducts: users, shapes, ramps, workers and statistics; swarms beside it play. Imports of it patch threads."""
