"""Attackers: guests who try to exhaust the services or to read private tables, while other users play.

`ATTACKS` of attack_process.py has each attack by name, with the refusals by which the services limit it.
"""
