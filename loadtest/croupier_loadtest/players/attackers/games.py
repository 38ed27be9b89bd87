"""The games that attackers take: all that are installed and offered, whichever these are."""

from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.json_format import Parse

from croupier_api.v1 import actions_pb2, lobby_pb2, tables_pb2
from croupier_client.methods import encode_options
from croupier_loadtest.mix import NO_OPTIONS, MixEntry

MIN_MATCHED_SEATS = 3
"""Of a ticket that waits beside another one."""
SEATED = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_SEATED)
"""Of tables that are not on the leaderboard, where they would be unknown to the judge, and that nobody else joins."""


@dataclass(frozen=True, slots=True)
class AttackedGames:
    """The games, at least one."""

    entries: Sequence[MixEntry]

    @property
    def usual(self) -> MixEntry:
        """The game of attacks for which any will do: the first one with several numbers of seats, if any has."""
        return next((entry for entry in self.entries if len(entry.seats) > 1), self.entries[0])

    @property
    def endless(self) -> MixEntry:
        """The game that is played on and on: one with a way to stall, if there is one."""
        return next((entry for entry in self.entries if entry.stalling is not None), self.usual)

    @property
    def stalling_action(self) -> actions_pb2.Action | None:
        """The action that may be repeated for ever in the endless game; None if it has none."""
        stalling = self.endless.stalling
        return Parse(stalling.action, actions_pb2.Action()) if stalling is not None else None

    def bot_of(self, game: str) -> str:
        """Return the quickest kind of bot of a game."""
        return next(entry.bot for entry in self.entries if entry.game == game)

    def small_table(self, access: tables_pb2.TableAccess | None = None) -> lobby_pb2.CreateTableRequest:
        """Return the request for a table of the usual game with the fewest seats."""
        return lobby_pb2.CreateTableRequest(game=self.usual.game, seat_count=min(self.usual.seats), access=access)

    def table_near(self, seats: int, access: tables_pb2.TableAccess | None = None) -> lobby_pb2.CreateTableRequest:
        """Return the request for a table of the usual game with about so many seats."""
        nearest = min(self.usual.seats, key=lambda number: abs(number - seats))
        return lobby_pb2.CreateTableRequest(game=self.usual.game, seat_count=nearest, access=access)

    def endless_table(self) -> lobby_pb2.CreateTableRequest:
        """Return the request for a table of the endless game with the fewest seats."""
        entry = self.endless
        options = encode_options(entry.stalling.options if entry.stalling is not None else NO_OPTIONS)
        return lobby_pb2.CreateTableRequest(
            game=entry.game, seat_count=min(entry.seats), options=options, access=SEATED
        )

    def tickets(self, *, has_one_network: bool) -> list[lobby_pb2.FindMatchRequest]:
        """Return requests for matches that are never found, since each lacks a player.

        With many networks they are for the first game, else for the others: one attacker is not matched with the other.
        """
        first, others = self.entries[:1], self.entries[1:]
        entries = (others or first) if has_one_network else (first if others else ())
        return [
            lobby_pb2.FindMatchRequest(game=entry.game, seat_count=seats)
            for entry in entries
            for seats in entry.seats
            if seats >= MIN_MATCHED_SEATS
            for _ in range(2, seats)
        ]
