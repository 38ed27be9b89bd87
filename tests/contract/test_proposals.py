"""Proposals and votes over real connections: who hears what, every refusal, engines that die or share a log."""

import asyncio
import shutil
import uuid
from collections.abc import Awaitable, Iterator
from pathlib import Path

import pytest

from croupier_api.v1 import engine_pb2 as pb
from tests.contract.house import CALL_SECONDS, Engine, House, Refusal, Stream, computer, person, refusal, visit

PLAYERS = ("anna", "ben", "cleo", "dan")
FOUR = tuple(person(player) for player in PLAYERS)


def propose(
    house: House, table: str, player: str, proposal: str = "restart_same", request_id: str = ""
) -> Awaitable[pb.ProposeResponse]:
    request = pb.ProposeRequest(table_id=table, request_id=request_id or uuid.uuid4().hex, proposal=proposal)
    return house.players.Propose(request, metadata=house.engine.player(player), timeout=CALL_SECONDS)


def vote(
    house: House, table: str, player: str, sequence: int, agree: bool = True, request_id: str = ""
) -> Awaitable[pb.VoteResponse]:
    name = request_id or uuid.uuid4().hex
    request = pb.VoteRequest(table_id=table, request_id=name, proposal_sequence=sequence, agree=agree)
    return house.players.Vote(request, metadata=house.engine.player(player), timeout=CALL_SECONDS)


async def connected(house: House, table: str, *players: str) -> dict[str, Stream]:
    """A stream of each player, which has brought its snapshot."""
    streams = {}
    for player in players:
        streams[player] = house.play(player)
        await streams[player].write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table)))
        assert (await streams[player].read()).HasField("snapshot")
    return streams


async def next_update(stream: Stream) -> pb.TableUpdate:
    """The next entry that a stream tells of."""
    while not (message := await asyncio.wait_for(stream.read(), CALL_SECONDS)).HasField("update"):
        pass
    update: pb.TableUpdate = message.update
    return update


@pytest.fixture
async def table(house: House) -> str:
    return await house.new_table(*FOUR, game="solo")


async def test_all_agree_and_the_hand_begins_again(house: House, table: str) -> None:
    streams = await connected(house, table, *PLAYERS)
    before = await house.view(table, "anna")
    sequence = (await propose(house, table, "cleo")).sequence
    assert sequence == 2
    snapshot = await house.view(table, "eve")
    assert (snapshot.proposal.sequence, snapshot.proposal.name, snapshot.proposal.proposer) == (2, "restart_same", 2)
    for number, player in enumerate(("anna", "ben", "dan"), start=3):
        assert (await vote(house, table, player, sequence)).sequence == number
    for stream in streams.values():
        told = [await next_update(stream) for _ in range(5)]
        assert [update.sequence for update in told] == [2, 3, 4, 5, 6]
        assert [list(update.proposal.agreed_seats) for update in told[:4]] == [[2], [0, 2], [0, 1, 2], [0, 1, 2, 3]]
        assert [update.seat for update in told[:4]] == [2, 0, 1, 3]
        assert told[4].facts
        assert not told[4].HasField("seat")
        assert not told[4].HasField("proposal")
        stream.cancel()
    after = await house.view(table, "anna")
    assert (after.sequence, after.view, after.HasField("proposal")) == (6, before.view, False)
    assert after.clock.deadline_milliseconds > before.clock.deadline_milliseconds


async def test_a_hand_against_computer_players_begins_again_with_new_cards_at_once(house: House) -> None:
    table = await house.new_table(person("anna"), *(computer() for _ in range(3)), game="solo")
    before = await house.view(table, "anna")
    sequence = (await propose(house, table, "anna", "restart_new")).sequence
    after = await house.view(table, "anna")
    assert after.sequence >= sequence + 2
    assert list(after.view.seats[0].cards) != list(before.view.seats[0].cards)
    assert after.view.round == before.view.round


async def test_what_is_refused(house: House, table: str) -> None:
    unknown = Refusal("INVALID_ARGUMENT", "UNKNOWN_PROPOSAL")
    nowhere, text = Refusal("NOT_FOUND", "UNKNOWN_TABLE"), Refusal("INVALID_ARGUMENT", "TEXT_LENGTH")
    stranger = Refusal("PERMISSION_DENIED", "NOT_YOUR_TABLE")
    nothing = Refusal("FAILED_PRECONDITION", "NOTHING_PROPOSED")
    thulla = await house.new_table()
    for call, expected in (
        (propose(house, table, "anna", "redeal"), unknown),
        (propose(house, table, "anna", ""), unknown),
        (propose(house, table, "anna", "x" * 10_000), unknown),
        (propose(house, thulla, "anna"), unknown),
        (propose(house, "nowhere", "anna"), nowhere),
        (vote(house, "nowhere", "anna", 1), nowhere),
        (propose(house, table, "eve"), stranger),
        (vote(house, table, "eve", 1), stranger),
        (propose(house, table, "anna", request_id="x" * 65), text),
        (vote(house, table, "anna", 1, request_id="a\nb"), text),
        (vote(house, table, "anna", 1), nothing),
        (vote(house, thulla, "anna", 0), nothing),
    ):
        assert await refusal(call) == expected
    assert (await house.view(table, "anna")).sequence == 1


