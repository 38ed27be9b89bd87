"""Tables in a terminal: text for cards and facts, the screen, and the input of a person."""
