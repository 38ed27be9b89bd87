"""Defects by which an engine grows as long as it runs."""

import os

from croupier.engine.caretaker import Caretaker
from croupier.engine.live import LiveTable
from croupier.engine.streams import Subscription
from croupier.engine.tables import Tables
from croupier.runtime.stream_places import StreamPlaces
from tests.loadtest.broken.defect import named, put

LEAKED_BYTES = 2_000_000
FILES_OF_A_STREAM = 5

_kept: list[bytes | int] = []


def keep_memory() -> None:
    """Whatever the caretaker finds when he goes round is kept."""
    sweep = Caretaker.sweep

    async def hoarding(one: Caretaker) -> None:
        _kept.append(os.urandom(LEAKED_BYTES))
        await sweep(one)

    put(Caretaker, "sweep", hoarding)


def keep_files() -> None:
    """Files that were opened for a stream stay open."""
    unsubscribe = LiveTable.unsubscribe

    def forgetful(one: LiveTable, stream: Subscription) -> None:
        _kept.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(FILES_OF_A_STREAM))
        unsubscribe(one, stream)

    put(LiveTable, "unsubscribe", forgetful)


def keep_streams() -> None:
    """Streams that have ended are counted among the open ones."""

    count = StreamPlaces._count

    def uncounted(one: StreamPlaces, player_id: str, more: int) -> None:
        if more > 0:
            count(one, player_id, more)

    put(StreamPlaces, "_count", uncounted)


def keep_tables() -> None:
    """Tables whose games are over stay with those that are played."""

    def untidy(_: Tables, __: int) -> None:
        return

    put(Tables, "tidy", untidy)


GROWTH = named("engine", (keep_memory, keep_files, keep_streams, keep_tables))
