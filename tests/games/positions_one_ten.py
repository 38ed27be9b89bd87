"""Rounds of 110 with given cards, and lines of calls and plays in the notation of the rules page."""

from collections.abc import Sequence
from dataclasses import replace

from croupier.games.actions import PLAYS, Action, Bid, Keep, Match, Pass, Swap
from croupier.games.cards import NOTATION, SUITS, Card, card, cards, notation
from croupier.games.facts import Fact, PileCard, RoundEnded, Seat, Viewer
from croupier.games.hands import cards_in, hand_of
from croupier.games.interface import (
    CardsShuffled,
    OptionValue,
    SeatActed,
    ShuffleNeeded,
    resolve_options,
)
from croupier.games.one_ten import OneTen, OneTenState
from croupier.games.one_ten import state as states
from croupier.games.one_ten.table import Table
from tests.games.comparison import apply, rule_against

ONE_TEN = OneTen()
ROUND_HANDS = ("5S JS KC QD 2H", "2S 3S 4C TD QH", "KD KH 9D 2D 5C")
"""The round of the scoring examples on the rules page."""
ROUND = "0:5S 1:2S 2:9D 0:JS 1:3S 2:2D 0:KC 1:4C 2:5C 0:QD 1:TD 2:KD 2:KH 0:2H 1:QH"


def new(seats: int, **options: OptionValue) -> OneTenState:
    """A table before its first deal."""
    return ONE_TEN.new(seats, resolve_options(ONE_TEN, seats, options))


def due(state: OneTenState) -> ShuffleNeeded:
    """The shuffle that a table awaits."""
    assert isinstance(state.awaiting, ShuffleNeeded)
    return state.awaiting


def shuffled(table: Table, dealer: Seat, hands: Sequence[str], kitty: str, stock: str = "") -> tuple[Card, ...]:
    """The order of the pack that gives these hands, this kitty and this beginning of the stock; "" is anything."""
    left = list(table.deck)
    for value in cards(" ".join((*hands, kitty, stock))):
        left.remove(value)
    full = [_filled(text, table.hand_size, left) for text in hands]
    turns = [full[(dealer + 1 + turn) % table.seats] for turn in range(table.seats)]
    dealt = [hand[at] for at in range(table.hand_size) for hand in turns]
    return (*dealt, *_filled(kitty, 5, left), *cards(stock), *left)


def _filled(text: str, count: int, left: list[Card]) -> list[Card]:
    held = list(cards(text))
    return held + [left.pop(0) for _ in range(count - len(held))]


def dealt(
    hands: Sequence[str], kitty: str = "", stock: str = "", dealer: Seat = 0, **options: OptionValue
) -> OneTenState:
    """The first round has been dealt; cards that are not said are filled in."""
    state = new(len(hands), **options)
    return state.apply(CardsShuffled(shuffled(state.table, dealer, hands, kitty, stock), (dealer,)))[0]


def position(
    hands: Sequence[str],
    trump: str = "S",
    bidder: Seat = 0,
    bid: int = 15,
    scores: Sequence[int] = (),
    trick: Sequence[tuple[Seat, str]] = (),
    to_act: Seat | None = None,
    size: int = 0,
    dealer: Seat = 0,
    **options: OptionValue,
) -> OneTenState:
    """The tricks have begun with these hands, and perhaps cards on the table; `size` counts the tricks of the round."""
    start = new(len(hands), **options)
    laid = tuple(PileCard(card(text), seat) for seat, text in trick)
    return start._replace(
        table=replace(start.table, hand_size=size) if size else start.table,
        progress=states.Progress(1, dealer, tuple(scores) or (0,) * len(hands)),
        phase="tricks",
        to_act=(bidder if to_act is None else to_act,),
        hands=tuple(hand_of(cards(text)) for text in hands),
        auction=states.Auction((), bidder, bid),
        exchange=start.exchange._replace(trump=SUITS.index(trump)),
        trick=laid,
    )


def acts(state: OneTenState, line: str) -> OneTenState:
    """The state after a line such as "1=15 2=pass 0=match 0:KH": calls with =, plays with a colon."""
    return acts_with_facts(state, line)[0]


def acts_with_facts(state: OneTenState, line: str) -> tuple[OneTenState, tuple[Fact, ...]]:
    """The state after a line, and all that became known on the way."""
    facts: tuple[Fact, ...] = ()
    for word in line.split():
        state, more = apply(state, SeatActed(int(word[0]), _action(word)))
        facts += more
    return state, facts


def _action(word: str) -> Action:
    said = word[2:]
    if word[1] == ":":
        return PLAYS[card(said)]
    calls: dict[str, Action] = {"pass": Pass(), "match": Match()}
    return calls[said] if said in calls else Bid(int(said))


def keeps(state: OneTenState, seat: Seat, text: str, trump: str) -> OneTenState:
    """The state after the bid winner has kept these cards."""
    kept: OneTenState = apply(state, SeatActed(seat, Keep(cards(text), SUITS.index(trump))))[0]
    return kept


def swaps(state: OneTenState, seat: Seat, text: str = "") -> OneTenState:
    """The state after a seat has swapped these cards."""
    swapped: OneTenState = apply(state, SeatActed(seat, Swap(cards(text))))[0]
    return swapped


def refusal(state: OneTenState, seat: Seat, action: Action) -> str:
    """The rule that refuses an action of a seat; empty if none does."""
    return rule_against(state, SeatActed(seat, action))


def calls(state: OneTenState, seat: Seat) -> list[int | str]:
    """What a seat may call: amounts, "match" and "pass"."""
    actions = state.legal_actions(seat).actions
    return [action.bid if isinstance(action, Bid) else type(action).__name__.lower() for action in actions]


def playable(state: OneTenState) -> str:
    """What the seat to act may play, in the order of suits and ranks."""
    actions = state.legal_actions(state.to_act[0]).actions
    return " ".join(NOTATION[value] for value in range(53) if PLAYS[value] in actions)


def ordered(text: str) -> str:
    """Cards in the order of suits and ranks."""
    return " ".join(notation(sorted(cards(text))))


def hand(state: OneTenState, seat: Seat) -> str:
    """The cards that a seat holds, in the order of suits and ranks."""
    return " ".join(notation(cards_in(state.hands[seat])))


def pile(state: OneTenState, viewer: Viewer, name: str) -> tuple[int, str] | None:
    """How many cards lie on a pile, and those that a viewer sees; None without the pile."""
    for called, count, lying in state.view(viewer).piles:
        if called == name:
            return count, " ".join(notation(laid.card for laid in lying))
    return None


def round_end(facts: Sequence[Fact]) -> RoundEnded:
    """The score of the round that these facts end."""
    return next(fact for fact in facts if isinstance(fact, RoundEnded))
