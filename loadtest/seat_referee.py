"""Referees one player at one table: everything that he receives, and every answer to what he does. No I/O."""

import grpc
from google.protobuf.message import Message

from croupier_api.v1 import engine_pb2, scoring_pb2, table_pb2
from croupier_client import CroupierError, Table, card_text
from loadtest.court import Court, Invariant
from loadtest.evidence import (
    Heard,
    Proof,
    Seen,
    Story,
    lost_acknowledgements,
    replay_differences,
    result_differences,
    sheet_differences,
    view_differences,
)
from loadtest.knowledge import NOTHING_KNOWN, cards_in, cards_written_in, known_after, shown_by

REMEMBERED_VIEWS = 64
"""A view of the player is compared with GetView if it is no older than so many entries."""
PROVED_VIEWS = 4
"""So many of the last views are compared with what the rules give for the replay."""


class Referee:
    """Watches one player of one table, over as many streams as he opens; what is broken goes to the court."""

    def __init__(self, table_id: str, court: Court) -> None:
        self.table_id = table_id
        self.views_compared = 0
        self._court = court
        self._info = table_pb2.TableInfo()
        self._seat: int | None = None
        self._sequence = 0
        self._known = NOTHING_KNOWN
        self._heard: dict[int, Heard] = {}
        self._acknowledged: dict[int, table_pb2.Action] = {}
        self._seen: dict[int, Seen] = {}
        self._rounds: list[table_pb2.RoundEnded] = []

    # The stream

    def received(self, message: engine_pb2.PlayResponse) -> None:
        """A message came, and nobody has looked at it yet."""
        match message.WhichOneof("event"):
            case "snapshot":
                self._begin(message.snapshot)
            case "update":
                self._go_on(message.update)
            case "heartbeat" if message.heartbeat.sequence > self._sequence:
                self._broken(Invariant.SEQUENCE_GAP, message.heartbeat.sequence, "a heartbeat is ahead of the stream")
        self._check_cards(message, self._known)

    def folded(self, table: Table) -> None:
        """The client has folded what came last."""
        if table.sequence not in self._seen:
            self._seen[table.sequence] = Seen(
                table.view, table.legal_actions, table.clock, table.revealed_seed, self._known
            )
            self._seen.pop(table.sequence - REMEMBERED_VIEWS, None)

    def _begin(self, snapshot: engine_pb2.Snapshot) -> None:
        if snapshot.sequence < self._sequence:
            self._broken(Invariant.SEQUENCE_REPEAT, snapshot.sequence, f"a snapshot is older than {self._sequence}")
        self._info = snapshot.table
        self._seat = snapshot.viewer_seat if snapshot.HasField("viewer_seat") else None
        self._sequence = snapshot.sequence
        self._known |= shown_by(snapshot)
        if snapshot.revealed_seed and not snapshot.view.ranking:
            self._broken(Invariant.SEED_SHOWN_EARLY, snapshot.sequence, "the game is not over")

    def _go_on(self, update: engine_pb2.TableUpdate) -> None:
        expected, came = self._sequence + 1, update.sequence
        if came != expected:
            name = Invariant.SEQUENCE_GAP if came > expected else Invariant.SEQUENCE_REPEAT
            self._broken(name, came, f"the stream should go on with {expected}")
        self._sequence = max(self._sequence, came)
        self._known = known_after(self._known, update, self._seat)
        self._heard.setdefault(came, heard_of(update))
        self._rounds.extend(fact.round_ended for fact in update.facts if fact.HasField("round_ended"))
        if update.revealed_seed and not any(fact.HasField("game_ended") for fact in update.facts):
            self._broken(Invariant.SEED_SHOWN_EARLY, came, "the game is not over")
        self._court.hears(self.table_id, update)

    def _check_cards(self, message: Message, known: frozenset[int]) -> None:
        foreign = [(where, card) for where, card in cards_in(message) if card not in known]
        for where, card in foreign:
            detail = f"seat {self._seat} was shown {card_text(card)} in {where}"
            self._broken(Invariant.HIDDEN_CARD_SEEN, self._sequence, detail)

    # GetView

    def compared(self, snapshot: engine_pb2.Snapshot) -> bool:
        """A view was asked for; False if the player has not, or no longer, his own view of that sequence."""
        seen = self._seen.get(snapshot.sequence)
        if seen is None:
            return False
        self.views_compared += 1
        self._check_cards(snapshot, seen.known)
        answered = snapshot.view, snapshot.legal_actions, snapshot.clock, snapshot.revealed_seed
        for what, it, own in zip(("view", "legal actions", "clock", "seed"), answered, seen, strict=False):
            if it != own:
                self._broken(Invariant.VIEW_DIFFERS, snapshot.sequence, f"GetView's {what} is not the stream's")
        return True

    # Answers

    def accepted(self, action: table_pb2.Action, sequence: int) -> None:
        """An action was acknowledged, and all that the stream brought up to its sequence was received."""
        self._acknowledged[sequence] = action
        heard = self._heard.get(sequence)
        if heard is None or heard.seat != self._seat or heard.acted_by:
            detail = f"entry {sequence}, acknowledged to seat {self._seat}, "
            detail += "never came" if heard is None else f"is one of seat {heard.seat}"
            self._broken(Invariant.ACKNOWLEDGED_LOST, sequence, detail)
        elif heard.card is not None and heard.card != action.play.card:
            self._broken(Invariant.ACKNOWLEDGED_LOST, sequence, "the entry shows another card")

    def repeated(self, first: int, again: int) -> None:
        """The same request under the same id was answered again."""
        if first != again:
            self._broken(Invariant.REPEAT_DIFFERS, first, f"the repeated request was acknowledged as {again}")

    def refused(self, error: CroupierError) -> None:
        """Anything was refused: there must be a code, a reason and a message, and no card the player does not know."""
        if error.code in (grpc.StatusCode.OK, grpc.StatusCode.UNKNOWN) or not (error.reason and error.message.strip()):
            self._broken(Invariant.REFUSAL_WITHOUT_REASON, self._sequence, f"{error!r}")
        for card in cards_written_in(error.message):
            if card not in self._known:
                self._broken(Invariant.HIDDEN_CARD_SEEN, self._sequence, f"a refusal told seat {self._seat} of a card")

    def broken(self, invariant: Invariant, detail: str) -> None:
        """Something broke that only the player himself could see."""
        self._broken(invariant, self._sequence, detail)

    # The end

    def check_replay(self, replay: str) -> Proof | None:
        """Hold the replay of the finished game against all that was heard; None if it is not true."""
        proof = self._court.proof(self.table_id, replay)
        if proof.fault:
            self._broken(Invariant.REPLAY_UNTRUE, self._sequence, proof.fault)
            return None
        story = self._story()
        checked = sorted(self._seen)[-PROVED_VIEWS:]
        found = {
            Invariant.ACKNOWLEDGED_LOST: lost_acknowledgements(proof, story),
            Invariant.REPLAY_UNTRUE: replay_differences(proof, story),
            Invariant.VIEW_DIFFERS: view_differences(proof, story, checked),
            Invariant.RESULT_DIFFERS: result_differences(proof, story),
        }
        for invariant, differences in found.items():
            for sequence, detail in differences:
                self._broken(invariant, sequence, detail)
        return proof

    def check_sheet(self, sheet: scoring_pb2.GetScoreSheetResponse, proof: Proof) -> None:
        """Hold scoring's answer against the game."""
        for sequence, detail in sheet_differences(sheet, proof, self._story()):
            self._broken(Invariant.RESULT_DIFFERS, sequence, detail)

    def _story(self) -> Story:
        assert self._seat is not None
        return Story(self._info, self._seat, self._heard, self._acknowledged, self._seen, self._rounds, self._sequence)

    def _broken(self, invariant: Invariant, sequence: int, detail: str) -> None:
        self._court.broken(invariant, self.table_id, sequence, detail)


def heard_of(update: engine_pb2.TableUpdate) -> Heard:
    """What an update tells of its entry; a play is told plainly by the card that moved."""
    played = [
        fact.cards_moved.cards[0]
        for fact in update.facts
        if fact.cards_moved.reason == table_pb2.MOVE_REASON_PLAY and len(fact.cards_moved.cards) == 1
    ]
    return Heard(
        update.at_milliseconds,
        update.seat if update.HasField("seat") else None,
        update.acted_by,
        played[0] if len(played) == 1 else None,
        update.credited_milliseconds > 0,
    )
