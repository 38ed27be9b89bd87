"""The lobby: players and their sign-ins, tables being formed, and matchmaking."""
