"""Players: sign-in, tokens and names."""
