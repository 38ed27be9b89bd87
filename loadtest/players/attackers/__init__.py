"""Attackers: strangers who try to exhaust the services, or to see what is private, beside players who play.

`ATTACKS` of registry.py has each attack by name, with the refusals by which the services limit it.
"""
