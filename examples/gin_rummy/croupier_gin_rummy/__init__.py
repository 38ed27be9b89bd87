"""Gin Rummy: meld your cards, knock with little deadwood, be the first with 100 points: see texts/rules.en.md."""
