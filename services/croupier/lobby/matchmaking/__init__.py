"""Quick match: tickets, and players with the same criteria."""
