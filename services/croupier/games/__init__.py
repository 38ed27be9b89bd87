"""The rules of the games: pure values, no input and output, no clock, no randomness of their own."""
