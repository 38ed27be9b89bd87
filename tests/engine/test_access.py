"""The calls of players without a seat, by the access of the table, their link, and the end of the game."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random
from typing import Any, TypeAlias

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.engine.tables.registry import Tables
from croupier.runtime.errors import NotFound, ServiceError, Unauthenticated
from croupier.runtime.identity.links import links_by
from croupier.runtime.identity.tokens import PLAYER_AUDIENCE, Caller, TokenIssuer, TokenVerifier
from croupier.runtime.table_access import OPEN, SEATED, LinkPurpose, TableAccess, Visibility, WatchPolicy
from croupier_api.v1 import engine_pb2
from croupier_api.v1.games_pb2 import REACTION_WOW
from tests.calls import call_of
from tests.engine.fakes import LINK_KEY, EngineHarness
from tests.engine.play import event_of, make_config, open_table, play_on, within_timeout
from tests.engine.timing import HeldCall

PLAYER, STRANGER = Caller("p0", "Player 0"), Caller("stranger", "Stranger")
PUBLIC_BY_LINK = TableAccess(Visibility.PUBLIC, WatchPolicy.LINK)
PUBLIC_UNWATCHED = TableAccess(Visibility.PUBLIC, WatchPolicy.NOBODY)
BY_LINK = TableAccess(Visibility.LINK, WatchPolicy.LINK)
UNWATCHED = TableAccess(Visibility.LINK, WatchPolicy.NOBODY)
WATCH, REPLAY = engine_pb2.LINK_PURPOSE_WATCH, engine_pb2.LINK_PURPOSE_REPLAY
HIDDEN, NOT_FINISHED = "UNKNOWN_TABLE", "TABLE_NOT_FINISHED"
READS = ("GetView", "WatchTable", "GetReplay", "WatchReplay")
STREAMS = ("WatchTable", "GetReplay", "WatchReplay")
ACTS = ("SubmitAction", "SendReaction", "CreateProposal", "CastVote", "SetAway")
DAY_MILLISECONDS = 86_400_000


class Calls:
    """The calls of `caller` at the table t1, each by its name; `link` is theirs."""

    def __init__(self, engine: EngineHarness, tables: Tables) -> None:
        self.tables = tables
        self.caller = STRANGER
        self.link = ""
        self.servicer = engine.servicer(tables)

    async def call(self, name: str, table_id: str = "t1", **fields: Any) -> Any:
        """Return the answer of a call, or the first event of a stream."""
        if name in READS:
            fields["link"] = self.link
        request = getattr(engine_pb2, f"{name}Request")(table_id=table_id, **fields)
        method = getattr(self.servicer, name)
        if name not in STREAMS:
            return await method(request, call_of(self.caller))
        stream = method(request, call_of(self.caller))
        try:
            message = await anext(stream)
            return event_of(message) if name == "WatchTable" else message
        finally:
            await stream.aclose()

    async def reasons(self, *names: str, **fields: Any) -> list[str]:
        """Return the reason of each call's refusal, or "" for one that succeeds."""
        return [await reason_of(self.call(name, **fields)) for name in names]

    async def reads(self) -> list[str]:
        """Return the reasons of the refusals of a view, a stream and a replay."""
        return [*await self.reasons("GetView", "WatchTable"), await self.replay_reason()]

    async def replay_reason(self) -> str:
        """Return the reason of the refusal of a replay, which is the same for the file and the events."""
        # At once, since an engine looks for the end of a running table only now and then.
        (file,), (events,) = await asyncio.gather(self.reasons("GetReplay"), self.reasons("WatchReplay"))
        assert file == events
        return file

    async def finish(self) -> None:
        await play_on(await self.tables.get("t1"), Random(1))

    async def make_link(self, purpose: int) -> str:
        self.caller = PLAYER
        link: str = (await self.call("CreateLink", purpose=purpose)).link
        self.caller = STRANGER
        return link


AtTable: TypeAlias = Callable[[TableAccess], Awaitable[Calls]]


