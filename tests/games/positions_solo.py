"""Tables of Solo with given hands."""

from collections.abc import Sequence

from croupier.games.cards import Card, cards
from croupier.games.facts import Seat
from croupier.games.interface import CardsShuffled, OptionValue, resolve_options
from croupier.games.solo.game import Solo
from croupier.games.solo.state import Progress, SoloOptions, SoloState
from tests.games import dispatch

SOLO = Solo()

FROKE = "froke pass pass pass trump:H call:AC"
"""Seat 0 plays a froke in hearts and calls the ace of clubs."""
ALONE = FROKE.replace("call:AC", "call:nobody")
"""The same without a partner."""
DO = FROKE.replace("trump:H", "trump:H!")
"""A froke in hearts with a do and the ace of clubs."""
CALLED_UNKNOWN = "froke pass pass pass trump:D call:unknown"
"""Seat 0 plays a froke in diamonds and calls the unknown ace."""

BIDDERS = "QC 7C 8C AH KH 9D TD 8S | AC KC QS AD KD JD 9S TS | 7D 8D 7H 8H 9H TH JH QH | 9C TC JC 7S JS KS AS QD"
"""The hands of the third and fourth worked positions."""
MARRIED = "9C 7C 8C AH KH 9D TD 8S | QC QS AC AD KD JD 9S TS | 7D 8D 7H 8H 9H TH JH QH | KC TC JC 7S JS KS AS QD"
"""The hands of the fifth worked position: seat 1 has both black queens."""
UNKNOWN = "7D 8D 9D TD QC AC AH KH | AS KS JS 7C 8C AD 7H 8H | QS TS 9S 8S 9C TC KD QD | 7S JC KC JD 9H TH JH QH"
"""The hands of the seventh worked position: seat 0 misses one ace and has no card of its suit."""
EIGHTH = "7H AH KH JH 8C 9C TD 9S | QC TH KC JC 7D 8D AS KS | QS 9H AC 7C JD QD JS TS | 8H QH TC 9D KD AD 7S 8S"
"""The hands of the eighth worked position."""
NINTH = "7H QC AH KH 8C 9C TD 9S | TH KC JC 7D 8D KD AS KS | QH 9H JH 8H QS AC JD QD | AD TC 7C 9D TS JS 7S 8S"
"""The hands of the ninth worked position: the called ace need not appear in five tricks."""
ELEVENTH = "8H 9H TH 8C 7D 8D 9D JD | QC AH KH 9C AS KS QD TD | JH AC 7C TC QS JS TS 9S | 7H QH KC JC AD KD 7S 8S"
"""The hands of the eleventh worked position: four tricks are lost before the partner is known."""
TWELFTH = "QC 7H AH KH QH 8C 9C JC | 8H 9H TC KC 7D 8D 9D TD | QS JH AC 7C AS KS JS TS | TH JD QD KD AD 7S 8S 9S"
"""The hands of the twelfth worked position: the declaring side wins five out of five."""
FIVE_OF_FIVE = "QC 8H JH TH 7H 9H QS JD 8C TC AC QD AS 7S 9C 7D KS 8S JC 8D"
"""The first five tricks there."""
LAST_THREE = "TS 9S AH 9D KH TD 7C KD QH KC JS AD"
"""The other three."""
FIVE_ALONE = "QC 8H JH TH 7H 9H QS JD AH TC 7C QD KH 7D TS KD QH 8D JS AD"
"""Five tricks that seat 0 wins there alone."""


def exchanged(hands: str, *pairs: str) -> str:
    """Return the hands with the two cards of each pair exchanged."""
    for one, other in map(str.split, pairs):
        hands = hands.replace(one, "__").replace(other, one).replace("__", other)
    return hands


VOID = exchanged(NINTH, "JD TS", "QD JS")
"""The ninth hands, except that seat 2 has no diamond."""
CLUBLESS = "QC 7D 8D 9D TD JD QD KD | 7C 8C 9C TC JC KC AC 7H | 8H 9H TH JH QH KH AH AD | 7S 8S 9S TS JS QS KS AS"
"""Seat 0 has no club, but for the Old."""


def new(scores: Sequence[int] = (0, 0, 0, 0), **options: OptionValue) -> SoloState:
    """Return a table before its first deal; seats with 36 went out in hand 1."""
    values = resolve_options(SOLO, 4, options)
    went_out = tuple(int(score == 36) for score in scores)
    return SoloState(SoloOptions.of(values), Progress(totals=tuple(scores), went_out=went_out))


def dealt(hands: str, dealer: Seat = 3, scores: Sequence[int] = (0, 0, 0, 0), **options: OptionValue) -> SoloState:
    """Return the first hand of a table, with these cards for seats 0 to 3."""
    state = new(scores, **options)
    first = dealer + 3 if state.options.deals_right_first else dealer + 1
    deck: list[Card] = [0] * 32
    for seat, hand in enumerate(hands.split("|")):
        for place, value in zip(state.options.deck_positions[(seat - first) % 4], cards(hand), strict=True):
            deck[place] = value
    return dispatch.apply(state, CardsShuffled(tuple(deck), (dealer,)))[0]
