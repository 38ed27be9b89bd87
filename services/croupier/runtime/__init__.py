"""The shared parts of all services: settings, server, logs, metrics, health, identity, database, errors."""
