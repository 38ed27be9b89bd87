"""The games that attackers take are any that are installed and offered."""

import pytest

from croupier_api.v1 import tables_pb2
from croupier_loadtest.installed import chosen_games, mix_entry
from croupier_loadtest.players.attackers.games import AttackedGames
from croupier_loadtest.players.attackers.hoarding import MAX_TICKETS
from tests.games.toy import TOY

OWN, ONLY_TOY = AttackedGames(chosen_games("thulla,one_ten,jossing,one_oh_one,solo")), AttackedGames([mix_entry(TOY)])
FIXED = AttackedGames(chosen_games("solo"))


def test_tables_have_numbers_of_seats_that_the_game_has() -> None:
    for games, fewest, near_three in ((OWN, 2, 3), (ONLY_TOY, 2, 3), (FIXED, 4, 4)):
        assert games.small_table().seat_count == games.endless_table().seat_count == fewest
        assert games.table_near(3).seat_count == near_three
        assert games.table_near(30).seat_count == max(games.usual.seats)
        assert games.small_table().game == games.usual.game


def test_a_game_with_a_way_to_stall_is_played_on_and_on_and_any_other_without_one() -> None:
    table = OWN.endless_table()
    assert (table.game, dict(table.options)) == ("one_oh_one", {"may_draw_instead": True, "max_rounds": 1})
    assert table.access.visibility == tables_pb2.VISIBILITY_SEATED
    assert OWN.stalling_action is not None
    assert OWN.stalling_action.HasField("draw")
    assert (ONLY_TOY.endless_table().game, ONLY_TOY.stalling_action) == ("toy", None)


@pytest.mark.parametrize("games", [OWN, ONLY_TOY, FIXED], ids=["all own games", "the toy", "four seats only"])
def test_tickets_lack_a_player_and_attackers_are_not_matched_with_each_other(games: AttackedGames) -> None:
    tickets = [
        [(ticket.game, ticket.seat_count) for ticket in games.tickets(has_one_network=has_one_network)]
        for has_one_network in (True, False)
    ]
    for wanted in tickets:
        assert all(wanted.count(criteria) < criteria[1] for criteria in wanted)
    one, many = map(set, tickets)
    assert one
    assert not one & many


def test_tickets_of_own_games_reach_the_limit_of_a_network() -> None:
    assert len(OWN.tickets(has_one_network=True)) >= MAX_TICKETS
