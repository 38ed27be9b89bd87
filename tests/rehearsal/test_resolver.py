"""Names of a cluster: all pods that are ready, as old as a cache has them, and no answer to what is no question."""

import struct
from collections.abc import Sequence

import pytest

from rehearsal.resolver import Cached, answer

HOST, SIX = 1, 28


def question(name: str, kind: int = HOST, *, questions: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!6H", 7, 0x0100, questions, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", kind, 1)


def lookup(name: str) -> Sequence[str] | None:
    return {"engine": ["127.1.2.3", "127.1.2.4"], "scoring": []}.get(name)


def told(message: bytes) -> tuple[int, list[str]]:
    """The code of an answer and its addresses."""
    number, flags, questions, answers, *_ = struct.unpack_from("!6H", message)
    assert (number, questions, flags & 0x8100) == (7, 1, 0x8100)
    records = [message[len(message) - 16 * (left + 1) :][:16] for left in reversed(range(answers))]
    return flags & 0xF, [".".join(map(str, record[-4:])) for record in records]


def test_all_that_stand_behind_a_name_are_told() -> None:
    assert told(answer(question("engine"), lookup)) == (0, ["127.1.2.3", "127.1.2.4"])
    assert told(answer(question("ENGINE"), lookup)) == (0, ["127.1.2.3", "127.1.2.4"])


def test_a_name_behind_which_nobody_is_ready_is_a_name_all_the_same() -> None:
    assert told(answer(question("scoring"), lookup)) == (0, [])
    assert told(answer(question("engine", SIX), lookup)) == (0, [])
    assert told(answer(question("play.example"), lookup)) == (3, [])


@pytest.mark.parametrize("rubbish", [b"", b"x" * 11, question("engine")[:-3], question("engine", questions=2)])
def test_what_is_no_question_gets_no_answer(rubbish: bytes) -> None:
    with pytest.raises(ValueError, match=r"no question|one is expected"):
        answer(rubbish, lookup)


def test_an_answer_is_as_old_as_a_cache_has_it() -> None:
    now, there = [0.0], [["a"], ["b"], ["c"]]
    cached = Cached(lambda _: there.pop(0), 30, lambda: now[0])
    assert [cached("x"), cached("x")] == [["a"], ["a"]]
    now[0] = 30
    assert cached("x") == ["b"]


def test_that_nobody_is_there_yet_is_not_remembered() -> None:
    there: list[list[str]] = [[], ["a"]]
    cached = Cached(lambda _: there.pop(0), 30, lambda: 0)
    assert [cached("x"), cached("x")] == [[], ["a"]]
