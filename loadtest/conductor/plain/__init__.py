"""Plain Locust users, the second driver: people play in greenlets of a Locust process, with the blocking client."""
