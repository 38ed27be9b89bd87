"""Reactions: a fixed list, a limit for each seat, for players only."""

import pytest

from croupier.engine.reactions import MOST_REACTIONS, REACTIONS, WINDOW_MILLISECONDS
from croupier.games.facts import SPECTATOR
from croupier.runtime.errors import LimitReached, MalformedRequest, NotPermitted
from tests.engine.fakes import Bench
from tests.engine.play import make_config, open_table, parsed, taken


def test_the_list_is_the_one_of_the_contract() -> None:
    assert " ".join(REACTIONS) == "thumbs_up thumbs_down laugh cry wow angry clap heart think sleep"


@pytest.mark.parametrize("reaction", ["", "Laugh", "laugh ", "5H", "x" * 10_000])
async def test_anything_else_is_refused_without_being_repeated_or_counted(engine: Bench, reaction: str) -> None:
    table = await open_table(engine, make_config())
    for _ in range(MOST_REACTIONS + 1):
        with pytest.raises(MalformedRequest) as refusal:
            table.react("p0", reaction)
        assert (refusal.value.reason, refusal.value.field) == ("UNKNOWN_REACTION", "reaction")
        assert len(refusal.value.message) < 200
    table.react("p0", "wow")


async def test_everybody_who_follows_sees_a_reaction_and_a_resumed_stream_does_not(engine: Bench) -> None:
    table = await open_table(engine, make_config())
    followers = [table.subscribe(viewer, 1) for viewer in (0, 1, SPECTATOR)]
    table.react("p1", "wow")
    for stream in followers:
        (message,) = await taken(stream)
        assert (parsed(message).reaction.seat, parsed(message).reaction.reaction) == (1, "wow")
    assert len(await taken(table.subscribe(0, 0))) == 1
    assert engine.count("croupier_reactions_total") == 1


async def test_each_seat_sends_so_many_in_so_long_and_strangers_none(engine: Bench) -> None:
    table = await open_table(engine, make_config())
    stream = table.subscribe(SPECTATOR, 1)
    with pytest.raises(NotPermitted):
        table.react("stranger", "wow")
    for _ in range(MOST_REACTIONS):
        table.react("p0", "wow")
        engine.clock.advance(10)
    table.react("p1", "wow")
    engine.clock.advance(WINDOW_MILLISECONDS - MOST_REACTIONS * 10 - 1)
    with pytest.raises(LimitReached) as refusal:
        table.react("p0", "wow")
    assert refusal.value.retry_after_seconds == 0.001
    assert len(await taken(stream)) == MOST_REACTIONS + 1
    engine.clock.advance(1)
    table.react("p0", "wow")
    with pytest.raises(LimitReached):
        table.react("p0", "wow")
