"""101 once more, to be read beside docs/rules/one_oh_one.md, whose rule ids stand in the comments."""
