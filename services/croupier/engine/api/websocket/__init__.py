"""A WebSocket of a table: connection, frames, and the PlayTable stream over it."""
