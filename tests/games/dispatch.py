"""Functions on the state of any game, whose rules are found by the type of the state."""

from functools import cache
from typing import Any, TypeVar

from croupier.games.facts import Fact, Seat, View, Viewer
from croupier.games.interface import Awaiting, CardsShuffled, Event, Game, Legal, ProposalAgreed, State, resolve_options
from croupier.games.registry import OWN_GAMES
from tests.games.toy import TOY

S = TypeVar("S")


def rules(state: State) -> Game:
    """Return the rules of a state."""
    return _by_type()[type(state)]


@cache
def _by_type() -> dict[type, Game]:
    games = (*OWN_GAMES.values(), TOY)
    return {type(game.new(game.seats[0], resolve_options(game, game.seats[0], {}))): game for game in games}


def awaiting(state: State) -> Awaiting:
    return rules(state).awaiting(state)


def scores(state: State) -> tuple[int, ...]:
    return rules(state).scores(state)


def legal_actions(state: State, seat: Seat) -> Legal:
    return rules(state).legal_actions(state, seat)


def apply(state: S, event: Event) -> tuple[S, tuple[Fact, ...]]:
    return rules(state).apply(state, event)


def ranking_at_limit(state: State) -> tuple[tuple[Seat, ...], ...] | None:
    return rules(state).ranking_at_limit(state)


def view(state: State, viewer: Viewer) -> View:
    return rules(state).view(state, viewer)


def event_record(state: State, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
    return rules(state).event_record(state, event)
