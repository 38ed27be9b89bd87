"""The simulation: the services in one thread, with virtual time and a network, databases and faults from a seed."""
