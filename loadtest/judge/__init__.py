"""The referee: judges tables by what their viewers saw and by the records, with rules of his own.

Nothing here imports the services: `judge` is a pure function over a TableRecord, and `rules` is a second, plain
implementation of each game, written from the pages in docs/rules.
"""
