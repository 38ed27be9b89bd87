"""All that clients show of recorded tables: each distinct fact, and views with each combination of piles and marks."""

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple

from croupier.conformance.walks import walk
from croupier.engine.api.fact_codec import encode_fact, encode_view
from croupier.games.facts import SPECTATOR, Fact, View
from croupier.games.interface import Game, State
from croupier_api.v1 import facts_pb2
from tests.games.record import recorded_steps
from tests.games.toy import TOY

NAMES = ("Ada", "Bo", "Cyd", "Dee", "Eve", "Fay", "Gus", "Hal")
TOY_TABLES = 40


class Shown(NamedTuple):
    """Facts and views of a game, as the engine sends them."""

    facts: tuple[facts_pb2.Fact, ...]
    views: tuple[facts_pb2.TableView, ...]


@lru_cache(maxsize=8)
def shown(game: Game) -> Shown:
    """Return what is shown of all recorded tables of a game, and of random tables of the toy."""
    facts: dict[bytes, facts_pb2.Fact] = {}
    views: dict[object, facts_pb2.TableView] = {}
    for state, news in _random_steps() if game is TOY else recorded_steps(game):
        for fact in news:
            message = encode_fact(fact)
            facts.setdefault(message.SerializeToString(deterministic=True), message)
        for viewer in (0, SPECTATOR):
            view = game.view(state, viewer)
            if (kind := _kind(view)) not in views:
                views[kind] = encode_view(view)
    return Shown(tuple(facts.values()), tuple(views.values()))


def _kind(view: View) -> object:
    """Return what makes views different for this purpose."""
    piles = tuple((pile.name, pile.owner, bool(pile.cards), pile.face_down) for pile in view.piles)
    return view.phase, piles, view.marks, view.contract, len(view.calls) > 1


def _random_steps() -> Iterator[tuple[State, tuple[Fact, ...]]]:
    for seed in range(TOY_TABLES):
        random = Random(seed)
        for step in walk(TOY, TOY.new(random.choice(TOY.seats), {}), random):
            yield step.after, step.facts
