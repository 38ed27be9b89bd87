"""Sections of Jøssing with given hands, and lines of bids and plays in the notation of the rules page."""

from collections.abc import Sequence

from croupier.games.actions import PLAYS, Action, Bid, action_to_json
from croupier.games.cards import NOTATION, Card, card, cards
from croupier.games.facts import Fact, Seat
from croupier.games.hands import cards_in
from croupier.games.interface import CardsShuffled, OptionValue, SeatActed, SeatsToAct, resolve_options
from croupier.games.jossing import Jossing, JossingState
from croupier.games.jossing.deal import Section
from croupier.games.jossing.packs import left_of
from croupier.games.jossing.table import Table
from tests.games.comparison import apply

JOSSING = Jossing()


def new(seats: int, **options: OptionValue) -> JossingState:
    """A table before its first deal."""
    return JOSSING.new(seats, resolve_options(JOSSING, seats, options))


def before(seats: int, size: int, dealer: Seat, **options: OptionValue) -> JossingState:
    """A table whose next section has so many cards and this dealer; all totals are nought."""
    first_dealer = (dealer + 1 - size) % seats
    state = new(seats, first_dealer=first_dealer, **options)
    return state._replace(section=Section.of(state.table, size - 1, 0)) if size > 1 else state


def shuffled(table: Table, hands: Sequence[str], indicator: str, dealer: Seat) -> CardsShuffled:
    """The order of the deck that gives these hands and this indicator."""
    held = [cards(text) for text in hands]
    order = [*range(dealer + 1, len(hands)), *range(dealer + 1)]
    dealt: list[Card] = [held[seat][turn] for turn in range(len(held[0])) for seat in order]
    dealt.append(card(indicator))
    return CardsShuffled((*dealt, *left_of(table.decks, dealt)))


def section(hands: Sequence[str], indicator: str, dealer: Seat = 0, **options: OptionValue) -> JossingState:
    """A section that has just been dealt; its number is that of the cards in each hand."""
    state = before(len(hands), len(hands[0].split()), dealer, **options)
    dealt: JossingState = apply(state, shuffled(state.table, hands, indicator, dealer))[0]
    return dealt


def acts(state: JossingState, line: str) -> JossingState:
    """The state after a line such as "0=2 1=0 0:KH 1:5H": bids with =, plays with a colon."""
    return acts_with_facts(state, line)[0]


def acts_with_facts(state: JossingState, line: str) -> tuple[JossingState, tuple[Fact, ...]]:
    """The state after a line, and all that became known on the way."""
    facts: tuple[Fact, ...] = ()
    for word in line.split():
        seat, sign, said = word[0], word[1], word[2:]
        action: Action = Bid(int(said)) if sign == "=" else PLAYS[card(said)]
        state, more = apply(state, SeatActed(int(seat), action))
        facts += more
    return state, facts


def legal(state: JossingState, seat: Seat) -> list[str | int]:
    """What a seat may play, in notation, or bid."""
    written = [action_to_json(action) for action in state.legal_actions(seat).actions]
    return [action["card"] if "card" in action else action["amount"] for action in written]


def hand(state: JossingState, seat: Seat) -> list[str]:
    """The cards that a seat holds, in notation."""
    return [NOTATION[value] for value in cards_in(state.hands[seat])]


def to_act(state: JossingState) -> list[Seat]:
    """The seats that may act."""
    return list(state.awaiting.seats) if isinstance(state.awaiting, SeatsToAct) else []
