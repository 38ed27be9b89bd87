"""Shuffles, compared with a naive implementation of their documentation."""

import hashlib
import hmac
from random import Random

from croupier.engine.core.shuffles import below, commitment, shuffle, stream_key
from croupier.games.interface import ShuffleNeeded


def naive_shuffle(
    seed: bytes, client_seeds: list[bytes], cards: list[int], bounds: list[int], *place: int
) -> tuple[list[int], list[int]]:
    message = b"croupier shuffle 1"
    for client_seed in client_seeds:
        message += len(client_seed).to_bytes(4, "big") + client_seed
    key = hmac.new(seed, message, hashlib.sha256).digest()
    stream = b""
    for block in range(60):
        counter = b"".join(number.to_bytes(4, "big") for number in (*place, block))
        stream += hmac.new(key, counter, hashlib.sha256).digest()
    words = [int.from_bytes(stream[at : at + 4], "big") for at in range(0, len(stream), 4)]

    def naive_below(bound: int) -> int:
        while True:
            word = words.pop(0)
            if word < 2**32 - 2**32 % bound:
                return word % bound

    cards = list(cards)
    for last in reversed(range(1, len(cards))):
        other = naive_below(last + 1)
        cards[last], cards[other] = cards[other], cards[last]
    return cards, [naive_below(bound) for bound in bounds]


def test_the_shuffle_is_the_documented_one(seed: int) -> None:
    random = Random(seed)
    for number in range(100):
        secret = random.randbytes(32)
        added = [random.randbytes(random.choice((0, 1, 16, 64))) for _ in range(random.randrange(7))]
        cards = random.sample(range(53), number % 54)
        bounds = [random.randrange(1, 60) for _ in range(random.randrange(4))]
        place = (random.randrange(1, 40), random.randrange(1, 5))
        shuffled = shuffle(stream_key(secret, added), ShuffleNeeded(tuple(cards), tuple(bounds), *place))
        assert (list(shuffled.cards), list(shuffled.drawn)) == naive_shuffle(secret, added, cards, bounds, *place)


def test_the_known_answer_is_unchanged() -> None:
    key = stream_key(bytes(range(32)), [b"", b"abc", b"\xff" * 64])
    assert key.hex() == "1f3611e22923fdf3865c3cf2587822f2469d545bd92dbc32b9ab50654a1d173f"
    shuffled = shuffle(key, ShuffleNeeded(tuple(range(52)), (4, 52), 2, 1))
    assert shuffled.cards[:10] == (23, 18, 44, 21, 40, 13, 16, 14, 51, 22)
    assert shuffled.drawn == (3, 5)


def test_client_seeds_cannot_be_moved_between_seats() -> None:
    secret = bytes(32)
    keys = {stream_key(secret, added) for added in ([b"ab", b"c"], [b"a", b"bc"], [b"abc", b""], [b"", b"abc"], [])}
    assert len(keys) == 5


def test_words_with_modulo_bias_are_skipped() -> None:
    limit = 2**32 // 52 * 52
    assert below(iter([2**32 - 1, limit, limit - 1, 3]), 52) == 51
    assert below(iter([limit - 52]), 52) == 0
    assert below(iter([2**32 - 1]), 1) == 0
    assert below(iter([2**32 - 1]), 2) == 1


def test_the_commitment_is_the_hash_of_the_seed() -> None:
    assert commitment(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
