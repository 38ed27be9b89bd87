"""Solo: win five tricks, with a hidden partner or alone, and do not end as the Buck: see texts/rules.en.md."""
