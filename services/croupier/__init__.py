"""croupier: a backend for multiplayer card games."""
