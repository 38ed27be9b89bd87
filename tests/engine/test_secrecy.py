"""Hidden information is in no message to a viewer: live, resumed, in snapshots and in refusals."""

from random import Random
from typing import Any

import pytest

from croupier.conformance.fold import facts_for
from croupier.engine.api.stream_codec import StreamEncoder
from croupier.engine.core.fold import TableState, Transition
from croupier.engine.tables.subscription import encode_transition
from croupier.games.actions import PLAYS, Pass
from croupier.games.facts import SPECTATOR, Seat, View, Viewer
from croupier.games.interface import CardsShuffled, IllegalAction, Legal, SeatActed, State
from croupier.games.registry import OWN_GAMES
from croupier.runtime.errors import IllegalNow
from tests.engine.fakes import EngineHarness
from tests.engine.play import event_of, every_game, make_config, open_table, viewers, walk
from tests.games.laws import TABLES


@every_game
def test_the_seed_is_revealed_with_the_last_entry(game: str, seed: int) -> None:
    config, encoder = make_config(game), StreamEncoder()
    for transition in walk(config, Random(seed)):
        sent = (
            encode_transition(encoder, config, transition, SPECTATOR, 0),
            encoder.snapshot(config, transition.after, SPECTATOR, 0),
        )
        seeds = {event_of(sent[0]).update.revealed_seed, event_of(sent[1]).snapshot.revealed_seed}
        assert seeds == {config.seed.hex() if transition.after.is_over else ""}
        if not transition.after.is_over:
            assert not any(config.seed in message or config.seed.hex().encode() in message for message in sent)


class OneSide:
    """Rules that return one viewer's view of a state, and fail for other viewers."""

    def __init__(self, table: TableState, viewer: Viewer) -> None:
        self._table, self._viewer = table, viewer

    def view(self, _: State, viewer: Viewer) -> View:
        assert viewer == self._viewer
        return self._table.view(viewer)

    def legal_actions(self, _: State, seat: Seat) -> Legal:
        assert seat == self._viewer
        return self._table.legal_actions(seat)


def one_side_of(transition: Transition, viewer: Viewer) -> Transition:
    """Return a transition without the data of others: their facts, the cards of shuffles, and the actions of seats."""
    side: Any = OneSide(transition.after, viewer)
    event = transition.entry.event
    if isinstance(event, CardsShuffled):
        event = CardsShuffled(())
    elif isinstance(event, SeatActed):
        event = SeatActed(event.seat, Pass())
    entry, after = transition.entry._replace(event=event), transition.after._replace(rules=side, game=None)
    return transition._replace(entry=entry, facts=tuple(facts_for(transition.facts, viewer)), after=after)


@every_game
def test_messages_depend_only_on_the_viewers_part_of_a_transition(game: str, seed: int) -> None:
    """The independence of this part from hidden cards is tested with the rules."""
    random, encoder = Random(seed), StreamEncoder()
    for seats in random.sample(OWN_GAMES[game].seats, min(TABLES, len(OWN_GAMES[game].seats))):
        config = make_config(game, seats, seed=random.randbytes(32))
        for transition in walk(config, random):
            for viewer in viewers(config):
                side = one_side_of(transition, viewer)
                assert encode_transition(encoder, config, side, viewer, 0) == encode_transition(
                    encoder, config, transition, viewer, 0
                )
                snapshot = encoder.snapshot(config, transition.after, viewer, 0)
                assert encoder.snapshot(config, side.after, viewer, 0) == snapshot


async def test_a_refusal_has_the_text_of_the_rules_alone(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config())
    for seat in range(2):
        for play in PLAYS:
            if play in table.state.legal_actions(seat).actions:
                continue
            with pytest.raises(IllegalAction) as refused:
                table.state.rules.apply(table.state.game, SeatActed(seat, play))
            with pytest.raises(IllegalNow) as refusal:
                await table.append_once(SeatActed(seat, play), "luck")
            assert (refusal.value.message, refusal.value.metadata) == (str(refused.value), {"rule": refused.value.rule})
