"""Solo once more, to be read beside docs/rules/solo.md, whose rule ids stand in the comments."""
