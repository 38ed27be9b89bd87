"""101 (Sto odno): shed your cards before the others do, and stay below 101. The rules are docs/rules/one_oh_one.md."""
