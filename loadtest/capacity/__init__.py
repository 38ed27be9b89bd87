"""What services of our own hold while nobody acts: tables with streams in memory, and tables asleep in the log."""
