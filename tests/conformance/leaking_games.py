"""Games that tell a viewer about hidden cards late in a table only."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from croupier.games import facts
from croupier.games.actions import Action
from croupier.games.facts import Fact, Seat
from croupier.games.folded import Told
from croupier.games.interface import CardsShuffled, Game, IllegalAction
from croupier.games.sampling import Sampling
from croupier.games.values import NumberValue
from tests.conformance.small_game import HIGH_CARD, HighCard, Own
from tests.conformance.wrong_games import RefusalNamesCards
from tests.games.toy import Toy, ToyState

News = tuple[Own, Sequence[Fact]]
SEVERAL_ROUNDS = Sampling(drawn=MappingProxyType({"rounds": (2, 3)}))


class RefusalNamesCardsInTheSecondRound(RefusalNamesCards):
    sampling = SEVERAL_ROUNDS

    def act(self, state: Told[Own], seat: Seat, action: Action) -> tuple[Told[Own], tuple[Fact, ...]]:
        if state.public.round_number == 1:
            return HIGH_CARD.act(state, seat, action)
        return super().act(state, seat, action)


class TellsACardOfTheRoundBefore(HighCard):
    """Keeps the last card of the stock beside the number of rounds."""

    sampling = SEVERAL_ROUNDS

    def deal(self, table: Told[Own], shuffled: CardsShuffled) -> News:
        own, (*news, turn) = super().deal(table, shuffled)
        told = facts.MarkChanged(facts.Mark("last", None, NumberValue(own.rounds // 10)))
        return own._replace(rounds=own.rounds % 10 + 10 * shuffled.cards[-1]), (*news, told, turn)

    def round_over(self, table: Told[Own], tricks: Sequence[int]) -> list[Fact]:
        own = table.own._replace(rounds=table.own.rounds % 10)
        return super().round_over(table._replace(own=own), tricks)


class RefusalNamesACardAfterDraws(Toy):
    """Names the next card of the stock, once each seat has drawn."""

    def act(self, state: ToyState, seat: Seat, action: Action) -> tuple[ToyState, tuple[Fact, ...]]:
        try:
            return super().act(state, seat, action)
        except IllegalAction as refused:
            has_drawn = state.phase == "lay" and state.turns >= len(state.hands)
            raise IllegalAction(refused.rule, f"not possible {state.stock[:has_drawn]}") from refused


LEAKS: Mapping[str, Game] = MappingProxyType(
    {
        "in the second round": RefusalNamesCardsInTheSecondRound(),
        "of the round before": TellsACardOfTheRoundBefore(),
        "after draws": RefusalNamesACardAfterDraws(),
    }
)
"""By the time or the cards of its leak."""
