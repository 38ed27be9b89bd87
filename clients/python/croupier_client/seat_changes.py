"""The order of the changes of a player's seat at a forming table: the retry of one must not undo a later one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from croupier_api.v1 import lobby_pb2
from croupier_client.rpc import Rpc

_CHANGES = (lobby_pb2.JoinTableRequest, lobby_pb2.SetReadyRequest, lobby_pb2.LeaveTableRequest)


class SeatChanges:
    """The changes that a client makes now: the newest one at each table."""

    def __init__(self) -> None:
        self._newest: dict[str, Rpc[Any]] = {}

    @contextmanager
    def making(self, rpc: Rpc[Any]) -> Iterator[None]:
        """Make a call; if it changes the seat, older calls that do are retried no more."""
        if isinstance(rpc.request, _CHANGES):
            self._newest[rpc.table_id] = rpc
        try:
            yield
        finally:
            if self._newest.get(rpc.table_id) is rpc:
                del self._newest[rpc.table_id]

    def is_overtaken(self, rpc: Rpc[Any]) -> bool:
        """Return whether the player has changed their seat at the table since this call."""
        return isinstance(rpc.request, _CHANGES) and self._newest.get(rpc.table_id) is not rpc