async def reason_of(answer: Awaitable[Any]) -> str:
    try:
        await answer
    except ServiceError as refusal:
        return refusal.reason_name
    return ""


@pytest.fixture
def at_table(engine: EngineHarness) -> AtTable:
    """Return a function that opens the table t1 with an access, and returns the calls of a stranger."""

    async def opened(access: TableAccess) -> Calls:
        await open_table(engine, make_config(access=access))
        return Calls(engine, engine.tables(3))

    return opened


@pytest.mark.parametrize(
    ("access", "link", "running", "finished"),
    [
        (OPEN, None, ["", "", NOT_FINISHED], ["", "", ""]),
        (PUBLIC_BY_LINK, None, [HIDDEN, HIDDEN, NOT_FINISHED], ["", "", ""]),
        (PUBLIC_BY_LINK, WATCH, ["", "", NOT_FINISHED], ["", "", ""]),
        (PUBLIC_UNWATCHED, None, [HIDDEN, HIDDEN, NOT_FINISHED], ["", "", ""]),
        (BY_LINK, None, [HIDDEN, HIDDEN, HIDDEN], [HIDDEN, HIDDEN, HIDDEN]),
        (BY_LINK, WATCH, ["", "", NOT_FINISHED], [HIDDEN, HIDDEN, HIDDEN]),
        (BY_LINK, REPLAY, [HIDDEN, HIDDEN, NOT_FINISHED], ["", "", ""]),
        (UNWATCHED, REPLAY, [HIDDEN, HIDDEN, NOT_FINISHED], ["", "", ""]),
        (SEATED, None, [HIDDEN, HIDDEN, HIDDEN], [HIDDEN, HIDDEN, HIDDEN]),
    ],
)
async def test_a_stranger_reads_what_the_access_and_their_link_allow(
    at_table: AtTable, access: TableAccess, link: int | None, running: list[str], finished: list[str]
) -> None:
    calls = await at_table(access)
    if link is not None:
        calls.link = await calls.make_link(link)
    assert await calls.reads() == running
    await calls.finish()
    assert await calls.reads() == finished
    calls.caller = PLAYER
    calls.link = ""
    assert await calls.reads() == ["", "", ""]


async def test_a_hidden_table_is_refused_as_one_that_does_not_exist(at_table: AtTable) -> None:
    calls = await at_table(SEATED)
    for name in (*READS, *ACTS):
        with pytest.raises(NotFound) as hidden:
            await calls.call(name)
        with pytest.raises(NotFound) as missing:
            await calls.call(name, table_id="t2")
        assert (hidden.value.reason_name, str(hidden.value)) == (HIDDEN, str(missing.value))
    assert await calls.reasons("CreateLink", purpose=WATCH) == [HIDDEN]
    # Its log was not read, which would be work.
    assert not calls.tables.in_memory


async def test_a_stranger_who_may_watch_is_told_that_they_have_no_seat(at_table: AtTable) -> None:
    calls = await at_table(OPEN)
    for name in ("SubmitAction", "CreateProposal", "CastVote", "SetAway"):
        assert await calls.reasons(name, request_id="r") == ["NOT_SEATED"]
    assert await calls.reasons("SendReaction", reaction=REACTION_WOW) == ["NOT_SEATED"]
    assert await calls.reasons("CreateLink", purpose=WATCH) == ["NOT_SEATED"]


async def test_a_spectator_who_reacts_with_their_link_is_told_that_they_have_no_seat(at_table: AtTable) -> None:
    calls = await at_table(BY_LINK)
    for link, reason in (("", HIDDEN), (await calls.make_link(WATCH), "NOT_SEATED")):
        assert await calls.reasons("SendReaction", reaction=REACTION_WOW, link=link) == [reason]


async def test_a_removed_player_has_no_access_to_a_public_table_even_with_a_link(at_table: AtTable) -> None:
    calls = await at_table(replace(OPEN, removed_players=(STRANGER.id,)))
    for purpose in (WATCH, REPLAY):
        calls.link = await calls.make_link(purpose)
        assert await calls.reads() == [HIDDEN, HIDDEN, HIDDEN]
    assert await calls.reasons(*ACTS) == [HIDDEN] * len(ACTS)
    await calls.finish()
    assert await calls.reads() == [HIDDEN, HIDDEN, HIDDEN]


