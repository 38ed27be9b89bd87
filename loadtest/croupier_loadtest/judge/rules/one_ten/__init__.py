"""110 once more, to be read beside its rules page, whose rule ids stand in the comments."""
