"""The part of the load test that runs in Locust's own processes, in greenlets; load processes beside them play."""
