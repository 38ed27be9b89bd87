"""The services' metrics during a run: CPU, memory, growth, and counters compared with the clients' counts."""
