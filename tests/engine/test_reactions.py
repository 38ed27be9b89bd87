"""Reactions: a fixed list, a rate limit for each seat, for players only."""

import pytest

from croupier.engine.tables.subscribers import MAX_REACTIONS, REACTION_MILLISECONDS, REACTIONS
from croupier.games.facts import SPECTATOR
from croupier.runtime.errors import LimitReached, MalformedRequest, NotPermitted
from tests.engine.fakes import EngineHarness
from tests.engine.play import event_of, live_stream, make_config, open_table, pending_messages


def test_the_list_is_the_one_of_the_contract() -> None:
    assert " ".join(REACTIONS) == "thumbs_up thumbs_down laugh cry wow angry clap heart think sleep"


@pytest.mark.parametrize("reaction", ["", "Laugh", "laugh ", "5H", "x" * 10_000])
async def test_an_unknown_reaction_is_refused_without_being_repeated_or_counted(
    engine: EngineHarness, reaction: str
) -> None:
    table = await open_table(engine, make_config())
    for _ in range(MAX_REACTIONS + 1):
        with pytest.raises(MalformedRequest) as refusal:
            table.react("p0", reaction)
        assert (refusal.value.reason_name, refusal.value.field) == ("UNKNOWN_REACTION", "reaction")
        assert len(refusal.value.message) < 200
    table.react("p0", "wow")


async def test_open_streams_show_a_reaction_and_a_resumed_stream_does_not(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config())
    followers = [await live_stream(table, viewer) for viewer in (0, 1, SPECTATOR)]
    table.react("p1", "wow")
    for stream in followers:
        (message,) = await pending_messages(stream)
        assert (event_of(message).reaction.seat, event_of(message).reaction.reaction) == (1, "wow")
    assert len(await pending_messages(table.subscribe(0, 0))) == 1
    assert engine.count("croupier_reactions_total") == 1


async def test_reactions_of_a_seat_are_limited_and_others_are_refused(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config())
    stream = await live_stream(table, SPECTATOR)
    with pytest.raises(NotPermitted):
        table.react("stranger", "wow")
    for _ in range(MAX_REACTIONS):
        table.react("p0", "wow")
        engine.clock.advance(10)
    table.react("p1", "wow")
    engine.clock.advance(REACTION_MILLISECONDS - MAX_REACTIONS * 10 - 1)
    with pytest.raises(LimitReached) as refusal:
        table.react("p0", "wow")
    assert refusal.value.retry_after_seconds == 0.001
    assert len(await pending_messages(stream)) == MAX_REACTIONS + 1
    engine.clock.advance(1)
    table.react("p0", "wow")
    with pytest.raises(LimitReached):
        table.react("p0", "wow")
