"""The part of an engine that depends on other engines: liveness, notifications, catch-up, clock, housekeeping."""
