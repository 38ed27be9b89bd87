"""What all referees share: the count of broken invariants, and what several players of a table must agree on."""

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.evidence import Proof, prove
from loadtest.knowledge import is_face_down, is_open

_PUBLIC_FACTS = frozenset(
    {
        "round_started",
        "trick_taken",
        "seat_out",
        "hand_revealed",
        "marked",
        "turn_changed",
        "round_ended",
        "game_ended",
    }
)


_COUNTED_BY_ALL = frozenset(
    {
        table_pb2.MOVE_REASON_DEAL,
        table_pb2.MOVE_REASON_DRAW,
        table_pb2.MOVE_REASON_PENALTY,
    }
)
"""Why cards move face down before the eyes of all; other such moves may be told to their maker alone, or first."""


class Invariant(StrEnum):
    """What must hold whatever happens, by the name of its breach."""

    SEQUENCE_GAP = "sequence_gap"
    SEQUENCE_REPEAT = "sequence_repeat"
    STREAM_SILENT = "stream_silent"
    VIEW_DIFFERS = "view_differs"
    HIDDEN_CARD_SEEN = "hidden_card_seen"
    SEED_SHOWN_EARLY = "seed_shown_early"
    ILLEGAL_ACCEPTED = "illegal_accepted"
    LEGAL_REFUSED = "legal_refused"
    REFUSAL_WITHOUT_REASON = "refusal_without_reason"
    REFUSAL_WITHOUT_RULE = "refusal_without_rule"
    WRONG_REFUSAL = "wrong_refusal"
    REPEAT_DIFFERS = "repeat_differs"
    ACKNOWLEDGED_LOST = "acknowledged_lost"
    PUBLIC_FACTS_DIFFER = "public_facts_differ"
    REPLAY_UNTRUE = "replay_untrue"
    RESULT_DIFFERS = "result_differs"
    RESULT_MISSING = "result_missing"
    INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that broke, where, and what was seen."""

    invariant: Invariant
    table_id: str
    sequence: int
    detail: str


@dataclass(slots=True)
class SharedTable:
    """What the players of one table have told so far."""

    is_finished: bool = False
    public: dict[int, bytes] = field(default_factory=dict)
    proof: Proof | None = None


class Court:
    """Counts violations and keeps the first of each kind; remembers as many tables as it is told to."""

    def __init__(self, most_tables: int) -> None:
        self.counts: Counter[Invariant] = Counter()
        self.first: dict[Invariant, Violation] = {}
        self.tables_opened = 0
        self.tables_finished = 0
        self.games_finished: Counter[str] = Counter()
        self._tables: OrderedDict[str, SharedTable] = OrderedDict()
        self._most_tables = most_tables

    def broken(self, invariant: Invariant, table_id: str, sequence: int, detail: str) -> None:
        """An invariant broke."""
        self.counts[invariant] += 1
        self.first.setdefault(invariant, Violation(invariant, table_id, sequence, detail))

    def sits_down(self, table_id: str) -> None:
        """A player begins at a table."""
        self._table(table_id)

    def finishes(self, table_id: str, game: str) -> None:
        """A player saw the end of a table's game."""
        table = self._table(table_id)
        if not table.is_finished:
            self.tables_finished += 1
            self.games_finished[game] += 1
        table.is_finished = True

    def hears(self, table_id: str, update: engine_pb2.TableUpdate) -> None:
        """A player was told of an entry: what is public in it must be what the others were told."""
        digest = public_digest(update)
        first = self._table(table_id).public.setdefault(update.sequence, digest)
        if first != digest:
            detail = "two players were told different public facts"
            self.broken(Invariant.PUBLIC_FACTS_DIFFER, table_id, update.sequence, detail)

    def proof(self, table_id: str, replay: str) -> Proof:
        """What a replay proves; the rules go through each text once."""
        table = self._table(table_id)
        if table.proof is None:
            table.proof = prove(replay)
        elif table.proof.replay != replay:
            self.broken(Invariant.REPLAY_UNTRUE, table_id, 0, "two players got different replays")
            return prove(replay)
        return table.proof

    def _table(self, table_id: str) -> SharedTable:
        table = self._tables.get(table_id)
        if table is None:
            self.tables_opened += 1
            table = self._tables[table_id] = SharedTable()
            if len(self._tables) > self._most_tables:
                self._tables.popitem(last=False)
        return table


def public_digest(update: engine_pb2.TableUpdate) -> bytes:
    """A digest of what every viewer is told alike: all but hidden cards, calls, the contract, and what is legal.

    A mark with the name of a face-down pile tells the seat that put cards there, and nobody else, which they were.
    """
    public = engine_pb2.TableUpdate(
        sequence=update.sequence,
        at_milliseconds=update.at_milliseconds,
        seat=update.seat if update.HasField("seat") else None,
        acted_by=update.acted_by,
        clock=update.clock,
        revealed_seed=update.revealed_seed,
        credited_milliseconds=update.credited_milliseconds,
    )
    for fact in update.facts:
        kind = fact.WhichOneof("fact")
        if kind in _PUBLIC_FACTS and not is_face_down(fact.marked.mark.name):
            public.facts.append(fact)
        elif kind == "cards_moved":
            is_hidden = not is_open(fact.cards_moved) and not _comes_from_open_pile(fact.cards_moved)
            if is_hidden and fact.cards_moved.reason not in _COUNTED_BY_ALL:
                continue
            moved = public.facts.add().cards_moved
            moved.CopyFrom(fact.cards_moved)
            if is_hidden:
                moved.ClearField("cards")
    return blake2b(public.SerializeToString(deterministic=True), digest_size=16).digest()


def _comes_from_open_pile(moved: table_pb2.CardsMoved) -> bool:
    return moved.source.HasField("pile") and not is_face_down(moved.source.pile)
