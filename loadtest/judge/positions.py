"""What viewers saw at each sequence, held against the table as the judge's rules have it."""

from collections.abc import Iterator, Mapping

from croupier_api.v1 import table_pb2
from loadtest.judge.knowledge import is_face_down
from loadtest.judge.notation import cards_of, legal_of, legal_texts
from loadtest.judge.proof import Position
from loadtest.judge.rules.interface import Legal, Pile
from loadtest.judge.streams import Followed, Moment
from loadtest.judge.violations import Found, Invariant

_NOTHING = Legal([], [])
_UNCOUNTED_PHASES = {"one_ten": frozenset({"kitty", "reshuffle"})}
"""While cards are exchanged in 110 others see the hands as they were dealt (110-VIS-1, 110-VIS-4)."""
_LAYS_HANDS_OPEN = frozenset({"thulla", "one_oh_one"})
"""After a round the hands that are left are shown (THU-VIS-4, 101-VIS-4); in other games they never are."""
_ROUND_IS_OVER = frozenset({"deal", "over"})
"""Phases in which no cards are in play."""


def views_against_rules(
    game: str, one: Followed, numbers: Mapping[int, int], positions: Mapping[int, Position]
) -> Iterator[Found]:
    """Where a viewer saw something else than the rules, played by the judge, would show him."""
    for sequence, moment in one.moments.items():
        position = positions.get(numbers.get(sequence, -1))
        if position is None:
            continue
        is_counted = moment.view.phase not in _UNCOUNTED_PHASES.get(game, ())
        for invariant, detail in _differences(moment, position, one.seat, is_counted=is_counted):
            yield invariant, sequence, f"{one.name}: {detail}"
        is_open = game in _LAYS_HANDS_OPEN and moment.view.phase in _ROUND_IS_OVER
        for other, hand in enumerate(moment.view.seats):
            if hand.cards and other != one.seat and not is_open:
                yield Invariant.HIDDEN_CARD_SEEN, sequence, f"{one.name} was shown the hand of seat {other}"
        told = legal_texts(legal_of(moment.legal_actions))
        own = legal_texts(_NOTHING if one.seat is None else position.legal.get(one.seat, _NOTHING))
        if told != own:
            yield Invariant.RULES_BROKEN, sequence, f"{one.name} was told he may {told}, by the rules {own}"


def _differences(
    moment: Moment, position: Position, seat: int | None, *, is_counted: bool
) -> Iterator[tuple[Invariant, str]]:
    view = moment.view
    told = {
        "round": (view.round, position.round_number),
        "seats to act": (list(view.seats_to_act), sorted(position.legal)),
        "ranking": ([list(group.seats) for group in view.ranking], position.ranking or []),
    }
    for what, (it, own) in told.items():
        if it != own:
            yield Invariant.RULES_BROKEN, f"the {what} told is {it}, by the rules {own}"
    scores = [hand.score for hand in view.seats]
    if scores != position.scores:
        yield Invariant.RESULT_DIFFERS, f"the scores told are {scores}, by the rules {position.scores}"
    for other, hand in enumerate(view.seats):
        yield from _hand_differs(hand, position.hands[other], other, is_own=other == seat, is_counted=is_counted)
    yield from _piles_differ(view, position.piles, seat, is_counted=is_counted)


def _hand_differs(
    hand: table_pb2.SeatView, held: list[str], seat: int, *, is_own: bool, is_counted: bool
) -> Iterator[tuple[Invariant, str]]:
    if (is_own or is_counted) and hand.card_count != len(held):
        yield Invariant.VIEW_DIFFERS, f"seat {seat} is shown with {hand.card_count} cards, it has {len(held)}"
    if (is_own or hand.cards) and sorted(cards_of(hand.cards)) != sorted(held):
        yield Invariant.VIEW_DIFFERS, f"the hand of seat {seat} is shown as {cards_of(hand.cards)}, it is {held}"


def _piles_differ(
    view: table_pb2.TableView, piles: Mapping[str, Pile], seat: int | None, *, is_counted: bool
) -> Iterator[tuple[Invariant, str]]:
    shown = {pile.name: pile for pile in view.piles}
    for name in shown.keys() | piles.keys():
        pile, own = shown.get(name, table_pb2.Pile()), piles.get(name, Pile([], None))
        is_known = own.seen_by is None or seat in own.seen_by
        if not is_counted and is_face_down(name) and not (is_known and name in shown and name in piles):
            continue
        if pile.count != len(own.cards):
            yield Invariant.VIEW_DIFFERS, f"{name} is shown with {pile.count} cards, it has {len(own.cards)}"
        if pile.cards and not is_known:
            yield Invariant.HIDDEN_CARD_SEEN, f"the cards of {name} are shown"
        if is_known:
            told = [card.seat if card.HasField("seat") else None for card in pile.cards]
            laid = list(zip(cards_of(card.card for card in pile.cards), told, strict=True))
            if laid != own.cards:
                yield Invariant.VIEW_DIFFERS, f"{name} is shown as {laid}, it is {own.cards}"
