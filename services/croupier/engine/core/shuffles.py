"""Fair deals: every shuffle follows from a secret seed, committed to beforehand, and from the client seeds.

The stream of shuffle n of round r is HMAC-SHA256 in counter mode under a key of the secret seed and the client seeds;
numbers are drawn from it without modulo bias, and cards are shuffled by Fisher and Yates. See docs/decisions.
"""

import hashlib
import hmac
import struct
from collections.abc import Iterator, Sequence

from croupier.games.interface import CardsShuffled, ShuffleNeeded

SEED_BYTES = 32
MAX_CLIENT_SEED_BYTES = 64
LABEL = b"croupier shuffle 1"
REVISION_LABEL = b"croupier revision 1"
WORDS = 1 << 32


def commitment(seed: bytes) -> str:
    """Return the commitment to a secret seed, which is published before the game: SHA-256 in hexadecimal."""
    return hashlib.sha256(seed).hexdigest()


def revised_seed(seed: bytes, revision: int) -> bytes:
    """Return the secret seed of a revision of a table, from that of the first one, revision 0, which stays secret."""
    return hmac.digest(seed, REVISION_LABEL + struct.pack(">I", revision), "sha256") if revision else seed


def stream_key(seed: bytes, client_seeds: Sequence[bytes]) -> bytes:
    """Return the key of all shuffles of a table, from its secret seed and its client seeds by seat."""
    added = b"".join(struct.pack(">I", len(client_seed)) + client_seed for client_seed in client_seeds)
    return hmac.digest(seed, LABEL + added, "sha256")


def shuffle(key: bytes, needed: ShuffleNeeded) -> CardsShuffled:
    """Return the only shuffle that the key allows."""
    words = _words(key, needed.round_number, needed.shuffle_number)
    cards = list(needed.cards)
    for last in range(len(cards) - 1, 0, -1):
        chosen = below(words, last + 1)
        cards[last], cards[chosen] = cards[chosen], cards[last]
    return CardsShuffled(tuple(cards), tuple(below(words, bound) for bound in needed.draw_bounds))


def _words(key: bytes, round_number: int, shuffle_number: int) -> Iterator[int]:
    block = 0
    while True:
        yield from struct.unpack(
            ">8I", hmac.digest(key, struct.pack(">3I", round_number, shuffle_number, block), "sha256")
        )
        block += 1


def below(words: Iterator[int], bound: int) -> int:
    """Return the next of the random 32-bit words as a number below a bound, each equally likely."""
    # Skips words beyond the last full multiple of the bound, which would favour small numbers.
    limit = WORDS // bound * bound
    return next(word for word in words if word < limit) % bound
