"""Scoring: ledger, score sheets, statistics and leaderboards."""