LINKS = [
    (OPEN, "", ""),
    (PUBLIC_UNWATCHED, "LINK_NOT_ALLOWED", ""),
    (BY_LINK, "", ""),
    (SEATED, *["LINK_NOT_ALLOWED"] * 2),
]


@pytest.mark.parametrize(("access", "watch", "replay"), LINKS)
async def test_links_are_created_for_the_purposes_that_the_access_allows(
    at_table: AtTable, access: TableAccess, watch: str, replay: str
) -> None:
    calls = await at_table(access)
    calls.caller = PLAYER
    for purpose, reason in {WATCH: watch, REPLAY: replay}.items():
        assert await calls.reasons("CreateLink", purpose=purpose) == [reason]


async def test_the_host_creates_links_before_the_game_which_open_what_the_access_allows_then(
    engine: EngineHarness,
) -> None:
    tables, config = engine.tables(3), make_config()
    await tables.prepare("t1", "thulla", config.seat_count, {}, config.clock, host_player_id=PLAYER.id)
    calls = Calls(engine, tables)
    with pytest.raises(NotFound) as missing:
        await calls.call("CreateLink", table_id="t2", purpose=WATCH)
    with pytest.raises(NotFound) as hidden:
        await calls.call("CreateLink", purpose=WATCH)
    assert str(hidden.value) == str(missing.value)
    links = {purpose: await calls.make_link(purpose) for purpose in (WATCH, REPLAY)}
    for calls.caller in (STRANGER, PLAYER):
        for calls.link in links.values():
            assert await calls.reasons(*READS, *ACTS) == [HIDDEN] * (len(READS) + len(ACTS))
    await tables.open("t1", config.seats, [b""] * config.seat_count, UNWATCHED)
    calls.caller = STRANGER
    for calls.link, running in ((links[WATCH], HIDDEN), (links[REPLAY], NOT_FINISHED)):
        assert await calls.reads() == [HIDDEN, HIDDEN, running]
    await calls.finish()
    assert await calls.reads() == ["", "", ""]


async def test_the_host_who_prepared_a_table_has_no_seat_there_that_the_game_does_not_give_them(
    engine: EngineHarness,
) -> None:
    tables, config = engine.tables(3), make_config()
    await tables.prepare("t1", "thulla", config.seat_count, {}, config.clock, host_player_id=STRANGER.id)
    await tables.open("t1", config.seats, [b""] * config.seat_count, OPEN)
    assert await Calls(engine, tables).reasons("CreateLink", purpose=WATCH) == ["NOT_SEATED"]


async def test_a_link_is_valid_for_its_table_until_it_expires(at_table: AtTable, engine: EngineHarness) -> None:
    calls = await at_table(BY_LINK)
    calls.caller = PLAYER
    created = await calls.call("CreateLink", purpose=WATCH)
    calls.caller = STRANGER
    calls.link = created.link
    assert created.expiry_time.ToMilliseconds() == engine.clock() + DAY_MILLISECONDS
    await open_table(engine, make_config(table_id="t2"))
    assert await calls.reasons("GetView", table_id="t2") == [HIDDEN]
    engine.clock.advance(DAY_MILLISECONDS - 1)
    assert await calls.reasons("GetView") == [""]
    engine.clock.advance(1)
    assert await calls.reasons("GetView") == ["INVALID_LINK"]


async def test_a_forged_link_is_refused_and_a_link_is_no_access_token(at_table: AtTable, engine: EngineHarness) -> None:
    calls = await at_table(BY_LINK)
    link = await calls.make_link(WATCH)
    other_key = links_by(Ed25519PrivateKey.generate(), 1, engine.clock).issue("t1", LinkPurpose.WATCH)[0]
    other_audience = TokenIssuer(LINK_KEY, PLAYER_AUDIENCE, 60, engine.clock).issue("t1", LinkPurpose.WATCH)[0]
    for forged in ("x", link[:-8], f"{link}x", "x" * 10_000, other_key, other_audience):
        calls.link = forged
        assert await calls.reads() == ["INVALID_LINK"] * 3
    with pytest.raises(Unauthenticated):
        TokenVerifier(LINK_KEY.public_key(), PLAYER_AUDIENCE, engine.clock).verify(link)


