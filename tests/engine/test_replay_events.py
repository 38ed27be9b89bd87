"""The events of finished tables: folded, they are at each step the views of the rules."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from random import Random

import pytest

import croupier_client
from croupier.conformance.fold import known_view
from croupier.engine.api.fact_codec import encode_view
from croupier.engine.api.stream_codec import StreamEncoder
from croupier.engine.cluster.housekeeping import packed_log
from croupier.engine.core.fold import Transition, new_table
from croupier.engine.core.log import TableConfig
from croupier.engine.core.log_codec import row_of
from croupier.engine.storage.port import TableChange, append_durably
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.replay_events import PART_BYTES, ReplayEventsFold, replay_event_parts
from croupier.games.facts import ALL_SEATS, SPECTATOR, Viewer
from croupier.games.registry import OWN_GAMES
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1.engine_pb2 import TableEvent, WatchReplayRequest, WatchReplayResponse
from tests.calls import call_of
from tests.engine.fakes import START, EngineHarness
from tests.engine.play import ROUNDS, make_config, open_table, play_on, viewers, walk
from tests.engine.toys import toy_known, toy_table
from tests.games.laws import TABLES

MAX_ENTRIES = 300
EYES: dict[Viewer, croupier_client.Viewer] = {SPECTATOR: None, ALL_SEATS: "all"}


def configs(game: str, random: Random) -> list[TableConfig]:
    """Return tables of a game with some numbers of seats."""
    if game == "toy":
        return [toy_table()]
    seats = random.sample(OWN_GAMES[game].seats, min(TABLES, len(OWN_GAMES[game].seats)))
    return [make_config(game, count, options=ROUNDS.get(game), seed=random.randbytes(32)) for count in seats]


def events_of(config: TableConfig, transitions: list[Transition], viewer: Viewer) -> list[list[TableEvent]]:
    """Return the events of each part of a replay."""
    fold = ReplayEventsFold(StreamEncoder(), config, viewer)
    for transition in transitions:
        fold.add(row_of(transition.entry))
    parts = list(replay_event_parts(fold.result()))
    assert all(len(part) >= PART_BYTES for part in parts[:-1])
    return [list(WatchReplayResponse.FromString(part).table_events) for part in parts]


@pytest.mark.parametrize(
    ("game", "known"), [*((game, nullcontext) for game in OWN_GAMES), ("toy", toy_known)], ids=[*OWN_GAMES, "toy"]
)
def test_folded_events_are_the_views_of_the_rules(
    game: str, known: Callable[[], AbstractContextManager[None]], seed: int
) -> None:
    random = Random(seed)
    with known():
        for config in configs(game, random):
            transitions = list(walk(config, random, MAX_ENTRIES))
            for viewer in (*viewers(config), ALL_SEATS):
                check_events(config, transitions, viewer)


def check_events(config: TableConfig, transitions: list[Transition], viewer: Viewer) -> None:
    parts = events_of(config, transitions, viewer)
    (first, *updates), seats = [event for part in parts for event in part], config.seat_count
    snapshot, begun = first.snapshot, transitions[0].entry.at
    assert (snapshot.sequence, snapshot.clock.server_unix_ms, snapshot.revealed_seed) == (0, begun, "")
    assert snapshot.HasField("viewer_seat") == (viewer not in EYES)
    assert snapshot.view == encode_view(known_view(new_table(config).view, seats, viewer))
    view = snapshot.view
    for event, transition in zip(updates, transitions, strict=True):
        update, entry, after = event.update, transition.entry, transition.after
        assert (update.sequence, update.stored_unix_ms, update.clock.server_unix_ms) == (
            *(entry.sequence, entry.at, entry.at),
        )
        assert not update.HasField("legal_actions")
        assert update.revealed_seed == (config.seed.hex() if after.is_over else "")
        view = croupier_client.fold(view, update.facts, EYES.get(viewer, viewer))
        assert view == encode_view(known_view(after.view, seats, viewer)), (viewer, entry)


def test_a_long_replay_has_bounded_parts(seed: int) -> None:
    config = make_config("one_ten", 8, options={"max_rounds": 40})
    transitions = list(walk(config, Random(seed), 2_000))
    parts = events_of(config, transitions, ALL_SEATS)
    longest = max(event.ByteSize() for part in parts for event in part)
    assert len(parts) > 1
    assert all(sum(event.ByteSize() + 8 for event in part) < PART_BYTES + longest + 8 * len(part) for part in parts)
    assert sum(map(len, parts)) == len(transitions) + 1


def request_of(eyes: croupier_client.Viewer) -> WatchReplayRequest:
    request = WatchReplayRequest(table_id="t1")
    if eyes == "all":
        request.all_seats = True
    elif eyes is not None:
        request.seat = eyes
    return request


async def events(engine: EngineHarness, tables: Tables, eyes: croupier_client.Viewer) -> list[TableEvent]:
    """Return the events of the table t1 for a stranger."""
    stream = engine.servicer(tables).WatchReplay(request_of(eyes), call_of("stranger"))
    return [event async for part in stream for event in WatchReplayResponse.FromString(part).table_events]


@pytest.mark.parametrize("is_in_memory", [True, False])
async def test_a_finished_table_is_shown_with_the_eyes_of_the_request(
    engine: EngineHarness, is_in_memory: bool
) -> None:
    table, tables = await open_table(engine, make_config(seat_count=3)), engine.tables()
    await play_on(table, Random(1))
    if is_in_memory:
        await tables.get("t1")
    listed_by_eyes: list[tuple[croupier_client.Viewer, list[int]]] = [(None, []), (1, [1]), ("all", [0, 1, 2])]
    for eyes, listed in listed_by_eyes * 2:
        snapshot, dealt, *_, last = await events(engine, tables, eyes)
        view = croupier_client.fold(snapshot.snapshot.view, dealt.update.facts, eyes)
        assert [seat for seat, hand in enumerate(view.seats) if hand.cards] == listed
        assert last.update.sequence == table.state.sequence
    assert engine.count("croupier_replays_built_total") == len(listed_by_eyes)


async def test_an_archived_table_is_shown(engine: EngineHarness, store: SqlTableStore) -> None:
    config = make_config(seat_count=3)
    transitions = list(walk(config, Random(1)))
    entries = [transition.entry for transition in transitions]
    await store.prepare(config, START)
    await store.open(config, entries[:1])
    await append_durably(store, "t1", entries[1:], TableChange(0, finished=True))
    await store.archive("t1", await packed_log(store, "t1"))
    shown = await events(engine, engine.tables(store=store), "all")
    assert shown == [event for part in events_of(config, transitions, ALL_SEATS) for event in part]


async def test_a_seat_that_the_table_does_not_have_is_refused(engine: EngineHarness) -> None:
    await play_on(await open_table(engine, make_config(seat_count=3)), Random(1))
    with pytest.raises(MalformedRequest, match="invalid seat 3: expected 0 to 2") as refusal:
        await events(engine, engine.tables(), 3)
    assert refusal.value.field == "seat"
