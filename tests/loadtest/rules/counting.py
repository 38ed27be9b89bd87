"""Counting lines (perft): in how many ways the next actions can go at a referee's table."""

import copy

from loadtest.judge.rules.interface import Table


def lines(table: Table, length: int) -> int:
    """How many lines of so many actions there are; one that ends earlier counts once."""
    if length == 0 or not table.to_act:
        return 1
    count = 0
    for seat in table.to_act:
        for action in table.legal(seat).actions:
            trial = copy.deepcopy(table)
            trial.act(seat, action)
            count += lines(trial, length - 1)
    return count


def counted(table: Table, told: str, most: int) -> list[int]:
    """The counts that a page tells for 1, 2, 3, ... actions, up to the first above `most`, counted again."""
    known = [int(count) for count in told.split()]
    wanted = next((number for number, count in enumerate(known) if count > most), len(known))
    assert wanted, f"no count of {told} is that small"
    found = [lines(table, length) for length in range(1, wanted + 1)]
    assert found == known[:wanted]
    return found
