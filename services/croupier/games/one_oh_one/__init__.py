"""101 (Sto odno): shed your cards before the others do, and stay below 101. The rules are texts/rules.en.md."""
