"""Everything that an engine keeps of a table's log in memory."""

from collections import defaultdict, deque
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TypeAlias

from croupier.engine.core.decide import MAX_ASKED
from croupier.engine.core.fold import Transition, new_table, transition_of, transitions_from
from croupier.engine.core.guarded_rules import RulesWatch
from croupier.engine.core.history import History
from croupier.engine.core.log import AwaySet, Proposed, TableConfig, Voted, request_hash
from croupier.engine.core.log_codec import Row, decode_entry
from croupier.engine.core.reports import Report, reports_of_transition
from croupier.games.facts import Seat
from croupier.games.interface import SeatActed
from croupier.runtime.errors import AlreadyExists
from croupier_api.v1 import errors_pb2

MAX_RESUMED_ENTRIES = 256
"""A stream that missed more entries than this begins with a snapshot; the contract has the number too."""
CHECKPOINT_ENTRIES = 16
"""The state after each multiple of this number is kept, and the transitions after it are folded again from it.

To keep the transitions themselves would take five times the memory of a table.
"""
MAX_CHECKPOINTS = MAX_RESUMED_ENTRIES // CHECKPOINT_ENTRIES + 1

Request: TypeAlias = SeatActed | Proposed | Voted | AwaySet
"""A request of a seat; the expiry of a proposal is not part of it, and 0."""


class FoldedTable:
    """The fold of a table's log: its state, its entries, and what follows from them."""

    def __init__(self, config: TableConfig, watch: RulesWatch | None = None) -> None:
        """Begin with the table before its first entry, whose rules are watched.

        Raises UnknownRules for an unknown version of rules, RulesUnusable if they fail.
        """
        self.config = config
        self.state = new_table(config, watch)
        self.entries = History(config.table_id)
        self.reports: list[Report] = []
        self.answers: defaultdict[Seat, dict[str | bytes, int]] = defaultdict(dict)
        """The sequences of stored requests, by seat and request id, or its hash if the log was archived."""
        self._has_hashes = False
        """Whether answers are found by the hash of a request id."""
        new_times = partial(deque[int], maxlen=MAX_ASKED)
        self.proposed_at: defaultdict[Seat, deque[int]] = defaultdict(new_times)
        """The times of the last MAX_ASKED proposals, by seat."""
        self.left_at: defaultdict[Seat, deque[int]] = defaultdict(new_times)
        """The same for the times at which the seat left."""
        self._checkpoints = [self.state]

    def add(self, row: Row) -> None:
        """Add the row of the next entry; raises UnreadableLog, RulesUnusable."""
        entry = decode_entry(self.config.table_id, *row)
        self.apply(transition_of(self.config, self.state, entry))

    def apply(self, transition: Transition) -> None:
        """Add the transition of the next entry; raises RulesUnusable, when only its reports are missing."""
        entry = transition.entry
        sequence, at, _, event, _, request_id = entry
        self.state = transition.after
        self.entries.append(entry)
        if isinstance(event, Proposed):
            self.proposed_at[event.seat].append(at)
        elif isinstance(event, AwaySet) and event.is_away:
            self.left_at[event.seat].append(at)
        if sequence % CHECKPOINT_ENTRIES == 0:
            self._checkpoints = [*self._checkpoints[-MAX_CHECKPOINTS + 1 :], self.state]
        if request_id and isinstance(event, Request):
            self.answers[event.seat][request_id] = sequence
            self._has_hashes = self._has_hashes or isinstance(request_id, bytes)
        if transition.reports:
            self.reports += reports_of_transition(self.config, transition)

    @property
    def finished_at(self) -> int | None:
        """The time of the game's end in milliseconds since 1970 UTC, None until then."""
        return self.state.at if self.state.is_over else None

    def answer_to(self, request: Request, request_id: str) -> int | None:
        """Return the sequence of a stored request, None for a new one; raises AlreadyExists for the id of another."""
        answers = self.answers[request.seat]
        sequence = answers.get(request_id)
        if sequence is None and self._has_hashes:
            sequence = answers.get(request_hash(request_id))
        if sequence is None:
            return None
        stored = self.entries[sequence - 1].event
        if isinstance(stored, Proposed):
            stored = stored._replace(expires_at=0)
        if stored != request:
            raise AlreadyExists(
                errors_pb2.ERROR_REASON_REQUEST_ID_REUSED,
                f"request_id belongs to another request, stored as sequence {sequence}: use a new one for each",
                metadata={"sequence": str(sequence)},
            )
        return sequence

    def transitions_after(self, sequence: int) -> Iterator[Transition] | None:
        """Return the transitions after a sequence that the table has reached, without those that are added from now on.

        They are folded as they are read. None if there are more than MAX_RESUMED_ENTRIES.
        """
        if self.state.sequence - sequence > MAX_RESUMED_ENTRIES:
            return None
        start = next(state for state in reversed(self._checkpoints) if state.sequence <= sequence)
        transitions = transitions_from(self.config, start, self.entries.after(start.sequence))
        return islice(transitions, sequence - start.sequence, None)
