"""Compares the views at each sequence with the positions by the judge's rules."""

from collections.abc import Iterator, Mapping

from croupier_api.v1 import facts_pb2
from loadtest.judge.knowledge import lies_face_down
from loadtest.judge.notation import cards_of, legal_of, legal_texts
from loadtest.judge.rules.interface import Legal, Pile
from loadtest.judge.streams import ViewerHistory, ViewerState
from loadtest.judge.verification import Position
from loadtest.judge.violations import Found, Invariant

_NOTHING = Legal([], [])
_UNCOUNTED_PHASES = {"one_ten": frozenset({"kitty", "reshuffle"})}
"""While cards are exchanged in 110, others see the hands as they were dealt (110-VIS-1, 110-VIS-4)."""
_REVEALS_HANDS = frozenset({"thulla", "one_oh_one"})
"""Games that reveal the remaining hands after a round (THU-VIS-4, 101-VIS-4)."""
_BETWEEN_ROUNDS = frozenset({"deal", "over"})
"""Phases in which no cards are in play."""


def check_positions(
    game: str, history: ViewerHistory, numbers: Mapping[int, int], positions: Mapping[int, Position]
) -> Iterator[Found]:
    """Yield differences between a viewer's states and the positions by the rules."""
    for sequence, state in history.states.items():
        position = positions.get(numbers.get(sequence, -1))
        if position is None:
            continue
        is_counted = state.view.phase not in _UNCOUNTED_PHASES.get(game, ())
        for invariant, detail in _differences(state, position, history.seat, is_counted=is_counted):
            yield invariant, sequence, f"{history.name}: {detail}"
        is_open = game in _REVEALS_HANDS and state.view.phase in _BETWEEN_ROUNDS
        for other, hand in enumerate(state.view.seats):
            if hand.cards and other != history.seat and not is_open:
                yield Invariant.HIDDEN_CARD_SEEN, sequence, f"{history.name} was shown the hand of seat {other}"
        if state.legal_actions is None:
            continue
        shown = legal_texts(legal_of(state.legal_actions))
        own = legal_texts(_NOTHING if history.seat is None else position.legal.get(history.seat, _NOTHING))
        if shown != own:
            yield Invariant.RULES_BROKEN, sequence, f"{history.name} was offered {shown}, by the rules {own}"


def _differences(
    state: ViewerState, position: Position, seat: int | None, *, is_counted: bool
) -> Iterator[tuple[Invariant, str]]:
    view = state.view
    values = {
        "round": (view.round, position.round_number),
        "seats to act": (list(view.seats_to_act), sorted(position.legal)),
        "ranking": ([list(group.seats) for group in view.ranking], position.ranking or []),
    }
    for name, (value, own) in values.items():
        if value != own:
            yield Invariant.RULES_BROKEN, f"the {name} is {value}, by the rules {own}"
    scores = [hand.score for hand in view.seats]
    if scores != position.scores:
        yield Invariant.RESULT_DIFFERS, f"the scores are {scores}, by the rules {position.scores}"
    for other, (hand, held) in enumerate(zip(view.seats, position.hands, strict=False)):
        cards, is_own = cards_of(hand.cards), other == seat
        if (is_own or is_counted) and hand.card_count != len(held):
            yield Invariant.VIEW_DIFFERS, f"seat {other} is shown with {hand.card_count} cards, it has {len(held)}"
        if (is_own or cards) and sorted(cards) != sorted(held):
            yield Invariant.VIEW_DIFFERS, f"the hand of seat {other} is shown as {cards}, it is {held}"
    yield from _compare_piles(view, position.piles, seat, is_counted=is_counted)


def _compare_piles(
    view: facts_pb2.TableView, piles: Mapping[str, Pile], seat: int | None, *, is_counted: bool
) -> Iterator[tuple[Invariant, str]]:
    shown = {f"{pile.name} {pile.owner}" if pile.HasField("owner") else pile.name: pile for pile in view.piles}
    for name in shown.keys() | piles.keys():
        pile, own = shown.get(name, facts_pb2.Pile()), piles.get(name, Pile([], None))
        is_known = own.seen_by is None or seat in own.seen_by
        is_private = own.seen_by is not None or lies_face_down(pile)
        if not is_counted and is_private and not (is_known and name in shown and name in piles):
            continue
        if pile.count != len(own.cards):
            yield Invariant.VIEW_DIFFERS, f"{name} is shown with {pile.count} cards, it has {len(own.cards)}"
        elif pile.face_down != (own.seen_by is not None):
            yield Invariant.VIEW_DIFFERS, f"{name} is shown face {'down' if pile.face_down else 'up'}"
        if pile.cards and not is_known:
            yield Invariant.HIDDEN_CARD_SEEN, f"the cards of {name} are shown"
        if is_known:
            seats = [card.seat if card.HasField("seat") else None for card in pile.cards]
            cards = list(zip(cards_of(card.card for card in pile.cards), seats, strict=True))
            if cards != own.cards:
                yield Invariant.VIEW_DIFFERS, f"{name} is shown as {cards}, it is {own.cards}"
