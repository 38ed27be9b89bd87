"""One player at one table: legal actions by chance, a few that must be refused, and what he checks on the way."""

from random import Random

from croupier_api.v1 import scoring_pb2, table_pb2
from croupier_client import (
    BrokenStream,
    CroupierError,
    Internal,
    NotFound,
    StaleSequence,
    TimedOut,
    random_legal,
)
from loadtest.client import LoadClient, RefereedTable, is_failure
from loadtest.court import Invariant
from loadtest.house import House
from loadtest.probes import Probe, judge, out_of_turn, probe_on_turn, reused_request_id
from loadtest.seat_referee import Referee

MOST_STREAMS = 4
MOST_SETBACKS = 8
TURN_SECONDS = 150.0
"""Longer than the time and the reserve of a seat at a table of the usual clock."""
SHEET_SECONDS = 15.0
SHEET_POLL_SECONDS = 0.2


class GameAbandoned(Exception):
    """A player gives up a game that does not go on as it should; what was wrong is counted already."""


class StreamSilent(Exception):
    """A stream does not bring what the table has long been through."""


class PlayerAtTable:
    """A player's seat at one table."""

    def __init__(self, house: House, client: LoadClient, table_id: str, random: Random) -> None:
        self._house = house
        self._client = client
        self._random = random
        self._table_id = table_id
        self._referee = Referee(table_id, house.court)
        self._setbacks = 0

    def play_to_the_end(self) -> None:
        """Play the game and check its records; raises GameAbandoned."""
        self._house.court.sits_down(self._table_id)
        for _ in range(MOST_STREAMS):
            try:
                with RefereedTable(self._client, self._table_id, self._referee) as table:
                    while self._is_my_turn(table):
                        self._take_turn(table)
                    self._house.court.finishes(self._table_id, table.info.game)
                    self._compare_view(table)
                break
            except (BrokenStream, StreamSilent):
                continue  # The referee knows why. A new stream begins with a snapshot.
            except CroupierError as error:
                self._fail("following a table", error)
                raise GameAbandoned from error
        else:
            raise GameAbandoned
        self._check_records()

    def _is_my_turn(self, table: RefereedTable) -> bool:
        """Wait for the turn, and look now and then whether the stream has fallen silent while the game goes on."""
        deadline = self._house.now() + TURN_SECONDS
        while True:
            try:
                return table.your_turn(timeout_seconds=self._house.patience_seconds)
            except TimedOut:
                if self._house.now() > deadline:
                    raise
                self._compare_view(table)

    def _take_turn(self, table: RefereedTable) -> None:
        if self._random.random() < self._house.shares.probed:
            self._probe(table, probe_on_turn(table, self._random))
        if not table.to_act:
            return
        self._act(table)
        if self._random.random() < self._house.shares.viewed:
            self._compare_view(table)
        if self._random.random() < self._house.shares.out_of_turn and not table.to_act and not table.finished:
            self._probe(table, out_of_turn(table, self._random))

    # Acting

    def _act(self, table: RefereedTable) -> None:
        seen, action = table.sequence, random_legal(table, self._random)
        # Where several may act at once, others move the table on, and what was legal stays so.
        alone = len(table.view.seats_to_act) == 1
        try:
            sequence = table.act(action, expected_sequence=seen if alone else None)
        except BrokenStream:
            raise
        except CroupierError as error:
            self._not_accepted(table, action, seen, error)
            return
        self._setbacks = 0
        self._house.tally.actions += not self._house.is_time_up()
        self._referee.accepted(action, sequence)
        if self._random.random() < self._house.shares.repeated:
            self._repeat(table, action, sequence)

    def _not_accepted(self, table: RefereedTable, action: table_pb2.Action, seen: int, error: CroupierError) -> None:
        """A legal action was not accepted, or not in time."""
        if is_failure(error):
            if table.promised is not None:
                self._referee.accepted(action, table.promised)
            else:
                self._fail("acting", error)
        elif table.finished:
            return
        elif not (isinstance(error, StaleSequence) and self._moved_on(table, seen)):
            self._referee.refused(error)
            self._referee.broken(Invariant.LEGAL_REFUSED, str(error))
        self._setbacks += 1
        if self._setbacks >= MOST_SETBACKS:
            raise GameAbandoned

    def _moved_on(self, table: RefereedTable, seen: int) -> bool:
        """Whether the table goes beyond a sequence, as it must if an action was refused as stale."""
        try:
            table.changed(after=seen, timeout_seconds=self._house.patience_seconds)
        except TimedOut:
            return False
        return table.sequence > seen

    def _repeat(self, table: RefereedTable, action: table_pb2.Action, sequence: int) -> None:
        """Send the same again under the same name, and something else under the same name."""
        request_id = table.latest.request_id
        try:
            again = self._client.submit_action(table_id=self._table_id, request_id=request_id, action=action)
            self._referee.repeated(sequence, again.sequence)
            self._house.tally.repeats += 1
        except CroupierError as error:
            if is_failure(error):
                self._fail("repeating an action", error)
            else:
                self._referee.broken(Invariant.REPEAT_DIFFERS, f"the repeated request was refused: {error}")
        self._probe_by_call(table, reused_request_id(action), request_id)

    # Asking for refusals

    def _probe(self, table: RefereedTable, probe: Probe) -> None:
        if self._random.random() < 0.5:
            self._probe_by_call(table, probe, f"probe-{self._random.getrandbits(64):x}")
            return
        try:
            sequence = table.act(probe.action, expected_sequence=probe.expected_sequence)
        except BrokenStream:
            raise
        except CroupierError as error:
            self._judge(table, probe, error)
        else:
            self._was_accepted(probe, sequence)

    def _probe_by_call(self, table: RefereedTable, probe: Probe, request_id: str) -> None:
        try:
            answer = self._client.submit_action(
                table_id=self._table_id,
                request_id=request_id,
                action=probe.action,
                expected_sequence=probe.expected_sequence,
            )
        except CroupierError as error:
            self._judge(table, probe, error)
        else:
            self._was_accepted(probe, answer.sequence)

    def _was_accepted(self, probe: Probe, sequence: int) -> None:
        self._referee.broken(Invariant.ILLEGAL_ACCEPTED, f"{probe.name} was accepted as entry {sequence}")

    def _judge(self, table: RefereedTable, probe: Probe, error: CroupierError) -> None:
        if is_failure(error):
            self._fail(f"probing with {probe.name}", error)
            return
        self._referee.refused(error)
        if error.reason == "TABLE_FINISHED" or self._was_overtaken(table, probe, error):
            return
        self._house.tally.refusals[probe.name] += 1
        if wrong := judge(probe, error):
            self._referee.broken(wrong, f"{probe.name}, which is {probe.reason}, was refused with: {error}")

    def _was_overtaken(self, table: RefereedTable, probe: Probe, error: CroupierError) -> bool:
        """Whether the table moved on before a probe that counted on its sequence arrived."""
        expected = probe.expected_sequence
        if expected is None or probe.code is error.code or not isinstance(error, StaleSequence):
            return False
        return self._moved_on(table, expected)

    # Checking

    def _compare_view(self, table: RefereedTable) -> None:
        try:
            snapshot = self._client.get_view(table_id=self._table_id).snapshot
        except CroupierError as error:
            self._fail("GetView", error)
            return
        if not self._moved_on(table, snapshot.sequence - 1):
            self._referee.broken(Invariant.STREAM_SILENT, f"GetView is at {snapshot.sequence} for long already")
            raise StreamSilent
        self._house.tally.views_compared += self._referee.compared(snapshot)

    def _check_records(self) -> None:
        try:
            proof = self._referee.check_replay(self._client.get_replay(table_id=self._table_id).replay)
            self._house.tally.replays_checked += 1
            sheet = self._finished_sheet()
        except CroupierError as error:
            self._fail("reading the records", error)
            return
        if sheet is None:
            self._referee.broken(Invariant.RESULT_MISSING, f"scoring has no result after {SHEET_SECONDS:g} seconds")
        elif proof is not None:
            self._referee.check_sheet(sheet, proof)
            self._house.tally.sheets_checked += 1

    def _finished_sheet(self) -> scoring_pb2.GetScoreSheetResponse | None:
        """The score sheet once the result is on it: the engine reports after the players have heard."""
        deadline = self._house.now() + SHEET_SECONDS
        while self._house.now() < deadline:
            try:
                sheet = self._client.get_score_sheet(table_id=self._table_id)
                if sheet.HasField("result"):
                    return sheet
            except NotFound:
                pass
            self._house.sleep(SHEET_POLL_SECONDS)
        return None

    def _fail(self, what: str, error: CroupierError) -> None:
        if isinstance(error, Internal):
            self._referee.broken(Invariant.INTERNAL_ERROR, f"{what}: {error}")
        else:
            self._house.tally.failed(what, str(error))
