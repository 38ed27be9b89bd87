"""Lines of actions in one notation for every game, applied to both implementations of the rules."""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from croupier.conformance.walks import shuffle
from croupier.games.actions import (
    PLAYS,
    Action,
    Bid,
    CallNobody,
    CallPartner,
    Draw,
    KeepBid,
    KeepCards,
    MatchBid,
    NameTrump,
    Pass,
    Play,
    StandPat,
    SwapCards,
    ThrowDown,
    YieldBid,
    decode_action,
    encode_action,
)
from croupier.games.cards import NOTATION, SUITS, card, cards, notation
from croupier.games.facts import SPECTATOR, Fact, RoundEnded, RoundScore, Seat
from croupier.games.interface import GameOver, OptionValue, SeatActed, SeatsToAct, ShuffleNeeded, State, resolve_options
from croupier.games.registry import OWN_GAMES
from croupier.games.solo.state import KINDS
from croupier.games.values import Value
from tests.games import dispatch
from tests.games.comparison import apply, rule_against

Table = TypeVar("Table", bound=State)
WORDS: dict[str, Action] = {
    "pass": Pass(),
    "match": MatchBid(),
    "draw": Draw(),
    "keep": KeepBid(),
    "swap": StandPat(),
    "yield": YieldBid(),
    "throw_down": ThrowDown(),
}


def new(game: str, seats: int, **options: OptionValue) -> Any:
    """Return a table before its first deal."""
    rules = OWN_GAMES[game]
    return rules.new(seats, resolve_options(rules, seats, options))


def action(text: str) -> Action:
    """Return an action from its notation: a card, QH/S (a queen that orders spades), a bid, pass, swap:2C, keep:2C/S.

    Actions of Solo are froke, trump:H! (with a do), call:AC and so on.
    """
    kind, _, rest = text.replace("/", ":").partition(":")
    if kind in WORDS and not rest:
        return WORDS[kind]
    if kind.isdigit() or kind in KINDS:
        return Bid(int(kind) if kind.isdigit() else kind)
    if kind in ("keep", "swap"):
        chosen, _, suit = rest.partition(":")
        held = cards(chosen.replace(",", " "))
        return KeepCards(held, SUITS.index(suit)) if kind == "keep" else SwapCards(held)
    if kind == "trump":
        return NameTrump(SUITS.index(rest[0]), all_tricks=rest.endswith("!"))
    if kind == "call":
        return decode_action({"type": "call", "card": rest})
    return Play(card(kind), SUITS.index(rest)) if rest else PLAYS[card(kind)]


def word(text: Action) -> str:
    """Return the notation of an action, without the suit that a queen orders."""
    match text:
        case Bid(amount):
            return str(amount)
        case NameTrump(trump, all_tricks):
            return f"trump:{SUITS[trump]}{'!' * all_tricks}"
        case CallPartner() | CallNobody():
            return f"call:{encode_action(text)['card']}"
        case Play(value):
            return NOTATION[value]
        case _:
            return str(encode_action(text)["type"])


def acts(state: Table, line: str) -> Table:
    """Return the state after a line such as "0:KH 1:5H 2:pass"; an action without a seat is of the seat to act."""
    return acts_with_facts(state, line)[0]


def acts_with_facts(state: Table, line: str) -> tuple[Table, tuple[Fact, ...]]:
    """Return the state after a line, and its facts."""
    facts: tuple[Fact, ...] = ()
    for text in line.split():
        numbered = text[1] == ":"
        seat = int(text[0]) if numbered else to_act(state)
        assert seat is not None, f"no seat is to act before {text}"
        state, more = apply(state, SeatActed(seat, action(text[2:] if numbered else text)))
        facts += more
    return state, facts


def to_act(state: State) -> Seat | None:
    """Return the first seat to act; None if there is none."""
    awaiting = dispatch.awaiting(state)
    return awaiting.seats[0] if isinstance(awaiting, SeatsToAct) else None


def legal(state: State, seat: Seat | None = None) -> str:
    """Return the legal actions of a seat, by default of the seat to act, in their order without repeats."""
    asked = to_act(state) if seat is None else seat
    actions = () if asked is None else dispatch.legal_actions(state, asked).actions
    return " ".join(dict.fromkeys(map(word, actions)))


def may(state: State, seat: Seat | None = None) -> set[str]:
    """Return the same without its order."""
    return set(legal(state, seat).split())


def refusal(state: State, text: str | Action, seat: Seat | None = None) -> str:
    """Return the rule by which both refuse an action of a seat, by default of the seat to act; "" if they accept it."""
    asked = (to_act(state) or 0) if seat is None else seat
    return rule_against(state, SeatActed(asked, action(text) if isinstance(text, str) else text))


def refusals(state: State, text: str | Action, seat: Seat | None = None) -> set[str]:
    """Return the rules by which both refuse each of some actions."""
    return {refusal(state, one, seat) for one in (text.split() if isinstance(text, str) else [text])}


def hand(state: State, seat: Seat) -> set[str]:
    return set(notation(dispatch.view(state, seat).seats[seat].cards))


def pile(state: State, name: str, viewer: int = SPECTATOR, owner: Seat | None = None) -> tuple[int, str] | None:
    """Return the number of a pile's cards, and those that a viewer sees; None without the pile."""
    for found in dispatch.view(state, viewer).piles:
        if (found.name, found.owner) == (name, owner):
            return found.card_count, " ".join(notation(pile_card.card for pile_card in found.cards))
    return None


def due(state: State) -> ShuffleNeeded:
    awaiting = dispatch.awaiting(state)
    assert isinstance(awaiting, ShuffleNeeded)
    return awaiting


def over(state: State) -> GameOver:
    awaiting = dispatch.awaiting(state)
    assert isinstance(awaiting, GameOver)
    return awaiting


def ranking_text(groups: Sequence[Sequence[Seat]]) -> str:
    """Return a ranking such as "0 > 1 = 2", best first."""
    return " > ".join(" = ".join(map(str, group)) for group in groups)


def deal(state: Table, seed: int = 1) -> Table:
    return dispatch.apply(state, shuffle(due(state), Random(seed)))[0]


def first_legal(state: Table) -> Table:
    """Return the table after its round, in which all took the first legal action."""
    while (seat := to_act(state)) is not None:
        state = dispatch.apply(state, SeatActed(seat, dispatch.legal_actions(state, seat).actions[0]))[0]
    return state


def ended(facts: Sequence[Fact]) -> RoundScore:
    """Return the score of the round that these facts end."""
    return next(fact.score for fact in facts if isinstance(fact, RoundEnded))


def details(facts: Sequence[Fact]) -> dict[str, Value | None]:
    """Return the details of the round that these facts end, of those about the whole table."""
    return {detail.name: detail.value for detail in ended(facts).details if detail.seat is None}
