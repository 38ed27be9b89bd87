"""Recomputes deals from the seed, as decision 5 defines them."""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from itertools import count

from croupier_loadtest.judge.rules.interface import Card, Shuffle

_LABEL = b"croupier shuffle 1"
_WORD_BYTES = 4
_WORDS = 2**32


def commitment_of(seed: bytes) -> str:
    """Return the commitment of a seed, which is shown before the game."""
    return hashlib.sha256(seed).hexdigest()


def table_key(seed: bytes, added: Sequence[bytes]) -> bytes:
    """Return the key of all shuffles of a table; `added` are the seats' client seeds, empty for none."""
    message = _LABEL
    for one in added:
        message += _number(len(one)) + one
    return hmac.digest(seed, message, "sha256")


def deal(key: bytes, shuffle: Shuffle) -> tuple[list[Card], list[int]]:
    """Return the order of the cards that follows from the key, and the numbers drawn after it."""
    words = _stream(key, shuffle.round_number, shuffle.shuffle_number)
    cards = list(shuffle.cards)
    for i in range(len(cards) - 1, 0, -1):
        j = _draw(words, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return cards, [_draw(words, bound) for bound in shuffle.draw_bounds]


def _stream(key: bytes, round_number: int, shuffle_number: int) -> Iterator[int]:
    for block_number in count():
        block = hmac.digest(key, _number(round_number) + _number(shuffle_number) + _number(block_number), "sha256")
        for start in range(0, len(block), _WORD_BYTES):
            yield int.from_bytes(block[start : start + _WORD_BYTES])


def _draw(words: Iterator[int], bound: int) -> int:
    while True:
        word = next(words)
        if word < _WORDS // bound * bound:
            return word % bound


def _number(value: int) -> bytes:
    return value.to_bytes(_WORD_BYTES)
