"""The conformance kit: the laws that every game has to obey, checked on tables that are played from a seed.

`check_game` is a plain function, which the command `croupier games GAME --check`, tests of packages and croupier's own
tests call.
"""

from croupier.conformance.check import Checked, Failure, Report, check_game

__all__ = ["Checked", "Failure", "Report", "check_game"]
