"""Tables in memory, their registry, their subscribers and their turn schedulers."""
