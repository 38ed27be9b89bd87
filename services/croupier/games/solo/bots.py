"""Soon."""

from croupier.games.bots import random_legal

sensible = random_legal
