"""The section sheet of Jøssing: the line that is written when a section is over."""

from collections.abc import Sequence

from croupier.games.cards import NOTATION, SUIT_NAMES, SUITS
from croupier.games.facts import Count, RoundScore, Seat
from croupier.games.jossing.state import Section


def line(
    section: Section,
    leader: Seat,
    bids: Sequence[int],
    won: Sequence[int],
    points: tuple[int, ...],
    totals: tuple[int, ...],
) -> RoundScore:
    """Return the line of a section that was led by a seat at first; bids, tricks, points and totals are by seat."""
    return RoundScore(
        section.number,
        points,
        totals,
        tuple([f"bid {bid}, won {tricks}" for bid, tricks in zip(bids, won, strict=True)]),
        f"section {section.number}, {section.size} card{'s'[: section.size > 1]}, trump {SUIT_NAMES[section.trump]}",
        (
            ("section", str(section.number)),
            ("cards", str(section.size)),
            ("dealer", str(section.dealer)),
            ("indicator", NOTATION[section.indicator]),
            ("trump", SUITS[section.trump]),
            ("leader", str(leader)),
            ("bids", " ".join(map(str, bids))),
            ("tricks", " ".join(map(str, won))),
        ),
        _counts(bids, won),
    )


def _counts(bids: Sequence[int], won: Sequence[int]) -> tuple[Count, ...]:
    """Return the counts for statistics: bids, those that were hit, and tricks."""
    found = [Count("bids", seat) for seat in range(len(bids))]
    found += [Count("bids_hit", seat) for seat, bid in enumerate(bids) if bid == won[seat]]
    found += [Count("tricks_won", seat, tricks) for seat, tricks in enumerate(won) if tricks]
    return tuple(found)
