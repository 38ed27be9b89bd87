"""What the database has of one table, folded apart from the engines, and what each viewer may get of it."""

from collections.abc import Iterable

from croupier.engine.fact_codec import StreamEncoder, encode_snapshot
from croupier.engine.log import Aside, Entry, TableConfig
from croupier.engine.table import Step, TableState, new_table, step
from croupier.games.facts import EVERYONE, SPECTATOR, CardsMoved, Fact, HandRevealed, View, Viewer
from croupier.games.interface import IllegalAction
from croupier_api.v1 import engine_pb2
from loadtest.simulation.stopwatch import Span, Stopwatch
from loadtest.simulation.verdict import Verdict

TOLERANCE_MILLISECONDS = 200
"""How far an engine's measure of the shared time may be off."""


class TableRecord:
    """The log of a table as it was committed, entry by entry."""

    def __init__(self, config: TableConfig, verdict: Verdict) -> None:
        self.config = config
        self.entries: list[Entry] = []
        self.steps: list[Step] = []
        self.states: list[TableState] = [new_table(config)]
        self.committed_at: list[int] = []
        """When each entry was committed, in milliseconds since 1970 UTC."""
        self.by_request: dict[tuple[int, str], Entry] = {}
        self.stopwatch = Stopwatch(config, verdict)
        self._verdict = verdict
        self._encoder = StreamEncoder()
        self._public: dict[int, bytes] = {}
        self._messages: dict[tuple[int, Viewer], bytes] = {}
        self._seats = {who.player_id: seat for seat, who in enumerate(config.seats) if not who.bot}

    @property
    def state(self) -> TableState:
        """The table after the last entry."""
        return self.states[-1]

    def viewer(self, player_id: str) -> Viewer:
        """The seat of a player, or SPECTATOR."""
        return self._seats.get(player_id, SPECTATOR)

    def viewers(self) -> tuple[Viewer, ...]:
        """Every seat, and the spectators."""
        return (*range(self.config.seat_count), SPECTATOR)

    def commit(self, entry: Entry, now: int, interruptions: Iterable[Span]) -> None:
        """Take in an entry that was committed now, and judge it."""
        expect, where = self._verdict.expect, f"{self.config.table_id} entry {entry}"
        expect(entry.sequence == len(self.entries) + 1, "no log has a gap", where, "after", len(self.entries))
        expect(entry.at >= self.state.at, "time in a log never runs backwards", where)
        expect(entry.at <= now + TOLERANCE_MILLISECONDS, "engines share one clock", where, "at", now)
        if entry.request_id:
            key = (getattr(entry.event, "seat", -1), entry.request_id)
            expect(key not in self.by_request, "a request is stored once", where)
            self.by_request[key] = entry
        try:
            made = step(self.config, self.state, entry)
        except IllegalAction as refusal:
            self._verdict.fail("the rules allow what is in a log", f"{where}: {refusal}")
            return
        self._check_secrets(made)
        self.entries.append(entry)
        self.committed_at.append(now)
        self.steps.append(made)
        self.states.append(made.after)
        self.stopwatch.note(entry, made.after.seats_to_act, interruptions)

    def _check_secrets(self, made: Step) -> None:
        """Who gets to know a card that goes to a hand must see it there, or have seen it before."""
        if isinstance(made.entry.event, Aside):
            return
        open_to_all = {
            card for fact in made.facts if fact.audience == EVERYONE and fact.audience for card in _seen_at(fact)
        }
        for fact in made.facts:
            if not isinstance(fact, CardsMoved) or not fact.cards or not isinstance(fact.target, int):
                continue
            for viewer in self.viewers():
                if viewer == fact.target or not fact.audience >> viewer & 1:
                    continue
                shown = _visible(self.state.game.view(viewer)) | _visible(made.after.game.view(viewer)) | open_to_all
                hidden = set(fact.cards) - shown
                self._verdict.expect(
                    not hidden, "no card is shown that is hidden", f"viewer {viewer} got {fact} in {made.entry}"
                )

    def entitled(self, sequence: int, viewer: Viewer) -> bytes:
        """What one viewer gets of an entry, to the byte."""
        key = (sequence, viewer)
        known = self._messages.get(key)
        if known is None:
            known = self._messages[key] = self._entitled(self.steps[sequence - 1], viewer)
        return known

    def _entitled(self, made: Step, viewer: Viewer) -> bytes:
        if all(fact.audience == EVERYONE for fact in made.facts):
            sequence = made.entry.sequence
            if sequence not in self._public:
                self._public[sequence] = self._encoder.update(self.config, made, made.facts)
            message = self._public[sequence]
        else:
            known = [fact for fact in made.facts if fact.audience >> viewer & 1]
            message = self._encoder.update(self.config, made, known)
        if viewer in made.after.seats_to_act:
            message += self._encoder.legal_actions(made.after, viewer)
        return message

    def snapshot(self, sequence: int, viewer: Viewer) -> engine_pb2.Snapshot:
        """All that a viewer may know after an entry."""
        return encode_snapshot(self.config, self.states[sequence], viewer)


def _seen_at(fact: Fact) -> Iterable[int]:
    """The cards that a fact shows on the table."""
    if isinstance(fact, CardsMoved):
        return fact.cards if not isinstance(fact.target, int) else ()
    return fact.cards if isinstance(fact, HandRevealed) else ()


def _visible(view: View) -> set[int]:
    """Every card that a view shows."""
    hands = {card for seat in view.seats for card in seat.cards}
    return hands | {lies.card for pile in view.piles for lies in pile.cards}
