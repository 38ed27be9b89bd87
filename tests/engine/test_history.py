"""A table's log in memory, which behaves like a list though most of it is packed."""

import tracemalloc
from random import Random

import pytest

from croupier.engine.core.history import CHUNK, History
from tests.engine.databases import entry

LENGTHS = (0, 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, 5 * CHUNK + 7)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_history_is_a_list_of_its_entries(length: int) -> None:
    history, entries = History("t1"), [entry(number, deadline=number) for number in range(1, length + 1)]
    for each in entries:
        history.append(each)
    assert len(history) == length
    assert list(history) == entries
    assert list(history.after(length // 3)) == entries[length // 3 :]
    assert [history[place] for place in range(-length, length)] == entries * 2
    for beyond in (length, -length - 1):
        with pytest.raises(IndexError):
            history[beyond]


def test_packed_entries_use_a_fraction_of_the_memory(seed: int) -> None:
    random = Random(seed)
    tracemalloc.start()
    try:
        history, before = History("t1"), tracemalloc.get_traced_memory()[0]
        for number in range(1, 20 * CHUNK):
            history.append(entry(number, request=random.randbytes(16).hex(), deadline=number))
        used = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # An unpacked entry uses more than twice as much.
    assert used < 250 * 20 * CHUNK
