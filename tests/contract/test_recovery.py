"""An engine that is killed in the middle of a game loses nothing that it acknowledged."""

import asyncio

import grpc

from croupier_api.v1 import engine_pb2 as pb
from tests.contract.house import Engine, House, Played, all_of, computer, person, visit

PATIENCE_SECONDS = 20.0


async def follow(house: House, table: str, player_id: str, played: Played) -> None:
    """Play from the first entry on."""
    call = house.play(player_id)
    await call.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table, after_sequence=0)))
    await played.follow(call)


async def test_a_game_goes_on_after_the_engine_was_killed(own_engine: Engine) -> None:
    played = {"anna": Played(), "ben": Played()}
    async with visit(own_engine) as house:
        table = await house.new_table(person("anna"), person("ben"), computer())
        playing = [asyncio.create_task(follow(house, table, name, each)) for name, each in played.items()]
        for each in played.values():
            await asyncio.wait_for(each.under_way.wait(), PATIENCE_SECONDS)
        own_engine.kill()
        for outcome in await asyncio.gather(*playing, return_exceptions=True):
            assert isinstance(outcome, grpc.aio.AioRpcError)
            # A write that meets the end of the stream hides the status behind one of grpc's own.
            assert outcome.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL)
    acknowledged = {name: list(each.acknowledged) for name, each in played.items()}
    own_engine.start()
    async with visit(own_engine) as house:
        for seat, name in enumerate(played):
            view = await house.view(table, name)
            assert view.viewer_seat == seat
            assert view.sequence >= max(acknowledged[name])
        await asyncio.wait_for(house.play_on(table, "anna", "ben"), PATIENCE_SECONDS)
        for seat, (name, each) in enumerate(played.items()):
            watch = house.players.WatchTable(
                pb.WatchTableRequest(table_id=table, after_sequence=0), metadata=own_engine.player(name), timeout=10
            )
            updates = [message.update for message in await all_of(watch)]
            assert updates[: len(each.heard)] == each.heard
            assert [update.sequence for update in updates] == list(range(1, len(updates) + 1))
            acted = {update.sequence for update in updates if update.HasField("seat") and update.seat == seat}
            assert set(acknowledged[name]) <= acted
        assert (await house.view(table, "eve")).view.ranking
