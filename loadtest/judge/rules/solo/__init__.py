"""The judge's rules of Solo, in the order of docs/rules/solo.md, whose rule ids are in the comments."""
