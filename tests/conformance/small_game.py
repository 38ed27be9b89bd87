"""A small game whose views are folded from its facts, and the smallest that uses folding: highest card takes."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

from croupier.games import facts, interface
from croupier.games.actions import PLAYS, Action, Play
from croupier.games.bots import random_legal
from croupier.games.cards import cards, dealt_singly
from croupier.games.facts import CardsMoved, Fact, MoveReason, Seat
from croupier.games.folded import FoldedRules, Told, imagined, round_ended
from croupier.games.hidden import deal_around
from croupier.games.interface import IllegalAction, Legal, Observation, Option, RandomSource
from croupier.games.standings import ranked
from croupier.games.words import PileDisplay, PileKind, PileRole, WordKind

DECK = cards("2C 3C 4C 5C 6C 7C 8C 9C 2D 3D 4D 5D 6D 7D 8D 9D")


class Own(NamedTuple):
    """What facts do not tell: the number of tricks of a round, and the rounds of the game."""

    hand_size: int
    rounds: int


class HighCard(FoldedRules[Own]):
    """Each trick is taken by the highest card; every trick is a point."""

    id = "high_card"
    name = "High card"
    summary = "Take tricks with high cards."
    seats = range(2, 4)
    rule_prefix = "HIGH"
    pack = DECK
    bots = MappingProxyType({"sensible": random_legal, "random": random_legal})
    piles: tuple[PileKind, ...] = (
        PileKind("trick", PileRole.TRICK, PileDisplay.ALL),
        PileKind("stock", PileRole.STOCK, PileDisplay.COUNT),
    )
    has_tricks = True
    words = MappingProxyType(
        {
            WordKind.PILE: {"trick": "trick", "stock": "stock"},
            WordKind.OPTION: {"rounds": "Rounds"},
            WordKind.REASON: {"played": "all rounds are over"},
            WordKind.RULE: {
                "HIGH-PLAY-1": "It is not your turn.",
                "HIGH-PLAY-2": "Play a card of your hand, and nothing else.",
            },
        }
    )

    def options(self, seats: int) -> tuple[Option, ...]:
        return (Option("rounds", 2, range(1, 4), "rounds in a game"),)

    def start(self, seats: int, options: interface.OptionValues) -> Own:
        return Own(len(DECK) // (seats + 1), int(options["rounds"]))

    def legal(self, table: Told[Own], seat: Seat) -> Legal:
        return Legal(tuple(PLAYS[card] for card in table.hand(seat)))

    def deal(self, table: Told[Own], shuffled: interface.CardsShuffled) -> tuple[Own, Sequence[Fact]]:
        seats, number = len(table.public.seats), table.public.round_number + 1
        dealer, dealt = (number - 1) % seats, table.own.hand_size * seats
        stock = len(shuffled.cards) - dealt
        return table.own, [
            facts.RoundStarted(number, dealer),
            *facts.hands_dealt(dealt_singly(shuffled.cards[:dealt], seats, dealer)),
            CardsMoved(None, "stock", (), stock, MoveReason.DEAL, face_down=True),
            facts.TurnChanged("play", ((dealer + 1) % seats,)),
        ]

    def play(self, table: Told[Own], seat: Seat, action: Action) -> tuple[Own, Sequence[Fact]]:
        if action not in self.legal_actions(table, seat).actions or not isinstance(action, Play):
            raise IllegalAction("HIGH-PLAY-2", "play a card of your hand")
        played = CardsMoved(seat, "trick", (action.card,), 1, MoveReason.PLAY)
        trick, seats = (*table.public.pile("trick"), facts.PileCard(action.card, seat)), len(table.public.seats)
        if len(trick) < seats:
            return table.own, [played, facts.TurnChanged("play", ((seat + 1) % seats,))]
        return table.own, [played, *self.trick_taken(table, trick)]

    def trick_taken(self, table: Told[Own], trick: Sequence[facts.PileCard]) -> list[Fact]:
        """Return the facts of a trick that is complete: the winner leads, or the round is over."""
        winner = max(trick, key=lambda laid: (laid.card % 13, laid.card)).seat or 0
        gone = CardsMoved("trick", None, tuple(laid.card for laid in trick), len(trick), MoveReason.WIN)
        news: list[Fact] = [gone, facts.TrickTaken(winner)]
        tricks = [seat.tricks_taken + (at == winner) for at, seat in enumerate(table.public.seats)]
        if sum(tricks) < table.own.hand_size:
            return [*news, facts.TurnChanged("play", (winner,))]
        return [*news, *self.round_over(table, tricks)]

    def round_over(self, table: Told[Own], tricks: Sequence[int]) -> list[Fact]:
        """Return the facts of a round that is over, and of the game if that was the last one."""
        ended = round_ended(table.public, tricks)
        if table.public.round_number < table.own.rounds:
            return [ended, facts.TurnChanged("deal", ())]
        ranking = ranked(range(len(tricks)), lambda seat: -ended.score.totals[seat])
        return [ended, facts.TurnChanged("over", ()), facts.GameEnded(ranking, "played")]

    def determinize(self, observation: Observation, randrange: RandomSource) -> Told[Own]:
        seats = len(observation.view.seats)
        hands, _ = deal_around(observation, DECK, [0] * seats, randrange)
        return imagined(observation, self.start(seats, observation.options), hands)

    def evaluate(self, before: Told[Own], after: Told[Own]) -> tuple[float, ...]:
        points = [seat.score + seat.tricks_taken for seat in after.public.seats]
        return tuple(own / (sum(points) or 1) for own in points)


HIGH_CARD = HighCard()
