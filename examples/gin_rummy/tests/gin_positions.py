"""Positions of Gin Rummy, and lines of actions that are applied to both implementations of the rules."""

from collections.abc import Sequence
from typing import Any

from croupier.games.actions import PLAYS, Action, Declare, Draw, Lay, Pass, Play
from croupier.games.cards import CARD_OF_NOTATION, NOTATION, STANDARD_DECK, card, cards, mask_of, notation
from croupier.games.facts import Fact, PileCard, Seat
from croupier.games.interface import Event, OptionValue, SeatActed, SeatsToAct, resolve_options
from croupier_gin_rummy.state import HAND_SIZE, GinOptions, GinState, Melds, Progress
from croupier_gin_rummy.turns import knock_limit
from gin_table import GIN_RUMMY, compared

HAND = "2C 3C 4C 7D 7H 7S 9C TC JC AH"
"""Three melds and the ace of hearts."""
OTHER = "KS QS 8H 6H 5H 4S 3D 2D TD 9S"
"""A hand without a meld, of 67 points."""
WORDS: dict[str, Action] = {
    "stock": Draw("stock"),
    "discard": Draw("discard"),
    "pass": Pass(),
    "knock": Declare("knock"),
    "big_gin": Declare("big_gin"),
    "done": Declare("done"),
}


def position(
    hands: str = f"{HAND} | {OTHER}",
    discards: str = "5D",
    stock: str | None = None,
    *,
    phase: str = "draw",
    scores: Sequence[int] = (0, 0),
    boxes: Sequence[int] = (0, 0),
    **options: OptionValue,
) -> GinState:
    """Return the first hand, dealt by seat 1, with seat 0 to act; the stock is drawn from the left.

    By default the stock has all other cards, ascending. The discards are those of seat 1; in the phase "upcard" the
    only one has no seat.
    """
    held, discarded = [cards(text) for text in hands.split("|")], cards(discards)
    gone = {*discarded, *held[0], *held[1]}
    resolved = GinOptions.of(resolve_options(GIN_RUMMY, 2, options))
    return GinState(
        resolved,
        Progress(1, 1, 1, tuple(scores), tuple(boxes)),
        phase=phase,
        turn=0,
        hands=tuple(map(mask_of, held)),
        stock=tuple(value for value in STANDARD_DECK if value not in gone) if stock is None else cards(stock),
        discards=tuple(PileCard(value, None if phase == "upcard" else 1) for value in discarded),
        limit=knock_limit(resolved, (*discarded, 0)[0]),
    )


def laying(hands: str, melds: str = "", *, knock: str = "knock", phase: str = "lay", **parts: Any) -> GinState:
    """Return a table after a knock by seat 0; melds such as "5S 6S 7S / 2C 2D 2H" are on the table."""
    state = position(hands, **parts)
    laid: Melds = tuple(tuple(PileCard(value, 0) for value in cards(text)) for text in melds.split("/") if text)
    turn = 0 if phase == "lay" else 1
    return state._replace(phase=phase, turn=turn, knocker=0, knock=knock, melds=(laid, ()))


def defending(hands: str, melds: str = "5S 6S 7S", **parts: Any) -> GinState:
    """Return the same with the defender, seat 1, to act."""
    return laying(hands, melds, phase="lay_off", **parts)


def action(state: GinState, text: str) -> Action:
    """Return an action from its notation: a word, a card to discard, set:5C,5D,5H, run:2C,3C,AC, or off:8S/1."""
    if text in WORDS:
        return WORDS[text]
    kind, _, rest = text.partition(":")
    if not rest:
        return PLAYS[card(kind)]
    named, _, number = rest.partition("/")
    laid = cards(named.replace(",", " "))
    return Lay(laid, "", f"meld_{number}", state.knocker) if kind == "off" else Lay(laid, kind)


def word(done: Action) -> str:
    """Return the notation of an action."""
    match done:
        case Play(value):
            return NOTATION[value]
        case Lay((value,), "", pile):
            return f"off:{NOTATION[value]}/{pile[-1]}"
        case Lay(laid, meld):
            return f"{meld}:{','.join(notation(laid))}"
        case _:
            return next(text for text, named in WORDS.items() if named == done)


def acts(state: GinState, line: str) -> GinState:
    """Return the state after a line of actions, each of the seat to act."""
    return acts_with_facts(state, line)[0]


def acts_with_facts(state: GinState, line: str) -> tuple[GinState, tuple[Fact, ...]]:
    """Return the state after a line, and its facts, compared with the judge's."""
    table, facts = compared(state), tuple[Fact, ...]()
    for text in line.split():
        table, more = table.apply(SeatActed(table.state.turn, action(table.state, text)))
        facts += more
    return table.state, facts


def to_act(state: GinState) -> tuple[Seat, ...]:
    """Return the seats to act."""
    awaiting = GIN_RUMMY.awaiting(state)
    return awaiting.seats if isinstance(awaiting, SeatsToAct) else ()


def legal(state: GinState) -> str:
    """Return the legal actions of the seat to act, in their order."""
    return " ".join(map(word, GIN_RUMMY.legal_actions(state, state.turn).actions))


def refusal(state: GinState, done: str | Action | Event, seat: Seat | None = None) -> str:
    """Return the rule by which both refuse an action of a seat, by default of the seat to act; "" if both accept it."""
    if isinstance(done, str):
        done = action(state, done)
    if not isinstance(done, Event):
        done = SeatActed(state.turn if seat is None else seat, done)
    return compared(state).compare_refusal(done)


def hand(state: GinState, seat: Seat, viewer: int | None = None) -> str:
    """Return the cards of a hand that a viewer sees, by default the seat itself."""
    seen = GIN_RUMMY.view(state, seat if viewer is None else viewer).seats[seat].cards
    return " ".join(notation(seen))


def order_with_upcard(upcard: str) -> tuple[int, ...]:
    """Return an order of the pack that turns up this card."""
    turned = CARD_OF_NOTATION[upcard]
    others = [value for value in STANDARD_DECK if value != turned]
    dealt = 2 * HAND_SIZE
    return (*others[:dealt], turned, *others[dealt:])
