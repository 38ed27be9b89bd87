"""A true story of a table, made without services: all that an audit is given, and nothing wrong with it."""

import json
from dataclasses import dataclass, field
from random import Random

from croupier.engine.codec import encode_action
from croupier.engine.fact_codec import StreamEncoder, encode_snapshot
from croupier.engine.log import ActedBy, Entry, TableConfig, TimeCredited, body_to_json, config_to_json
from croupier.engine.replay import write_replay
from croupier.engine.streams import message_of
from croupier.engine.table import Step, TableState, advance, new_table
from croupier.games.bots import random_of
from croupier.games.facts import SPECTATOR, Fact, GameEnded, RoundEnded
from croupier.games.interface import SeatActed
from croupier_api.v1 import engine_pb2
from loadtest.faults.audit import Evidence
from loadtest.faults.findings import LedgerLines, Line, StoredLog
from loadtest.faults.records import Acknowledged, Heard, Opened, Stream, TableRecord
from tests.engine.play import ROUNDS, choice, make_config

START = 1_700_000_000_000
THOUGHT_MILLISECONDS = 500
CREDITED_AT, TIMED_OUT_AT = 4, 8
"""About the entries at which time is given back, and runs out."""
CREDITED_MILLISECONDS = 2_000


@dataclass(slots=True)
class Story:
    """A table that is played to its end as it should be."""

    config: TableConfig
    random: Random
    encoder: StreamEncoder = field(default_factory=StreamEncoder)
    steps: list[Step] = field(default_factory=list)
    acknowledged: list[Acknowledged] = field(default_factory=list)
    now: int = START

    def play(self) -> Evidence:
        """Play to the end; gives what an audit is given."""
        table = self._take(advance(self.config, new_table(self.config), self.now, None))
        first = self._opened(table)
        while not table.is_over:
            table = self._go_on(table)
        credited_at = next(made.entry.at for made in self.steps if isinstance(made.entry.event, TimeCredited))
        missing = [(credited_at - CREDITED_MILLISECONDS, credited_at + 1)]
        return Evidence(self._record(first), self._log(), self._ledger(table), self._replay(), missing)

    def _go_on(self, table: TableState) -> TableState:
        seat, action = choice(table, self.random)
        self.now += THOUGHT_MILLISECONDS
        if table.sequence >= CREDITED_AT and not any(isinstance(it.entry.event, TimeCredited) for it in self.steps):
            self.now += CREDITED_MILLISECONDS
            return self._take(advance(self.config, table, self.now, TimeCredited(CREDITED_MILLISECONDS)))
        if table.sequence >= TIMED_OUT_AT and not any(it.entry.acted_by for it in self.steps):
            assert table.due is not None
            self.now, seat = table.due.at, table.due.seat
            action = random_of(table.game.legal_actions(seat), self.random.randrange)
            return self._take(advance(self.config, table, self.now, SeatActed(seat, action), ActedBy.TIMEOUT))
        request_id, encoded = f"r{table.sequence}", encode_action(action).SerializeToString()
        self.acknowledged.append(Acknowledged(seat, request_id, encoded, table.sequence + 1))
        event = SeatActed(seat, action)
        return self._take(advance(self.config, table, self.now, event, ActedBy.PLAYER, request_id))

    def _take(self, steps: list[Step]) -> TableState:
        self.steps += steps
        return steps[-1].after

    def _opened(self, table: TableState) -> dict[int, Opened]:
        """How each viewer's stream begins."""
        viewers = (*range(self.config.seat_count), SPECTATOR)
        snapshots = {viewer: encode_snapshot(self.config, table, viewer) for viewer in viewers}
        return {
            viewer: Opened(table.sequence, snapshot.SerializeToString(deterministic=True), 0.0)
            for viewer, snapshot in snapshots.items()
        }

    def _record(self, first: dict[int, Opened]) -> TableRecord:
        record = TableRecord(self.config.table_id, self.config.game, self.config.seat_count, finished=True)
        for viewer, opened in first.items():
            stream = Stream(None if viewer == SPECTATOR else viewer, [opened], hampered=viewer == self._timed_out())
            later = (made for made in self.steps if made.entry.sequence > opened.sequence)
            stream.messages += [self._heard(made, viewer) for made in later]
            record.streams.append(stream)
        record.acknowledged = self.acknowledged
        return record

    def _timed_out(self) -> int | None:
        events = (made.entry.event for made in self.steps if made.entry.acted_by is ActedBy.TIMEOUT)
        return next((event.seat for event in events if isinstance(event, SeatActed)), None)

    def _heard(self, made: Step, viewer: int) -> Heard:
        message = engine_pb2.PlayResponse.FromString(message_of(self.encoder, self.config, made, viewer))
        update, legal = (part.SerializeToString(deterministic=True) for part in (message.update, message.legal_actions))
        return Heard(made.entry.sequence, update, legal, made.entry.at / 1000)

    def _log(self) -> StoredLog:
        config = self.config
        lines = tuple(line_of(made.entry) for made in self.steps)
        version = config.rules_version
        return StoredLog(config.table_id, "finished", config.game, version, config_to_json(config), config.seed, lines)

    def _ledger(self, table: TableState) -> LedgerLines:
        facts: list[Fact] = [fact for made in self.steps for fact in made.facts]
        rounds = [fact for fact in facts if isinstance(fact, RoundEnded)]
        (ended,) = (fact for fact in facts if isinstance(fact, GameEnded))
        better = [sum(map(len, ended.ranking[:n])) for n in range(len(ended.ranking))]
        places = [(seat, 1 + above) for above, group in zip(better, ended.ranking, strict=True) for seat in group]
        counts: dict[tuple[int, str], int] = {}
        for count in (count for fact in rounds for count in fact.counts):
            counts[count.seat, count.name] = counts.get((count.seat, count.name), 0) + count.amount
        return LedgerLines(
            tuple((fact.round_number, list(fact.points), list(fact.totals)) for fact in rounds),
            (([list(group) for group in ended.ranking], list(table.game.scores)),),
            tuple((self.config.seats[seat].player_id, place) for seat, place in places),
            tuple((seat, name, amount) for (seat, name), amount in counts.items()),
        )

    def _replay(self) -> str:
        return write_replay(self.config, [made.entry for made in self.steps])


def line_of(entry: Entry) -> Line:
    """An entry as the database has it."""
    return Line(entry.sequence, entry.at, entry.deadline, json.loads(body_to_json(entry)))


def true_story(game: str, seats: int, seed: int) -> Evidence:
    """All there is about a finished table of which everything agrees."""
    return Story(make_config(game, seats, options=ROUNDS.get(game)), Random(seed)).play()
