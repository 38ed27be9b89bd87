"""Cards as people write them, such as 10h, ♣J or jack of clubs, in the notation of the contract: TH, JC."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from croupier.cli.terminal.words import JOKER, RANKS, SUIT_NAMES, SUITS, SYMBOLS

_RANK_NAMES = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"]
_SUIT_WORDS: Mapping[str, str] = MappingProxyType(
    {
        form: letter
        for letter, name in zip(SUITS, SUIT_NAMES, strict=True)
        for form in (letter.lower(), name, name.removesuffix("s"), SYMBOLS[letter])
    }
)
_RANK_WORDS: Mapping[str, str] = MappingProxyType(
    {**dict(zip(_RANK_NAMES, RANKS, strict=True)), **{letter.lower(): letter for letter in RANKS}, "10": "T"}
)


def in_notation(typed: Sequence[str]) -> list[str]:
    """Return typed words with each card in notation; other words stay as they are."""
    words, at = [], 0
    while at < len(typed):
        card, length = _card_at([word.lower() for word in typed[at : at + 3]])
        words.append(card or typed[at])
        at += length
    return words


def _card_at(words: Sequence[str]) -> tuple[str, int]:
    """Return the card that the first words name, and how many they are; an empty card and 1 for none."""
    rank = _RANK_WORDS.get(words[0], "")
    if rank and words[1:2] == ["of"] and words[2:] and words[2] in _SUIT_WORDS:
        return rank + _SUIT_WORDS[words[2]], 3
    # "q s" may be two words: only a rank that is spelled out is joined to a suit.
    if rank and words[0] in _RANK_NAMES and len(words) > 1 and words[1] in _SUIT_WORDS:
        return rank + _SUIT_WORDS[words[1]], 2
    return _one_word(words[0]), 1


def _one_word(word: str) -> str:
    if word == "joker":
        return JOKER
    for rank, suit in ((word[:-1], word[-1:]), (word[1:], word[:1])):
        if rank in _RANK_WORDS and rank not in _RANK_NAMES and suit in _SUIT_WORDS:
            return _RANK_WORDS[rank] + _SUIT_WORDS[suit]
    return ""
