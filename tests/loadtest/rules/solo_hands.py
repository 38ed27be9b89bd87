"""Hands of the solo page, and tables of the referee's rules on which they are dealt and played."""

from croupier.games.catalogue import GAMES
from loadtest.judge.rules.interface import Act, Card, Options
from loadtest.judge.rules.solo import SoloTable
from loadtest.judge.rules.solo.hand import deal

DEFAULTS: Options = {option.name: option.default for option in GAMES["solo"].options(4)}

EX_3 = [
    "QC 7C 8C AH KH 9D TD 8S",
    "AC KC QS AD KD JD 9S TS",
    "7D 8D 7H 8H 9H TH JH QH",
    "9C TC JC 7S JS KS AS QD",
]
EX_5 = [
    "9C 7C 8C AH KH 9D TD 8S",
    "QC QS AC AD KD JD 9S TS",
    "7D 8D 7H 8H 9H TH JH QH",
    "KC TC JC 7S JS KS AS QD",
]
EX_7 = [
    "7D 8D 9D TD QC AC AH KH",
    "AS KS JS 7C 8C AD 7H 8H",
    "QS TS 9S 8S 9C TC KD QD",
    "7S JC KC JD 9H TH JH QH",
]
EX_8 = [
    "7H AH KH JH 8C 9C TD 9S",
    "QC TH KC JC 7D 8D AS KS",
    "QS 9H AC 7C JD QD JS TS",
    "8H QH TC 9D KD AD 7S 8S",
]
EX_9 = [
    "7H QC AH KH 8C 9C TD 9S",
    "TH KC JC 7D 8D KD AS KS",
    "QH 9H JH 8H QS AC JD QD",
    "AD TC 7C 9D TS JS 7S 8S",
]
EX_11 = [
    "8H 9H TH 8C 7D 8D 9D JD",
    "QC AH KH 9C AS KS QD TD",
    "JH AC 7C TC QS JS TS 9S",
    "7H QH KC JC AD KD 7S 8S",
]
EX_12 = [
    "QC 7H AH KH QH 8C 9C JC",
    "8H 9H TC KC 7D 8D 9D TD",
    "QS JH AC 7C AS KS JS TS",
    "TH JD QD KD AD 7S 8S 9S",
]


def deck_for(hands: list[list[Card]], dealer: int, options: Options) -> list[Card]:
    """The deck that gives these hands."""
    places = deal([str(place) for place in range(32)], dealer, str(options["deal_start"]), str(options["deal_packets"]))
    at = {int(place): hand[n] for own, hand in zip(places, hands, strict=True) for n, place in enumerate(own)}
    return [at[place] for place in range(32)]


def dealt(hands: list[str], **options: bool | int | str) -> SoloTable:
    """A first hand that seat 3 has dealt."""
    table = SoloTable(4, {**DEFAULTS, **options})
    table.shuffled(deck_for([hand.split() for hand in hands], 3, table.options), [3])
    return table


def say(table: SoloTable, *actions: Act) -> SoloTable:
    """Let the seat whose turn it is act, again and again."""
    for action in actions:
        table.act(table.to_act[0], action)
    return table


def play(table: SoloTable, cards: str) -> SoloTable:
    """Let the seat whose turn it is play, again and again."""
    return say(table, *({"type": "play", "card": card} for card in cards.split()))


def froke(hands: list[str], trump: str, called: str, do: bool = False, **options: bool | int | str) -> SoloTable:
    """A froke of seat 0, called and ready to be played."""
    passes = [{"type": "pass"}] * 3
    named: list[Act] = [{"type": "name_trump", "trump": trump, "do": do}, {"type": "call", "card": called}]
    return say(dealt(hands, **options), {"type": "bid", "bid": "froke"}, *passes, *named)
