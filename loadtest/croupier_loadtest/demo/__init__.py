"""The command `croupier demo`: whole games by bots on services of their own, checked by the judge."""
