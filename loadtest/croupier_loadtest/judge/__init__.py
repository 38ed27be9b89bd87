"""The judge of tables: by what their viewers received and by the records, with rules of its own.

Nothing here imports the services: `judge` is a pure function over a TableRecord, and `rules` is a second, plain
implementation of each game, written from the rules pages. docs/judge.md names all that it finds.
"""
