"""The tables of the players who follow their own ones: who has a seat where, so that they know when it is gone."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from croupier.lobby.tables.engine_port import Turn
from croupier.lobby.tables.forming_table import Table, TableState, players_of
from croupier.lobby.tables.rematch import has_ended

MAX_VERSIONS = 4000
"""The newest versions of changed tables to know, so that no older one follows them."""
SLOW_ACTION_SECONDS = 600
"""From this action time on turns are sent: faster games are followed at the engine."""


@dataclass(slots=True)
class OwnTable:
    """A table with its players who follow their own tables, and the turn that they were sent, None before any."""

    players: dict[str, None] = field(default_factory=dict)
    is_forming: bool = False
    is_slow: bool = False
    turn: Turn | None = None


class OwnTables:
    """The tables at which players have seats who follow their own tables."""

    def __init__(self) -> None:
        self._tables: dict[str, OwnTable] = {}
        self._of_player: dict[str, dict[str, None]] = {}
        self._versions: OrderedDict[str, int] = OrderedDict()

    def forming(self) -> Iterator[tuple[str, str]]:
        """Yield each player at a forming table, after the table, by their ids."""
        for table_id, own in self._tables.items():
            if own.is_forming:
                for player_id in own.players:
                    yield table_id, player_id

    def slow(self) -> list[str]:
        """Return the slow games that are being played."""
        return [table_id for table_id, own in self._tables.items() if own.is_slow]

    def turn_of(self, table_id: str) -> Turn | None:
        """Return the turn that was sent last."""
        own = self._tables.get(table_id)
        return own.turn if own else None

    def set_turn(self, table: Table, turn: Turn) -> list[str]:
        """Set the turn of a slow game and return its players.

        Returns no player if the game is over, or if a newer version of the table is known.
        """
        own = self._tables.get(table.table_id)
        if own is None or not own.is_slow or table.version < self._versions.get(table.table_id, 0):
            return []
        self._remember_version(table)
        own.turn = turn
        return list(own.players)

    def follow(self, player_id: str, table_ids: Iterable[str]) -> None:
        """Let a player follow tables at which they had a seat; `see` is to be called next with each of them."""
        for table_id in table_ids:
            self._tables.setdefault(table_id, OwnTable()).players[player_id] = None
            self._of_player.setdefault(player_id, {})[table_id] = None

    def see(self, table: Table) -> None:
        """Record the state of a followed table that was read from the store."""
        if own := self._tables.get(table.table_id):
            own.is_forming = table.state is TableState.FORMING
            is_slow = table.time_control.action_seconds >= SLOW_ACTION_SECONDS
            own.is_slow = is_slow and table.state is TableState.PLAYING

    def unfollow(self, player_id: str, table_ids: Iterable[str]) -> None:
        """Forget that a player follows tables."""
        of_player = self._of_player.get(player_id, {})
        for table_id in table_ids:
            of_player.pop(table_id, None)
            if own := self._tables.get(table_id):
                own.players.pop(player_id, None)
                if not own.players:
                    del self._tables[table_id]

    def forget(self, player_id: str) -> None:
        """Forget a player who follows nothing any more."""
        self.unfollow(player_id, list(self._of_player.get(player_id, ())))
        self._of_player.pop(player_id, None)

    def change(self, table: Table, followers: Collection[str]) -> list[str]:
        """Record a changed table, and return the followers who had a seat there, and those who have one until it ends.

        Those who saw a game end wait for the next table. Returns no player if this version, or a newer one, is known.
        """
        table_id = table.table_id
        if table.version <= self._versions.get(table_id, 0):
            return []
        own = self._tables.get(table_id)
        seated = sorted(players_of(table).intersection(followers)) if table.is_running else []
        concerned = dict.fromkeys((*(own.players if own else ()), *seated))
        if not concerned:
            return []
        self._remember_version(table)
        for player_id in concerned:
            if table.seat_of(player_id) is not None and not has_ended(table, player_id):
                self.follow(player_id, (table_id,))
            else:
                self.unfollow(player_id, (table_id,))
        self.see(table)
        return list(concerned)

    def _remember_version(self, table: Table) -> None:
        self._versions[table.table_id] = table.version
        self._versions.move_to_end(table.table_id)
        if len(self._versions) > MAX_VERSIONS:
            self._versions.popitem(last=False)
