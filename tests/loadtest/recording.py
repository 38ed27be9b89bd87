"""A true game, played by the engine's own functions, as the streams of its four players would tell it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from croupier.engine.codec import encode_action
from croupier.engine.fact_codec import StreamEncoder, encode_snapshot
from croupier.engine.log import ActedBy, ClockConfig, SeatConfig, TableConfig
from croupier.engine.replay import write_replay
from croupier.engine.streams import message_of
from croupier.engine.table import Step, advance, new_table
from croupier.games.bots import random_of
from croupier.games.catalogue import GAMES
from croupier.games.interface import SeatActed, resolve_options
from croupier_api.v1 import engine_pb2, scoring_pb2, table_pb2
from croupier_client import BrokenStream, Table
from loadtest.court import Court
from loadtest.mix import KINDS
from loadtest.referee import Referee

TABLE = "table-1"
SEATS = range(4)


@dataclass(frozen=True)
class Recording:
    """A finished table: steps[0] is the deal."""

    config: TableConfig
    steps: tuple[Step, ...]

    @property
    def replay(self) -> str:
        return write_replay(self.config, [made.entry for made in self.steps])

    def snapshot(self, seat: int, sequence: int) -> engine_pb2.Snapshot:
        """What GetView would have answered at a sequence."""
        return encode_snapshot(self.config, self.steps[sequence - 1].after, seat)

    def messages(self, seat: int) -> list[engine_pb2.PlayResponse]:
        """What a seat's stream brings, from the snapshot after the deal on."""
        encoder = StreamEncoder()
        updates = [
            engine_pb2.PlayResponse.FromString(message_of(encoder, self.config, made, seat)) for made in self.steps[1:]
        ]
        return [engine_pb2.PlayResponse(snapshot=self.snapshot(seat, 1)), *updates]

    def actions(self, seat: int) -> Iterator[tuple[int, table_pb2.Action]]:
        """What a seat did, by sequence."""
        for made in self.steps:
            if isinstance(made.entry.event, SeatActed) and made.entry.event.seat == seat:
                yield made.entry.sequence, encode_action(made.entry.event.action)

    @property
    def sheet(self) -> scoring_pb2.GetScoreSheetResponse:
        """What scoring should answer."""
        facts = [fact for message in self.messages(0) for fact in message.update.facts]
        ended = next(fact.game_ended for fact in facts if fact.HasField("game_ended"))
        rounds = [fact.round_ended for fact in facts if fact.HasField("round_ended")]
        seats = [table_pb2.SeatInfo(player_id=who.player_id, name=who.name) for who in self.config.seats]
        result = scoring_pb2.TableResult(table_id=TABLE, seats=seats, ranking=ended.ranking, totals=rounds[-1].totals)
        lines = [scoring_pb2.SheetRound.FromString(scored.SerializeToString()) for scored in rounds]
        return scoring_pb2.GetScoreSheetResponse(table_id=TABLE, seats=seats, rounds=lines, result=result)


@lru_cache
def recorded_game(seed: int = 1, game: str = "thulla") -> Recording:
    """A game whose four players act by chance, bounded as under load."""
    rules = GAMES[game]
    random = Random(seed)
    config = TableConfig(
        TABLE,
        game,
        rules.rules_version,
        len(SEATS),
        resolve_options(rules, len(SEATS), KINDS[game].bounds),
        ClockConfig(30_000, 60_000, 0),
        seed=random.randbytes(32),
        seats=tuple(SeatConfig(f"player-{seat}", f"Player {seat}") for seat in SEATS),
        client_seeds=(b"",) * len(SEATS),
    )
    steps = advance(config, new_table(config), 1_000, None)
    while not steps[-1].after.is_over:
        table = steps[-1].after
        seat = table.seats_to_act[0] if len(table.seats_to_act) == 1 else random.choice(table.seats_to_act)
        action = random_of(table.game.legal_actions(seat), random.randrange)
        at = table.at + random.randint(0, 900)
        steps += advance(config, table, at, SeatActed(seat, action), ActedBy.PLAYER, f"request-{len(steps)}")
    return Recording(config, tuple(steps))


class Listener:
    """A player whose client and referee take in what a stream brings."""

    def __init__(self, court: Court) -> None:
        self.court = court
        self.referee = Referee(TABLE, court)
        self.table = Table(TABLE)

    def hear(self, *messages: engine_pb2.PlayResponse) -> "Listener":
        """Take messages in; a client that finds a stream broken folds nothing of it."""
        for message in messages:
            self.referee.received(message)
            try:
                self.table.receive(message)
            except BrokenStream:
                continue
            self.referee.folded(self.table)
        return self
