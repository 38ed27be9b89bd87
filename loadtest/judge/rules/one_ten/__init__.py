"""110, written from its rules page: `docs/rules/one_ten.md`."""

from loadtest.judge.rules.one_ten.table import OneTenTable

__all__ = ["OneTenTable"]
