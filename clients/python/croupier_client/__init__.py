"""The reference client of croupier."""
