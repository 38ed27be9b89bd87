"""Positions in the middle of a round of 101, and lines of play in a short notation."""

from collections.abc import Sequence
from random import Random

from croupier.games.actions import PLAYS, Action, Draw, Play, action_to_json
from croupier.games.cards import NOTATION, SUITS, Card, card, cards
from croupier.games.facts import Fact, PileCard, RoundEnded, Seat
from croupier.games.hands import cards_in, with_cards
from croupier.games.interface import (
    CardsShuffled,
    Event,
    GameOver,
    IllegalAction,
    OptionValue,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
    resolve_options,
)
from croupier.games.one_oh_one import OneOhOne, OneOhOneState
from croupier.games.one_oh_one.match import Match, circle
from croupier.games.one_oh_one.table import Table
from tests.games.comparison import apply

ONE_OH_ONE = OneOhOne()


def new(seats: int, **options: OptionValue) -> OneOhOneState:
    """A table before its first deal."""
    return ONE_OH_ONE.new(seats, resolve_options(ONE_OH_ONE, seats, options))


def position(
    hands: Sequence[str],
    pile: str = "",
    stock: str = "",
    *,
    turn: Seat = 0,
    ordered: str | None = None,
    covers: bool = False,
    scores: Sequence[int] = (),
    dropped: tuple[tuple[Seat, ...], ...] = (),
    **options: OptionValue,
) -> OneOhOneState:
    """Round 1, begun by seat 0, with so many cards in play only; the stock is drawn from the left."""
    seats = len(hands)
    totals = tuple(scores) or (0,) * seats
    return OneOhOneState(
        table=Table.of(seats, resolve_options(ONE_OH_ONE, seats, options)),
        match=Match(1, 0, totals, circle(seats, dropped), dropped),
        hands=tuple(with_cards(0, cards(text)) for text in hands),
        stock=cards(stock),
        pile=tuple(PileCard(value, 0) for value in cards(pile)),
        turn=turn,
        ordered=None if ordered is None else SUITS.index(ordered),
        covers=covers,
    )


def action(word: str) -> Action:
    """Read "draw", "8C", or "QH/S" for the queen of hearts ordering spades."""
    text, _, suit = word.partition("/")
    if text == "draw":
        return Draw()
    return Play(card(text), SUITS.index(suit)) if suit else PLAYS[card(text)]


def acts(state: OneOhOneState, line: str) -> OneOhOneState:
    """The state after a line such as "0:7C 2:QS/H 0:draw"."""
    return acts_with_facts(state, line)[0]


def acts_with_facts(state: OneOhOneState, line: str) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """The state after a line, and all that became known on the way."""
    facts: tuple[Fact, ...] = ()
    for word in line.split():
        seat, _, said = word.partition(":")
        state, more = apply(state, SeatActed(int(seat), action(said)))
        facts += more
    return state, facts


def ended(state: OneOhOneState, line: str) -> tuple[OneOhOneState, RoundEnded]:
    """The state after a line that ends the round, and what was said of it."""
    state, facts = acts_with_facts(state, line)
    (found,) = [fact for fact in facts if isinstance(fact, RoundEnded)]
    return state, found


def legal(state: OneOhOneState, seat: Seat) -> str:
    """What a seat may do: cards in notation, each queen once for her four orders, and "draw"."""
    words: list[str] = []
    orders: dict[str, int] = {}
    for listed in state.legal_actions(seat).actions:
        written = action_to_json(listed)
        word = str(written.get("card", written["type"]))
        orders[word] = orders.get(word, 0) + 1
        words += [word] if word not in words else []
    assert all(count == (4 if word[0] == "Q" else 1) for word, count in orders.items())
    return " ".join(words)


def refusal(state: OneOhOneState, event: Event) -> IllegalAction:
    """How an event is refused; it must be."""
    try:
        apply(state, event)
    except IllegalAction as error:
        return error
    raise AssertionError(f"{event} was accepted")


def rule_of(state: OneOhOneState, seat: Seat, said: str) -> str:
    """The rule that refuses an action."""
    return refusal(state, SeatActed(seat, action(said))).rule


def hand(state: OneOhOneState, seat: Seat) -> set[str]:
    """The cards that a seat holds, in notation; no twins."""
    held = cards_in(state.hands[seat])
    assert len(set(held)) == len(held)
    return {NOTATION[value] for value in held}


def lying(values: Sequence[Card]) -> str:
    """Cards in notation, in their order."""
    return " ".join(NOTATION[value] for value in values)


def stock(state: OneOhOneState) -> str:
    """The stock, next card first."""
    return lying(state.stock)


def pile(state: OneOhOneState) -> str:
    """The pile, top card last."""
    return lying([laid.card for laid in state.pile])


def to_act(state: OneOhOneState) -> Seat | None:
    """The seat that is to act; None if nobody is."""
    return state.awaiting.seats[0] if isinstance(state.awaiting, SeatsToAct) else None


def due(state: OneOhOneState) -> ShuffleNeeded:
    """The shuffle that the table awaits."""
    assert isinstance(state.awaiting, ShuffleNeeded)
    return state.awaiting


def over(state: OneOhOneState) -> GameOver:
    """The end of the game."""
    assert isinstance(state.awaiting, GameOver)
    return state.awaiting


def deal(state: OneOhOneState, seed: int = 1, starter: Seat = 0) -> OneOhOneState:
    """The table after a deal by chance; the starter counts in the first round only."""
    shuffled = Random(seed).sample(due(state).cards, len(due(state).cards))
    return state.apply(CardsShuffled(tuple(shuffled), (starter,) if due(state).draw_bounds else ()))[0]
