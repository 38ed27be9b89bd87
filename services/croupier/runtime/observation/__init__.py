"""What operators see: logs, metrics, traces and the monitor of the event loop."""
