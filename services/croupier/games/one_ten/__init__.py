"""110: bid for the right to name trump, and be the first with 110 points. The rules are texts/rules.en.md."""
