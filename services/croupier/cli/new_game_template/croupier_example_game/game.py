"""Example Game: the highest card takes a trick, and most tricks win. Replace it by your own rules, one at a time."""

from collections.abc import Sequence
from types import MappingProxyType

from croupier.games import facts, interface
from croupier.games.actions import PLAYS, Action, Play
from croupier.games.bots import random_legal
from croupier.games.cards import dealt_singly, strength_of
from croupier.games.folded import FoldedRules, Told, round_ended
from croupier.games.interface import IllegalAction, Legal
from croupier.games.standings import ranked
from croupier.games.words import PileDisplay, PileKind, PileRole, WordKind

HAND_SIZE = 5
WORDS = {
    WordKind.PILE: {"trick": "trick"},
    WordKind.REASON: {"played": "all cards are played"},
    WordKind.RULE: {"EXAMPLE-PLAY-1": "It is not your turn.", "EXAMPLE-PLAY-2": "Play a card of your hand."},
}


class ExampleGame(FoldedRules[None]):
    """The game of the page texts/rules.en.md; facts tell all of its state."""

    id = "example_game"
    name = "Example Game"
    summary = "The highest card takes the trick, and most tricks win."
    seats = range(2, 5)
    rule_prefix = "EXAMPLE"
    bots = MappingProxyType({"random": random_legal})
    piles = (PileKind("trick", PileRole.TRICK, PileDisplay.ALL),)
    has_tricks = True
    words = MappingProxyType(WORDS)

    def start(self, seats: int, options: interface.OptionValues) -> None:
        """Keep nothing beside what facts tell."""

    def legal(self, table: Told[None], seat: facts.Seat) -> Legal:
        """Return the cards of the seat (EXAMPLE-PLAY-2)."""
        return Legal(tuple(PLAYS[card] for card in table.hand(seat)))

    def deal(self, table: Told[None], shuffled: interface.CardsShuffled) -> tuple[None, Sequence[facts.Fact]]:
        """Deal five cards to each seat (EXAMPLE-DEAL-2)."""
        seats = len(table.public.seats)
        hands = dealt_singly(shuffled.cards[: HAND_SIZE * seats], seats, seats - 1)
        return None, [facts.RoundStarted(1, None), *facts.hands_dealt(hands), facts.TurnChanged("play", (0,))]

    def play(self, table: Told[None], seat: facts.Seat, action: Action) -> tuple[None, Sequence[facts.Fact]]:
        """Play a card; the last card of a trick takes it, or lets another take it (EXAMPLE-PLAY-3)."""
        if not isinstance(action, Play) or action not in self.legal(table, seat).actions:
            raise IllegalAction("EXAMPLE-PLAY-2", "play a card of your hand")
        played = facts.CardsMoved(seat, "trick", (action.card,), 1, facts.MoveReason.PLAY)
        trick = (*table.public.pile("trick"), facts.PileCard(action.card, seat))
        if len(trick) < len(table.public.seats):
            return None, [played, facts.TurnChanged("play", ((seat + 1) % len(table.public.seats),))]
        return None, [played, *_trick_taken(table.public, trick)]


def _trick_taken(public: facts.View, trick: Sequence[facts.PileCard]) -> list[facts.Fact]:
    """Return the facts of a whole trick: its winner leads, or the game is over (EXAMPLE-END-1)."""
    winner = max(trick, key=lambda laid: strength_of(laid.card)).seat or 0
    gone = facts.CardsMoved("trick", None, tuple(laid.card for laid in trick), len(trick), facts.MoveReason.WIN)
    tricks = tuple(seat.tricks_taken + (at == winner) for at, seat in enumerate(public.seats))
    if sum(tricks) < HAND_SIZE:
        return [gone, facts.TrickTaken(winner), facts.TurnChanged("play", (winner,))]
    ended = round_ended(public, tricks)
    ranking = ranked(range(len(tricks)), lambda seat: -tricks[seat])
    return [gone, facts.TrickTaken(winner), ended, facts.TurnChanged("over", ()), facts.GameEnded(ranking, "played")]
