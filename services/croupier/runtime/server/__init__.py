"""The life of a service: its ports, its interceptor, its tasks and its channels to others."""
