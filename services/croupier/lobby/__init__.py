"""The lobby: players, sign-in, tables being formed, quick match."""
