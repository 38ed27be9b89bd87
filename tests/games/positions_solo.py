"""Tables of Solo with given hands, and lines of play in short words."""

from collections.abc import Iterator, Sequence

from croupier.games.actions import PLAYS, Action, Bid, Call, Keep, NameTrump, Pass, Play, ThrowDown, Yield
from croupier.games.cards import NOTATION, SUITS, Card, card, cards, cards_of_mask, notation
from croupier.games.facts import Called, Fact, RoundEnded, Seat
from croupier.games.interface import (
    CardsShuffled,
    OptionValue,
    SeatActed,
    ShuffleNeeded,
    resolve_options,
)
from croupier.games.solo import Solo, SoloState
from croupier.games.solo.contracts import KINDS
from croupier.games.solo.state import Match
from croupier.games.solo.table import Table
from tests.games.comparison import apply, rule_against

SOLO = Solo()
Hands = Sequence[str]
"""The cards of seats 0 to 3, separated by blanks."""

FROKE = "froke pass pass pass trump:H call:AC"
"""Seat 0 plays a froke in hearts and calls the ace of clubs."""
BIDDERS: Hands = (
    "QC 7C 8C AH KH 9D TD 8S",
    "AC KC QS AD KD JD 9S TS",
    "7D 8D 7H 8H 9H TH JH QH",
    "9C TC JC 7S JS KS AS QD",
)
"""The hands of the third and fourth worked positions."""
MARRIED: Hands = (
    "9C 7C 8C AH KH 9D TD 8S",
    "QC QS AC AD KD JD 9S TS",
    "7D 8D 7H 8H 9H TH JH QH",
    "KC TC JC 7S JS KS AS QD",
)
"""The hands of the fifth worked position: seat 1 has both black queens."""
UNKNOWN: Hands = (
    "7D 8D 9D TD QC AC AH KH",
    "AS KS JS 7C 8C AD 7H 8H",
    "QS TS 9S 8S 9C TC KD QD",
    "7S JC KC JD 9H TH JH QH",
)
"""The hands of the seventh worked position: seat 0 misses one ace and has no card of its suit."""
CALLED_UNKNOWN = "froke pass pass pass trump:D call:unknown"
"""Seat 0 plays a froke in diamonds and calls the unknown ace."""
NINTH: Hands = (
    "7H QC AH KH 8C 9C TD 9S",
    "TH KC JC 7D 8D KD AS KS",
    "QH 9H JH 8H QS AC JD QD",
    "AD TC 7C 9D TS JS 7S 8S",
)
"""The hands of the ninth worked position: the called ace need not appear in five tricks."""
ELEVENTH: Hands = (
    "8H 9H TH 8C 7D 8D 9D JD",
    "QC AH KH 9C AS KS QD TD",
    "JH AC 7C TC QS JS TS 9S",
    "7H QH KC JC AD KD 7S 8S",
)
"""The hands of the eleventh worked position: four tricks are lost before the partner is known."""
EIGHTH: Hands = (
    "7H AH KH JH 8C 9C TD 9S",
    "QC TH KC JC 7D 8D AS KS",
    "QS 9H AC 7C JD QD JS TS",
    "8H QH TC 9D KD AD 7S 8S",
)
"""The hands of the eighth worked position."""
TWELFTH: Hands = (
    "QC 7H AH KH QH 8C 9C JC",
    "8H 9H TC KC 7D 8D 9D TD",
    "QS JH AC 7C AS KS JS TS",
    "TH JD QD KD AD 7S 8S 9S",
)
"""The hands of the twelfth worked position: the declaring side wins five out of five."""
FIVE_OF_FIVE = "QC 8H JH TH 7H 9H QS JD 8C TC AC QD AS 7S 9C 7D KS 8S JC 8D"
"""The first five tricks there."""


def new(scores: Sequence[int] = (0, 0, 0, 0), **options: OptionValue) -> SoloState:
    """A table before its first deal; seats with 36 went out in hand 1."""
    resolved = resolve_options(SOLO, 4, options)
    went_out = tuple(int(score == 36) for score in scores)
    return SoloState(Table.of(resolved), Match(totals=tuple(scores), went_out=went_out))


