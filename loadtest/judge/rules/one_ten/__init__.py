"""110 once more, to be read beside docs/rules/one_ten.md, whose rule ids stand in the comments."""
