"""Tables take turns, and a queue has room for so many items."""

import pytest

from croupier.engine.bots.fair_queue import FairQueue


def taken(queue: FairQueue[str]) -> str:
    return "".join(queue.take() for _ in range(len(queue)))


def filled(words: str, max_items: int = 100, max_table_items: int = 100) -> FairQueue[str]:
    """Return a queue with words of letters and numbers; the letter is the table."""
    queue: FairQueue[str] = FairQueue(max_items, max_table_items)
    for word in words.split():
        queue.put(word[0], word)
    return queue


@pytest.mark.parametrize(
    ("put", "order"),
    [
        ("", ""),
        ("a1 a2 a3", "a1a2a3"),
        ("a1 a2 a3 b1", "a1b1a2a3"),
        ("a1 a2 a3 b1 b2 c1", "a1b1c1a2b2a3"),
        ("b1 a1 a2 a3", "b1a1a2a3"),
    ],
)
def test_tables_take_turns(put: str, order: str) -> None:
    assert taken(filled(put)) == order


def test_a_table_that_comes_later_is_next_after_those_that_wait() -> None:
    queue = filled("a1 a2 a3 a4")
    assert queue.take() == "a1"
    assert queue.put("b", "b1")
    assert taken(queue) == "a2b1a3a4"


def test_there_is_room_for_so_many_items_of_a_table_and_in_all() -> None:
    queue = filled("a1 a2 b1 b2 c1", max_items=4, max_table_items=2)
    assert len(queue) == 4
    assert not queue.put("a", "a3")
    assert not queue.put("c", "c1")
    queue.take()
    assert queue.put("c", "c1")
    assert taken(queue) == "b1a2c1b2"


def test_items_that_wait_no_longer_leave_room() -> None:
    queue = filled("a1 a2 b1", max_items=3)
    for table_id, item in (("a", "a1"), ("b", "b1"), ("b", "b1"), ("c", "c1")):
        queue.discard(table_id, item)
    assert len(queue) == 1
    assert queue.put("b", "b2")
    assert taken(queue) == "a2b2"
    with pytest.raises(KeyError):
        queue.take()
