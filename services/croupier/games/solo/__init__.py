"""Solo: win five tricks with a hidden partner or alone, without the Buck. The rules are docs/rules/solo.md."""
