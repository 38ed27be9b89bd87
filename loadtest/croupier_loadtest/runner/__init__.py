"""The part of the load test that runs in Locust's own processes, in greenlets; the players run in load processes."""
