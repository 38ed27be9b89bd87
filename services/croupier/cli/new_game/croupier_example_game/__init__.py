"""Example Game for croupier."""