@pytest.mark.parametrize("name", STREAMS)
async def test_a_watch_link_opens_no_game_whose_end_an_engine_does_not_know_yet(
    at_table: AtTable, engine: EngineHarness, name: str
) -> None:
    calls = await at_table(BY_LINK)
    behind = Calls(engine, engine.another_engine().tables(3))
    behind.link = await calls.make_link(WATCH)
    table = await behind.tables.get("t1")
    later = {"after_sequence": table.state.sequence + 1} if name == "WatchTable" else {}
    await calls.finish()
    engine.clock.advance(1_000)
    assert not table.state.is_over
    assert await behind.reasons(name, **later) == [HIDDEN]


async def test_a_watch_link_opens_no_table_that_ends_while_its_log_is_read(
    at_table: AtTable, engine: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = await at_table(BY_LINK)
    cold = Calls(engine, engine.another_engine().tables(3))
    cold.link = await calls.make_link(WATCH)
    await calls.tables.get("t1")
    found = HeldCall(engine.store, "find", monkeypatch)
    reading = {asyncio.ensure_future(cold.reasons(name)) for name in ("GetView", "WatchTable")}
    await found.until_read()
    await calls.finish()
    found.release()
    assert [await within_timeout(reasons) for reasons in reading] == [[HIDDEN], [HIDDEN]]


async def test_a_stream_that_is_open_at_the_end_brings_it_and_cannot_be_opened_again(at_table: AtTable) -> None:
    calls = await at_table(BY_LINK)
    calls.link = await calls.make_link(WATCH)
    stream = calls.servicer.WatchTable(engine_pb2.WatchTableRequest(table_id="t1", link=calls.link), call_of(STRANGER))
    assert event_of(await anext(stream)).HasField("snapshot")
    await calls.finish()
    *_, last = [event_of(message) async for message in stream]
    assert any(fact.HasField("game_ended") for fact in last.update.facts)
    assert await calls.reasons("WatchTable", after_sequence=last.update.sequence - 1) == [HIDDEN]


async def test_strangers_know_the_end_of_a_game_after_the_delay(at_table: AtTable, engine: EngineHarness) -> None:
    calls = await at_table(replace(OPEN, watch_delay_seconds=30))
    begun = (await calls.call("GetView")).snapshot.sequence
    await calls.finish()
    ended = (await calls.tables.get("t1")).state.sequence
    assert (await calls.call("GetView")).snapshot.sequence == begun == 0
    assert await calls.replay_reason() == NOT_FINISHED
    engine.clock.advance(29_999)
    await calls.tables.evict(0)
    cold = Calls(engine, engine.tables(3))
    for each in (calls, cold):
        assert await each.replay_reason() == NOT_FINISHED
        assert not (await each.call("GetView")).snapshot.revealed_seed
    calls.caller = PLAYER
    assert await calls.replay_reason() == ""
    assert (await calls.call("GetView")).snapshot.sequence == ended
    calls.caller = STRANGER
    engine.clock.advance(1)
    assert await calls.replay_reason() == ""
    snapshot = (await calls.call("GetView")).snapshot
    assert (snapshot.sequence, bool(snapshot.revealed_seed)) == (ended, True)


async def test_an_unknown_reaction_is_refused_for_good_unless_another_engine_may_know_it(
    at_table: AtTable, engine: EngineHarness
) -> None:
    calls = await at_table(OPEN)
    calls.caller = PLAYER
    assert await calls.reasons("SendReaction", reaction=99) == ["UNKNOWN_REACTION"]
    engine.liveness_store.others = [None]
    assert await calls.reasons("SendReaction", reaction=99) == ["TABLE_TOO_NEW"]
