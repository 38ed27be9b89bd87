"""Shuffles, compared with the judge's own implementation of decision 5."""

from random import Random

from croupier.engine.core.shuffles import below, commitment, revised_seed, shuffle, stream_key
from croupier.games.interface import ShuffleNeeded
from croupier_loadtest.judge.deals import commitment_of, deal, table_key
from croupier_loadtest.judge.rules.interface import Shuffle


def test_the_judge_commits_and_shuffles_alike(seed: int) -> None:
    random = Random(seed)
    for number in range(100):
        secret = random.randbytes(32)
        added = [random.randbytes(random.choice((0, 1, 16, 64))) for _ in range(random.randrange(7))]
        cards = random.sample(range(53), number % 54)
        bounds = [random.randrange(1, 60) for _ in range(random.randrange(4))]
        place = (random.randrange(1, 40), random.randrange(1, 5))
        shuffled = shuffle(stream_key(secret, added), ShuffleNeeded(tuple(cards), tuple(bounds), *place))
        dealt, drawn = deal(table_key(secret, added), Shuffle(list(map(str, cards)), bounds, *place))
        assert (list(map(str, shuffled.cards)), list(shuffled.drawn)) == (dealt, drawn)
        assert commitment(secret) == commitment_of(secret)


def test_the_known_answer_is_unchanged() -> None:
    key = stream_key(bytes(range(32)), [b"", b"abc", b"\xff" * 64])
    assert key.hex() == "1f3611e22923fdf3865c3cf2587822f2469d545bd92dbc32b9ab50654a1d173f"
    shuffled = shuffle(key, ShuffleNeeded(tuple(range(52)), (4, 52), 2, 1))
    assert shuffled.cards[:10] == (23, 18, 44, 21, 40, 13, 16, 14, 51, 22)
    assert shuffled.drawn == (3, 5)


def test_seeds_of_revisions_are_unchanged() -> None:
    secret = bytes(range(32))
    assert revised_seed(secret, 0) == secret
    assert revised_seed(secret, 1).hex() == "87343c381c367dc9dc257eb55364d518cf046f2a504e66b9e2d13e3ae2d43f5a"
    assert len({revised_seed(secret, number) for number in range(100)}) == 100


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
