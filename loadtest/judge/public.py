"""All viewers of a table must be told the same of what is public."""

from collections.abc import Iterator, Sequence

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.judge.knowledge import is_face_down, is_open
from loadtest.judge.streams import Followed, Moment
from loadtest.judge.violations import Found, Invariant

_PUBLIC_FACTS = frozenset(
    ["round_started", "trick_taken", "seat_out", "hand_revealed", "marked", "turn_changed", "round_ended", "game_ended"]
)
_COUNTED_BY_ALL = (table_pb2.MOVE_REASON_DEAL, table_pb2.MOVE_REASON_DRAW, table_pb2.MOVE_REASON_PENALTY)
"""Why cards move face down before the eyes of all; other such moves may be told to their maker alone, or first."""


def disagreements(followed: Sequence[Followed]) -> Iterator[Found]:
    """Where two viewers were told different things about what everybody may know."""
    infos: dict[bytes, str] = {}
    updates: dict[int, tuple[bytes, str]] = {}
    moments: dict[int, tuple[bytes, str]] = {}
    digests: dict[bytes, bytes] = {}
    for one in followed:
        if one.info.table_id:
            infos.setdefault(one.info.SerializeToString(deterministic=True), one.name)
        for sequence, update in one.updates.items():
            body = update.SerializeToString()
            digest = digests.get(body) or digests.setdefault(body, public_part(update))
            first, told = updates.setdefault(sequence, (digest, one.name))
            if first != digest:
                yield _differs(sequence, told, one.name, "an entry")
        for sequence, moment in one.moments.items():
            public = _public_view(moment)
            first, told = moments.setdefault(sequence, (public, one.name))
            if first != public:
                yield _differs(sequence, told, one.name, "the table")
    if len(infos) > 1:
        one_name, other_name, *_ = infos.values()
        yield _differs(0, one_name, other_name, "what is fixed about the table")


def _differs(sequence: int, one: str, other: str, what: str) -> Found:
    return Invariant.PUBLIC_FACTS_DIFFER, sequence, f"{one} and {other} were told different public facts about {what}"


def public_part(update: engine_pb2.TableUpdate) -> bytes:
    """What every viewer is told alike of an entry: all but hidden cards, calls, the contract, and what is legal.

    A mark with the name of a face-down pile tells the seat that put cards there, and nobody else, which they were.
    """
    public = engine_pb2.TableUpdate()
    public.CopyFrom(update)
    public.ClearField("facts")
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
    return public.SerializeToString(deterministic=True)


def _comes_from_open_pile(moved: table_pb2.CardsMoved) -> bool:
    return moved.source.HasField("pile") and not is_face_down(moved.source.pile)


def _public_view(moment: Moment) -> bytes:
    """What every viewer sees alike: no cards, no piles, and no contract, of which some may know more."""
    view = moment.view
    seats = [
        table_pb2.SeatView(score=seat.score, tricks_taken=seat.tricks_taken, out=seat.out, place=seat.place)
        for seat in view.seats
    ]
    public = table_pb2.TableView(
        round=view.round,
        phase=view.phase,
        dealer=view.dealer if view.HasField("dealer") else None,
        seats=seats,
        seats_to_act=view.seats_to_act,
        ranking=view.ranking,
    )
    told = engine_pb2.Snapshot(view=public, clock=moment.clock, revealed_seed=moment.revealed_seed)
    return told.SerializeToString(deterministic=True)
