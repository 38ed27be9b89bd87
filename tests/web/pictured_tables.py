"""Tables for pictures of the page, played by seeded players up to a moment worth a look."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random

from google.protobuf.duration_pb2 import Duration

from croupier_api.v1.tables_pb2 import TimeControl
from croupier_client import BlockingClient, Endpoints, choose_random_action
from croupier_client.blocking_table import BlockingTable

NAMES = ("Kari", "Ola", "Ingrid", "Sergej", "Astrid")
"""The first player is the one whose page is shown."""
WAIT_SECONDS = 60.0
MAX_ACTIONS = 1500
LEAST_HAND, MOST_HAND = 4, 11
# Nobody's time runs out while pictures are made.
TIMES = TimeControl(action_time=Duration(seconds=300))

Moment = Callable[[BlockingTable], bool]


@dataclass(frozen=True, slots=True)
class PicturedTable:
    """A game, its seats, the seed of its players, and the moment that is shown."""

    game: str
    seats: int
    seed: int
    is_reached: Moment
    options: Mapping[str, int] = field(default_factory=dict)


def is_over(table: BlockingTable) -> bool:
    return table.is_finished


def is_turn(round_number: int = 1, cards_in_trick: int = 0) -> Moment:
    """Return the moment when the first player has to act amid a round."""

    def is_reached(table: BlockingTable) -> bool:
        view = table.view
        played = sum(len(pile.cards) for pile in view.piles if pile.name == "trick")
        is_amid = LEAST_HAND <= view.seats[0].card_count < MOST_HAND
        return table.is_to_act and is_amid and view.round >= round_number and played >= cards_in_trick

    return is_reached


TABLES = {
    "one_ten": PicturedTable("one_ten", 4, 3, is_turn(2, 2)),
    "jossing": PicturedTable("jossing", 5, 3, is_turn(5, 2)),
    "one_oh_one": PicturedTable("one_oh_one", 3, 3, is_turn(2)),
    "solo": PicturedTable("solo", 4, 5, is_turn(1, 2)),
    "thulla": PicturedTable("thulla", 4, 3, is_turn(1, 2)),
    "finished": PicturedTable("one_ten", 4, 5, is_over, {"max_rounds": 1}),
}


def device_secret(name: str) -> str:
    """Return the secret by which the page and a client are the same player."""
    return f"device of {name} in pictures".ljust(43, "-")


@contextmanager
def players(address: str) -> Iterator[tuple[BlockingClient, ...]]:
    """Sign all players in; their clients end with the body."""
    with ExitStack() as stack:
        endpoints = Endpoints.single(address)
        clients = [stack.enter_context(BlockingClient(endpoints, device_secret(name), name)) for name in NAMES]
        for client in clients:
            client.sign_in()
        yield tuple(clients)


def open_table(clients: Sequence[BlockingClient], shown: PicturedTable) -> str:
    """Open a table for these players, and begin its game; returns its id."""
    host, *others = clients
    created = host.create_table(
        game=shown.game, seat_count=shown.seats, options=shown.options, time_control=TIMES
    ).table
    for client in others:
        client.join_table(invite_code=created.invite_code)
    for client in clients:
        client.set_ready(table_id=created.table_id)
    return created.table_id


def play_until(tables: Sequence[BlockingTable], random: Random, is_reached: Moment) -> None:
    """Play the seats of a table by random actions up to a moment of the first one; raises AssertionError without it."""
    first = tables[0]
    for _ in range(MAX_ACTIONS):
        await_that(first, lambda table: table.is_finished or bool(table.view.seats_to_act))
        sequence = first.sequence
        for table in tables:
            table.wait_for_change(after=sequence - 1, timeout_seconds=WAIT_SECONDS)
        if is_reached(first):
            return
        assert not first.is_finished, f"{first.table.game} was over before its moment"
        acting = tables[first.view.seats_to_act[0]]
        sequence = acting.submit_action(choose_random_action(acting, random))
        first.wait_for_change(after=sequence - 1, timeout_seconds=WAIT_SECONDS)
    raise AssertionError(f"{first.table.game} did not reach its moment in {MAX_ACTIONS} actions")


def await_that(table: BlockingTable, is_so: Moment) -> None:
    """Wait until something is so at a table; raises TimedOut."""
    seen = table.sequence
    while not is_so(table):
        table.wait_for_change(after=seen, timeout_seconds=WAIT_SECONDS)
        seen = table.sequence


@contextmanager
def played_tables(clients: Sequence[BlockingClient]) -> Iterator[dict[str, str]]:
    """Play all tables up to their moments, at the same time; returns their ids. Their players stay connected."""
    with ExitStack() as stack, ThreadPoolExecutor(len(TABLES)) as pool:
        ids, played = {}, []
        for name, shown in TABLES.items():
            seated = clients[: shown.seats]
            ids[name] = open_table(seated, shown)
            tables = [stack.enter_context(client.play_table(ids[name])) for client in seated]
            played.append(pool.submit(play_until, tables, Random(shown.seed), shown.is_reached))
        for each in played:
            each.result()
        yield ids


def forming_table(clients: Sequence[BlockingClient]) -> str:
    """Return the id of a table of the first player that waits for one more."""
    host, friend, *_ = clients
    table = host.create_table(game="thulla", seat_count=4).table
    friend.join_table(invite_code=table.invite_code)
    host.add_bot(table_id=table.table_id, seat=2)
    friend.set_ready(table_id=table.table_id)
    return table.table_id
