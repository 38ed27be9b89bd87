"""What every service shares: settings, server, logs, metrics, health, identity, database, errors."""
