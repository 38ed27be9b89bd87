"""Games and judges that are wrong in one point each, by the law that is to find them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from croupier.games import facts
from croupier.games.actions import PLAYS, Action, decode_action
from croupier.games.facts import CardsMoved, Fact, Ranking, Seat, View, Viewer
from croupier.games.folded import Told
from croupier.games.interface import CardsShuffled, EventRules, IllegalAction, Legal, Observation, Option, RandomSource
from croupier.games.words import PileDisplay, PileKind, PileRole, WordKind
from croupier_loadtest.judge.rules.interface import Card, JudgeTable
from croupier_loadtest.judge.rules.interface import Legal as JudgeLegal
from tests.conformance.small_game import DECK, HighCard, Own
from tests.conformance.small_judge import HighCardTable

News = tuple[Own, Sequence[Fact]]


LONG = decode_action({"type": "declare", "word": "x" * 65})
"""Decoded, because walks have to reach all verbs that the code names."""


class SeatInNoTeam(HighCard):
    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:
        return ((0,),)


class DefaultThatIsNotAllowed(HighCard):
    def options(self, seats: int) -> tuple[Option, ...]:
        (rounds,) = super().options(seats)
        return (replace(rounds, default=9),)


class PileWithoutText(HighCard):
    words = MappingProxyType({**HighCard.words, WordKind.PILE: {"trick": "trick"}})


class OtherPrefix(HighCard):
    rule_prefix = "LOW"


class RefusesALegalCard(HighCard):
    def play(self, table: Told[Own], seat: Seat, action: Action) -> News:
        if action == PLAYS[table.hand(seat)[-1]]:
            raise IllegalAction("HIGH-PLAY-2", "play another card")
        return super().play(table, seat, action)


class RecordWithoutCards(HighCard):
    def shuffle_record(self, state: Told[Own], shuffled: CardsShuffled) -> dict[str, Any]:
        return {"type": "deal"}


class RecordOfARefusedProposal(HighCard):
    proposals = MappingProxyType({"again": "Deal again."})

    def agree(self, state: Told[Own], proposal: str, /) -> Any:
        raise IllegalAction("HIGH-DEAL-1", "the cards lie")

    def proposal_record(self, state: Told[Own], proposal: str) -> dict[str, Any]:
        return {"type": proposal}


class ViewWithoutTrick(HighCard):
    def view(self, state: Told[Own], viewer: Viewer, /) -> View:
        view = super().view(state, viewer)
        return view._replace(piles=tuple(pile for pile in view.piles if pile.name != "trick"))


class CardStaysInTheHand(HighCard):
    def play(self, table: Told[Own], seat: Seat, action: Action) -> News:
        own, (played, *news) = super().play(table, seat, action)
        return own, (played._replace(source=None) if isinstance(played, CardsMoved) else played, *news)


class Remembers(HighCard):
    def __init__(self) -> None:
        self.deals = 0

    def deal(self, table: Told[Own], shuffled: CardsShuffled) -> News:
        own, (*news, _) = super().deal(table, shuffled)
        self.deals += 1
        return own, (*news, facts.TurnChanged("play", (self.deals % len(table.public.seats),)))


class DealsOpenly(HighCard):
    def deal(self, table: Told[Own], shuffled: CardsShuffled) -> News:
        own, news = super().deal(table, shuffled)
        opened = [one for one in news if not isinstance(one, CardsMoved) or one.cards or one.target == "stock"]
        return own, [one._replace(audience=facts.EVERYONE) for one in opened]


class RefusalNamesCards(HighCard):
    def act(self, state: Told[Own], seat: Seat, action: Action) -> tuple[Told[Own], tuple[Fact, ...]]:
        if seat not in state.public.seats_to_act:
            raise IllegalAction("HIGH-PLAY-1", f"wait for the seats with {[state.hand(one) for one in range(2)]}")
        return super().act(state, seat, action)


class UnknownOutcomes(HighCard):
    def outcomes(self, ranking: Ranking, reason: str) -> tuple[str, ...]:
        return ("drawn",) * sum(map(len, ranking))


class DeterminizesAnotherTable(HighCard):
    def determinize(self, observation: Observation, randrange: RandomSource) -> Told[Own]:
        seats = len(observation.view.seats)
        return self.shuffle(self.new(seats, observation.options), CardsShuffled(DECK))[0]


class IllegalBot(HighCard):
    bots = MappingProxyType({"sensible": lambda observation, randrange: PLAYS[-1]})


class LongWord(HighCard):
    def legal(self, table: Told[Own], seat: Seat) -> Legal:
        return Legal((*super().legal(table, seat).actions, LONG))

    def play(self, table: Told[Own], seat: Seat, action: Action) -> News:
        return (table.own, ()) if action == LONG else super().play(table, seat, action)


class PileThatIsNeverUsed(HighCard):
    piles = (*HighCard.piles, PileKind("attic", PileRole.REMOVED, PileDisplay.COUNT))
    words = MappingProxyType({**HighCard.words, WordKind.PILE: {**HighCard.words[WordKind.PILE], "attic": "attic"}})


class WordThatIsNeverShown(HighCard):
    words = MappingProxyType({**HighCard.words, WordKind.MARK: {"moon": "the moon"}})


class RuleThatThePageLacks(HighCard):
    def event_rules(self, state: Told[Own]) -> EventRules:
        return EventRules(*[f"{self.rule_prefix}-DEAL-9"] * 4)


class LaterOption(HighCard):
    def options(self, seats: int) -> tuple[Option, ...]:
        (rounds,) = super().options(seats)
        return (replace(rounds, earlier=3),)


class OtherWinner(HighCardTable):
    def takes(self, card: Card) -> tuple[str, str]:
        return card[1], card[0]


class ListsACardTwice(HighCardTable):
    def legal_in_turn(self, seat: int) -> JudgeLegal:
        actions = super().legal_in_turn(seat).actions
        return JudgeLegal([*actions, *actions[:1]], [])


WRONG: Mapping[str, HighCard] = MappingProxyType(
    {
        "declaration": SeatInNoTeam(),
        "options": DefaultThatIsNotAllowed(),
        "texts": PileWithoutText(),
        "rules page": OtherPrefix(),
        "legal actions": RefusesALegalCard(),
        "shuffles": RecordWithoutCards(),
        "proposals": RecordOfARefusedProposal(),
        "views": ViewWithoutTrick(),
        "cards": CardStaysInTheHand(),
        "replay": Remembers(),
        "hidden cards": DealsOpenly(),
        "twins": RefusalNamesCards(),
        "results": UnknownOutcomes(),
        "determinization": DeterminizesAnotherTable(),
        "bots": IllegalBot(),
        "messages": LongWord(),
        "coverage": PileThatIsNeverUsed(),
    }
)
"""By law a game that breaks it."""
MISJUDGED: Mapping[str, tuple[HighCard, type[JudgeTable]]] = MappingProxyType(
    {
        "judge": (HighCard(), OtherWinner),
        "perft": (HighCard(), ListsACardTwice),
        "earlier options": (LaterOption(), HighCardTable),
    }
)
"""By law a game and a judge that do not agree."""
