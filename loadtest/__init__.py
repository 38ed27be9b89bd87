"""The verification kit: judged load tests (`locust -f loadtest/locustfile.py --help`), fault runs, the simulation."""
