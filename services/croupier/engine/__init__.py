"""The engine: tables, their logs, clocks, bots, streams and replays."""
