"""Lines of calls and plays in one notation for every game, followed by both implementations of the rules."""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from croupier.games.actions import (
    PLAYS,
    Action,
    Bid,
    Call,
    Draw,
    Keep,
    Match,
    NameTrump,
    Pass,
    Play,
    Swap,
    ThrowDown,
    Yield,
    action_to_json,
)
from croupier.games.cards import NOTATION, SUITS, card, cards, notation
from croupier.games.facts import SPECTATOR, Fact, RoundEnded, Seat
from croupier.games.interface import GameOver, SeatActed, SeatsToAct, ShuffleNeeded, State
from croupier.games.solo.contracts import KINDS
from tests.games.comparison import apply, rule_against
from tests.games.walk import shuffle

Table = TypeVar("Table", bound=State)
WORDS: dict[str, Action] = {
    "pass": Pass(),
    "match": Match(),
    "draw": Draw(),
    "keep": Keep(),
    "swap": Swap(()),
    "yield": Yield(),
    "throw_down": ThrowDown(),
}


def action(said: str) -> Action:
    """An action from its word: a card, QH/S (a queen that orders spades), a bid, pass, swap:2C,3C, keep:2C,3C/S.

    Those of Solo are froke, trump:H! (with a do), call:AC and so on.
    """
    kind, _, rest = said.replace("/", ":").partition(":")
    if kind in WORDS and not rest:
        return WORDS[kind]
    if kind.isdigit() or kind in KINDS:
        return Bid(int(kind) if kind.isdigit() else kind)
    if kind in ("keep", "swap"):
        chosen, _, suit = rest.partition(":")
        held = cards(chosen.replace(",", " "))
        return Keep(held, SUITS.index(suit)) if kind == "keep" else Swap(held)
    if kind == "trump":
        return NameTrump(SUITS.index(rest[0]), do=rest.endswith("!"))
    if kind == "call":
        return Call(None if rest == "unknown" else card(rest))
    return Play(card(kind), SUITS.index(rest)) if rest else PLAYS[card(kind)]


def word(said: Action) -> str:
    """The word of an action, but for the suit that a queen orders."""
    match said:
        case Bid(amount):
            return str(amount)
        case NameTrump(trump, do):
            return f"trump:{SUITS[trump]}{'!' * do}"
        case Call(called):
            return "call:unknown" if called is None else f"call:{NOTATION[called]}"
        case Play(value):
            return NOTATION[value]
        case _:
            return str(action_to_json(said)["type"])


def acts(state: Table, line: str) -> Table:
    """The state after a line such as "0:KH 1:5H 2:pass"; a word without a seat is said by the one that is to act."""
    return acts_with_facts(state, line)[0]


def acts_with_facts(state: Table, line: str) -> tuple[Table, tuple[Fact, ...]]:
    """The state after a line, and all that became known on the way."""
    facts: tuple[Fact, ...] = ()
    for said in line.split():
        numbered = said[1] == ":"
        seat = int(said[0]) if numbered else to_act(state)
        assert seat is not None, f"nobody is to act before {said}"
        state, more = apply(state, SeatActed(seat, action(said[2:] if numbered else said)))
        facts += more
    return state, facts


def to_act(state: State) -> Seat | None:
    """The first seat that is to act; None if nobody is."""
    return state.awaiting.seats[0] if isinstance(state.awaiting, SeatsToAct) else None


def legal(state: State, seat: Seat | None = None) -> str:
    """All that a seat may do, in the order in which it is listed, each once; without a seat the one that is to act."""
    asked = to_act(state) if seat is None else seat
    actions = () if asked is None else state.legal_actions(asked).actions
    return " ".join(dict.fromkeys(map(word, actions)))


def may(state: State, seat: Seat | None = None) -> set[str]:
    """The same without its order."""
    return set(legal(state, seat).split())


def refusal(state: State, said: str | Action, seat: Seat | None = None) -> str:
    """The rule by which both refuse an action of a seat; without a seat of the one that is to act; "" if none does."""
    asked = (to_act(state) or 0) if seat is None else seat
    return rule_against(state, SeatActed(asked, action(said) if isinstance(said, str) else said))


def refusals(state: State, said: str | Action, seat: Seat | None = None) -> set[str]:
    """The rules by which both refuse each of some words, or an action."""
    return {refusal(state, one, seat) for one in (said.split() if isinstance(said, str) else [said])}


def hand(state: State, seat: Seat) -> set[str]:
    """The cards that a seat sees in its hand, in notation."""
    return set(notation(state.view(seat).seats[seat].cards))


def pile(state: State, name: str, viewer: int = SPECTATOR) -> tuple[int, str] | None:
    """How many cards lie on a pile, and those that a viewer sees; None without the pile."""
    for called, count, lying in state.view(viewer).piles:
        if called == name:
            return count, " ".join(notation(laid.card for laid in lying))
    return None


def due(state: State) -> ShuffleNeeded:
    """The shuffle that a table awaits."""
    assert isinstance(state.awaiting, ShuffleNeeded)
    return state.awaiting


def over(state: State) -> GameOver:
    """The end of the game."""
    assert isinstance(state.awaiting, GameOver)
    return state.awaiting


def deal(state: Table, seed: int = 1) -> Table:
    """The table after a deal by chance."""
    return state.apply(shuffle(due(state), Random(seed)))[0]


def first_legal(state: Table) -> Table:
    """The table after its round, in which everybody did what is listed first."""
    while (seat := to_act(state)) is not None:
        state = state.apply(SeatActed(seat, state.legal_actions(seat).actions[0]))[0]
    return state


def ended(facts: Sequence[Fact]) -> RoundEnded:
    """The score of the round that these facts end."""
    return next(fact for fact in facts if isinstance(fact, RoundEnded))


def details(facts: Sequence[Fact]) -> dict[str, Any]:
    """The same for programs."""
    return dict(ended(facts).details)
