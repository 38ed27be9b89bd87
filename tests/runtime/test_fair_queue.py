"""The keys of a queue take turns."""

import pytest

from croupier.runtime.fair_queue import FairQueue


def taken(queue: FairQueue[str]) -> str:
    return "".join(queue.take() for _ in range(len(queue)))


def filled(words: str) -> FairQueue[str]:
    """Return a queue with words of letters and numbers; the letter is the key."""
    queue: FairQueue[str] = FairQueue()
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
def test_keys_take_turns(put: str, order: str) -> None:
    assert taken(filled(put)) == order


def test_a_key_that_comes_later_is_next_after_those_that_wait() -> None:
    queue = filled("a1 a2 a3 a4")
    assert queue.take() == "a1"
    queue.put("b", "b1")
    assert taken(queue) == "a2b1a3a4"


def test_items_that_wait_no_longer_have_no_turn() -> None:
    queue = filled("a1 a2 b1")
    assert [queue.count(key) for key in "abc"] == [2, 1, 0]
    for key, item in (("a", "a1"), ("b", "b1"), ("b", "b1"), ("c", "c1")):
        queue.discard(key, item)
    assert (len(queue), bool(queue)) == (1, True)
    assert taken(queue) == "a2"
    assert not queue
    with pytest.raises(KeyError):
        queue.take()