def deck(state: SoloState, hands: Hands, dealer: Seat) -> tuple[Card, ...]:
    """The order of the deck that gives these hands."""
    first = dealer + 3 if state.table.deals_right_first else dealer + 1
    found = [0] * 32
    for seat, hand in enumerate(hands):
        for place, value in zip(state.table.places[(seat - first) % 4], cards(hand), strict=True):
            found[place] = value
    return tuple(found)


def dealt(hands: Hands, dealer: Seat = 3, scores: Sequence[int] = (0, 0, 0, 0), **options: OptionValue) -> SoloState:
    """The first hand of a table, with these cards."""
    state = new(scores, **options)
    return state.apply(CardsShuffled(deck(state, hands, dealer), (dealer,)))[0]


def action(word: str) -> Action:
    """An action from its word: a bid, pass, keep, yield, throw_down, trump:H, trump:H! (a do), call:AC, or a card."""
    kind, _, rest = word.partition(":")
    bare: dict[str, Action] = {"pass": Pass(), "keep": Keep(), "yield": Yield(), "throw_down": ThrowDown()}
    if kind in bare:
        return bare[kind]
    if kind in KINDS:
        return Bid(kind)
    if kind == "trump":
        return NameTrump(SUITS.index(rest[0]), do=rest.endswith("!"))
    if kind == "call":
        return Call(None if rest == "unknown" else card(rest))
    return PLAYS[card(word)]


def word(said: Action) -> str:
    """The word of an action."""
    match said:
        case Bid(bid):
            return str(bid)
        case NameTrump(trump, do):
            return f"trump:{SUITS[trump]}{'!' * do}"
        case Call(called):
            return "call:unknown" if called is None else f"call:{NOTATION[called]}"
        case Play(value):
            return NOTATION[value]
        case Pass() | Keep() | Yield():
            return type(said).__name__.lower()
        case _:
            return "throw_down"


def play(state: SoloState, line: str) -> SoloState:
    """The state after a line of words, each said by the seat that is to act."""
    return play_with_facts(state, line)[0]


def play_with_facts(state: SoloState, line: str) -> tuple[SoloState, tuple[Fact, ...]]:
    """The state after a line, and all that became known on the way."""
    facts: tuple[Fact, ...] = ()
    for said in line.split():
        state, more = apply(state, SeatActed(state.to_act, action(said)))
        facts += more
    return state, facts


def legal(state: SoloState) -> str:
    """All that the seat to act may do, in the order in which it is listed."""
    return " ".join(word(said) for said in state.legal_actions(state.to_act).actions)


def may(state: SoloState) -> set[str]:
    """All that the seat to act may do."""
    return set(legal(state).split())


def refusal(state: SoloState, said: str | Action, seat: Seat | None = None) -> str:
    """The rule that refuses a word or action of the seat to act, or of another."""
    asked = action(said) if isinstance(said, str) else said
    return rule_against(state, SeatActed(state.to_act if seat is None else seat, asked))


def due(state: SoloState) -> ShuffleNeeded:
    """The shuffle that the table awaits."""
    assert isinstance(state.awaiting, ShuffleNeeded)
    return state.awaiting


def hand(state: SoloState, seat: Seat) -> str:
    """The cards that a seat holds, suit by suit."""
    return " ".join(notation(cards_of_mask(state.hands[seat])))


def ended(facts: Sequence[Fact]) -> RoundEnded:
    """The hand's result."""
    return next(fact for fact in facts if isinstance(fact, RoundEnded))


def details(facts: Sequence[Fact]) -> dict[str, str]:
    """The hand's result for programs."""
    return dict(ended(facts).details)


def said_to(facts: Sequence[Fact], viewer: int) -> Iterator[Action | None]:
    """What a viewer heard said."""
    return (fact.action for fact in facts if isinstance(fact, Called) and fact.audience >> viewer & 1)
