"""The pure part of the engine: log entries, their fold into a table, the clock, proposals, shuffles and replays."""
