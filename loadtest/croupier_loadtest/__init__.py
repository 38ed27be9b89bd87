"""The verification kit: judged load tests (`croupier load --help`), fault runs, the simulation."""
