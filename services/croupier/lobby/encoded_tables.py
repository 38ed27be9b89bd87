"""The messages of WatchTables, encoded once for all streams and lists that send the same one."""

from collections import OrderedDict

from croupier.lobby.codec import encode_table
from croupier.lobby.tables import Table
from croupier_api.v1.lobby_pb2 import WatchTablesResponse

MAX_MESSAGES = 4000
"""Of about 500 bytes each."""


class EncodedTables:
    """The encoded messages of the versions of tables that were sent last."""

    def __init__(self) -> None:
        self._messages: OrderedDict[tuple[str, int, bool], bytes] = OrderedDict()

    def message(self, table: Table, viewer_id: str) -> bytes:
        """Return the encoded WatchTablesResponse for a viewer; only a player of the table gets the invite code."""
        shows_invite_code = bool(table.invite_code) and table.seat_of(viewer_id) is not None
        key = (table.table_id, table.version, shows_invite_code)
        message = self._messages.get(key)
        if message is None:
            message = WatchTablesResponse(table=encode_table(table, viewer_id)).SerializeToString()
            self._messages[key] = message
            if len(self._messages) > MAX_MESSAGES:
                self._messages.popitem(last=False)
        return message
