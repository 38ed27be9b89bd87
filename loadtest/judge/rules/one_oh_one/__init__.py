"""The judge's rules of 101, in the order of docs/rules/one_oh_one.md, whose rule ids are in the comments."""
