"""Tables in memory: the registry, live tables, their subscribers and their turn schedulers."""
