"""President: be the first without cards, or hand your best ones to those who were. The rules are texts/rules.en.md."""
