"""A new name of a player reaches the forming tables where they sit, and no others."""

from contextlib import aclosing

from croupier.lobby.accounts.players import Player
from croupier.lobby.assembly import Lobby
from croupier.lobby.tables.forming_table import TableState
from croupier.runtime.admission.budget import SECOND, Budget
from croupier.runtime.admission.costs import RENAMED_SEAT_COST
from croupier.runtime.database.database import Database
from croupier_api.v1 import lobby_pb2 as pb
from tests.calls import call_of, limits
from tests.databases import execute
from tests.lobby.fakes import ALONE, HIDDEN_PAIRS, PAIRS, add_players
from tests.lobby.matches import ADA, BOB, EVE, next_message, ready, waiting


async def names(lobby: Lobby, table_id: str) -> list[str]:
    (table,) = await lobby.housekeeper.tables.list_by_ids([table_id])
    return [seat.name for seat in table.seats]


async def test_a_rename_reaches_forming_tables_and_those_who_watch_them(lobby: Lobby) -> None:
    await add_players(lobby, ADA)
    forming = await lobby.tables.create(BOB, HIDDEN_PAIRS)
    await lobby.tables.join_by_invite_code(ADA, forming.invite_code)
    await ready(lobby, forming, BOB)
    begun = await lobby.tables.create(ADA, ALONE)
    await ready(lobby, begun, ADA)
    budget = Budget("player_calls", 1, 1000, lambda: SECOND)
    async with aclosing(lobby.tables.watch_table(BOB.player_id, forming.table_id)) as stream:
        before, _ = await next_message(stream), await next_message(stream)
        call = call_of(ADA.player_id, limits(player=budget))
        answer = await lobby.servicer.UpdatePlayer(pb.UpdatePlayerRequest(name=BOB.name), call)
        after = (await next_message(stream)).table
    assert answer == pb.UpdatePlayerResponse(player=pb.Player(player_id=ADA.player_id, name=BOB.name, device_count=1))
    assert before.table is not None
    assert after is not None
    # A number tells two of one name apart; nobody has to get ready again.
    assert [seat.name for seat in after.seats] == [BOB.name, f"{BOB.name} 2"]
    assert [seat.is_ready for seat in after.seats] == [seat.is_ready for seat in before.table.seats] == [True, False]
    assert await names(lobby, begun.table_id) == [ADA.name]
    assert budget.wait(ADA.player_id, 1000) == RENAMED_SEAT_COST * SECOND


async def test_a_rename_to_the_name_that_a_seat_has_changes_nothing(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    assert await lobby.servicer.seated.rename(ADA) == 1
    assert await lobby.housekeeper.tables.get(table.table_id) == table


async def test_a_sign_in_with_a_name_renames_seats_too(lobby: Lobby) -> None:
    request = pb.SignInRequest(device_secret="a secret of the device", name="Ada")
    signed_in = await lobby.servicer.SignIn(request, call_of())
    player = Player(signed_in.player.player_id, "Ada")
    table = await lobby.tables.create(player, PAIRS)
    request.name = "Ada Lovelace"
    await lobby.servicer.SignIn(request, call_of())
    assert await names(lobby, table.table_id) == ["Ada Lovelace", ""]


async def test_a_player_who_waits_for_a_match_is_seated_with_the_new_name(lobby: Lobby, database: Database) -> None:
    await add_players(lobby, ADA)
    streams = await waiting(lobby, ADA, EVE)
    await lobby.auth.rename(ADA.player_id, "Ada Lovelace")
    await lobby.matchmaker.tick()
    await lobby.matchmaker.settled()
    (table,) = await lobby.housekeeper.tables.list_in_states({TableState.PLAYING}, "", 10)
    assert {seat.name for seat in table.seats} == {"Ada Lovelace", EVE.name}
    for stream in streams:
        await stream.aclose()
    # A ticket that has its table keeps the name of the seat.
    await lobby.auth.rename(ADA.player_id, "Ada")
    assert ("Ada Lovelace",) in await execute(database, "SELECT name FROM lobby_tickets")


async def test_a_seat_taken_after_a_rename_has_the_new_name_with_an_older_token(lobby: Lobby) -> None:
    await add_players(lobby, ADA)
    await lobby.auth.rename(ADA.player_id, "Ada Lovelace")
    created = await lobby.servicer.CreateTable(
        pb.CreateTableRequest(game="pairs", seat_count=2), call_of(ADA.player_id)
    )
    assert created.table.seats[0].name == "Ada Lovelace"
