"""The judge's rules of Solo, in the order of its rules page, whose rule ids are in the comments."""
