"""Checks that all viewers of a table receive the same public facts."""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from croupier_api.v1 import engine_pb2, facts_pb2, tables_pb2
from loadtest.judge.knowledge import is_face_down, is_open, lies_face_down
from loadtest.judge.streams import ViewerHistory, ViewerState
from loadtest.judge.violations import Found, Invariant

_PUBLIC_FACTS = frozenset(
    [
        "round_started",
        "trick_taken",
        "seat_out",
        "hand_revealed",
        "mark_changed",
        "turn_changed",
        "round_ended",
        "game_ended",
    ]
)
_COUNTED_BY_ALL = (facts_pb2.MOVE_REASON_DEAL, facts_pb2.MOVE_REASON_DRAW, facts_pb2.MOVE_REASON_PENALTY)
"""Reasons of face-down moves that are public; others may be sent to the acting seat alone, or first."""
PileKey: TypeAlias = tuple[str, int | None]
"""A pile by its name and owner."""


def check_public_facts(histories: Sequence[ViewerHistory]) -> Iterator[Found]:
    """Yield the differences between two viewers' public facts."""
    infos: dict[bytes, str] = {}
    updates: dict[int, tuple[bytes, str]] = {}
    states: dict[int, tuple[bytes, str]] = {}
    digests: dict[bytes, bytes] = {}
    for history in histories:
        if history.info.table_id:
            fixed = tables_pb2.Table()
            fixed.CopyFrom(history.info)
            fixed.ClearField("state")
            infos.setdefault(fixed.SerializeToString(deterministic=True), history.name)
        for sequence, update in history.updates.items():
            body = update.SerializeToString()
            if body not in digests:
                before = history.states.get(sequence - 1)
                piles = before.view.piles if before is not None else ()
                face_down = {(pile.name, _owner(pile)) for pile in piles if lies_face_down(pile)}
                digests[body] = public_part(update, face_down)
            first, name = updates.setdefault(sequence, (digests[body], history.name))
            if first != digests[body]:
                yield _differs(sequence, name, history.name, "an entry")
        for sequence, state in history.states.items():
            public = _public_view(state)
            first, name = states.setdefault(sequence, (public, history.name))
            if first != public:
                yield _differs(sequence, name, history.name, "the table")
    if len(infos) > 1:
        one_name, other_name, *_ = infos.values()
        yield _differs(0, one_name, other_name, "the table's fixed data")


def _differs(sequence: int, one: str, other: str, subject: str) -> Found:
    return Invariant.PUBLIC_FACTS_DIFFER, sequence, f"{one} and {other} received different public facts about {subject}"


def _owner(place: facts_pb2.Pile | facts_pb2.Place) -> int | None:
    return place.owner if place.HasField("owner") else None


def public_part(update: engine_pb2.TableUpdate, face_down: Collection[PileKey]) -> bytes:
    """Return the public part of an entry: all but hidden cards, calls, the contract and legal actions.

    `face_down` are the piles that lay so before it. A mark with the name of a face-down pile is private: it shows a
    seat the cards that it has put there.
    """
    public = engine_pb2.TableUpdate()
    public.CopyFrom(update)
    public.ClearField("facts")
    public.ClearField("legal_actions")
    for fact in update.facts:
        kind = fact.WhichOneof("fact")
        if kind in _PUBLIC_FACTS and not is_face_down(fact.mark_changed.mark.name):
            public.facts.append(fact)
        elif kind == "cards_moved":
            source = fact.cards_moved.source
            is_from_open_pile = (
                source.HasField("pile")
                and not is_face_down(source.pile)
                and (source.pile, _owner(source)) not in face_down
            )
            is_hidden = not is_open(fact.cards_moved) and not is_from_open_pile
            if is_hidden and fact.cards_moved.reason not in _COUNTED_BY_ALL:
                continue
            moved = public.facts.add().cards_moved
            moved.CopyFrom(fact.cards_moved)
            if is_hidden:
                moved.ClearField("cards")
    return public.SerializeToString(deterministic=True)


def _public_view(state: ViewerState) -> bytes:
    """Return the public part of a view: without cards, piles and the contract, which may be partly private."""
    view = state.view
    seats = [
        facts_pb2.SeatView(
            score=seat.score,
            tricks_taken=seat.tricks_taken,
            is_out=seat.is_out,
            place=seat.place if seat.HasField("place") else None,
        )
        for seat in view.seats
    ]
    public = facts_pb2.TableView(
        round=view.round,
        phase=view.phase,
        dealer=view.dealer if view.HasField("dealer") else None,
        seats=seats,
        seats_to_act=view.seats_to_act,
        ranking=view.ranking,
    )
    snapshot = engine_pb2.Snapshot(
        view=public, clock=state.clock, revealed_seed=state.revealed_seed, proposal=state.proposal
    )
    return snapshot.SerializeToString(deterministic=True)