async def test_what_is_refused_while_something_is_proposed(house: House, table: str) -> None:
    streams = await connected(house, table, *PLAYERS)
    sequence = (await propose(house, table, "anna", request_id="p")).sequence
    await vote(house, table, "ben", sequence, request_id="v")
    reused = Refusal("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    for call, expected in (
        (propose(house, table, "ben", "restart_new"), Refusal("FAILED_PRECONDITION", "PROPOSAL_OPEN")),
        (vote(house, table, "cleo", sequence - 1), Refusal("FAILED_PRECONDITION", "ANOTHER_PROPOSAL")),
        (vote(house, table, "cleo", 2**64 - 1), Refusal("FAILED_PRECONDITION", "ANOTHER_PROPOSAL")),
        (vote(house, table, "anna", sequence, False), Refusal("FAILED_PRECONDITION", "ALREADY_VOTED")),
        (vote(house, table, "ben", sequence), Refusal("FAILED_PRECONDITION", "ALREADY_VOTED")),
        (vote(house, table, "ben", sequence, False, "v"), reused),
        (propose(house, table, "anna", "restart_new", "p"), reused),
    ):
        assert await refusal(call) == expected
    assert (await propose(house, table, "anna", request_id="p")).sequence == sequence
    assert (await vote(house, table, "ben", sequence, request_id="v")).sequence == sequence + 1
    assert (await house.view(table, "anna")).sequence == sequence + 1
    for stream in streams.values():
        stream.cancel()


async def test_a_seat_that_proposes_again_and_again_has_to_wait(house: House, table: str) -> None:
    streams = await connected(house, table, *PLAYERS)
    for _ in range(3):
        sequence = (await propose(house, table, "anna")).sequence
        await vote(house, table, "ben", sequence, agree=False)
    assert await refusal(propose(house, table, "anna")) == Refusal("RESOURCE_EXHAUSTED", "TOO_MANY_PROPOSALS")
    await propose(house, table, "ben")
    for stream in streams.values():
        stream.cancel()


async def test_at_a_finished_table_nothing_is_proposed_or_voted_on(house: House) -> None:
    table = await house.new_table()
    await house.play_on(table, "anna", "ben")
    for call in (propose(house, table, "anna"), vote(house, table, "anna", 1)):
        assert await refusal(call) == Refusal("FAILED_PRECONDITION", "TABLE_FINISHED")


async def test_an_open_proposal_outlives_an_engine_that_is_killed(own_engine: Engine) -> None:
    async with visit(own_engine) as house:
        table = await house.new_table(*FOUR, game="solo")
        streams = await connected(house, table, *PLAYERS)
        await propose(house, table, "anna", request_id="p")
        await vote(house, table, "ben", 2, request_id="v")
        before = await house.view(table, "cleo")
        own_engine.kill()
    own_engine.start()
    async with visit(own_engine) as house:
        assert await house.view(table, "cleo") == before
        streams = await connected(house, table, *PLAYERS)
        assert (await propose(house, table, "anna", request_id="p")).sequence == 2
        assert (await vote(house, table, "ben", 2, request_id="v")).sequence == 3
        await vote(house, table, "cleo", 2)
        await vote(house, table, "dan", 2)
        assert [(await next_update(streams["ben"])).sequence for _ in range(3)] == [4, 5, 6]
        assert not (await house.view(table, "ben")).HasField("proposal")


@pytest.fixture
def two_engines(own_engine: Engine, tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    """Two engines with the same keys on one database."""
    shutil.copytree(own_engine.folder, tmp_path / "second", ignore=shutil.ignore_patterns("engine.db*", "*.json"))
    second = Engine(tmp_path / "second")
    second.start("--database", f"sqlite+aiosqlite:///{own_engine.folder}/engine.db")
    yield own_engine, second
    second.kill()


async def test_two_engines_on_one_database_count_every_vote_once(two_engines: tuple[Engine, Engine]) -> None:
    first, second = two_engines
    async with visit(first) as here, visit(second) as there:
        table = await here.new_table(*FOUR, game="solo")
        following = [await connected(house, table, *PLAYERS) for house in (here, there)]
        assert (await propose(here, table, "anna")).sequence == 2
        assert (await vote(there, table, "ben", 2)).sequence == 3
        both = await asyncio.gather(vote(here, table, "cleo", 2), vote(there, table, "dan", 2))
        assert sorted(answer.sequence for answer in both) == [4, 5]
        for house in (here, there):
            stream = house.play("eve")
            await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table, after_sequence=5)))
            happened = await next_update(stream)
            assert (happened.sequence, happened.HasField("seat")) == (6, False)
            stream.cancel()
        for streams in following:
            for stream in streams.values():
                stream.cancel()
