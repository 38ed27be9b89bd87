"""Computer players that search: the worker pool and its processes."""
