"""Checks that no viewer is shown a hidden card or the seed too early, and that all receive the same public facts."""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from croupier_api.v1 import actions_pb2, engine_pb2, facts_pb2, tables_pb2
from loadtest.judge.knowledge import NOTHING_KNOWN, ShownCards, cards_in, is_face_down, is_open, lies_face_down
from loadtest.judge.log import SLACK_MILLISECONDS, Log
from loadtest.judge.notation import CARDS
from loadtest.judge.streams import ViewerHistory, ViewerState, differences, state_of
from loadtest.judge.violations import Found, Invariant

_PARTLY_PRIVATE_FACTS = frozenset({"cards_moved", "called", "contract_changed", "card_order_changed"})
_COUNTED_BY_ALL = (facts_pb2.MOVE_REASON_DEAL, facts_pb2.MOVE_REASON_DRAW, facts_pb2.MOVE_REASON_PENALTY)
"""Reasons of face-down moves that are public; others may be sent to the acting seat alone, or first."""
PileKey: TypeAlias = tuple[str, int | None]
"""A pile by its name and owner."""


def check_secrecy(history: ViewerHistory, log: Log, shown: dict[bytes, ShownCards]) -> Iterator[Found]:
    """Yield secrets in the messages to a viewer; `shown` caches the cards of messages that others received too."""
    for message in history.messages:
        snapshot, update = message.event.snapshot, message.event.update
        is_over = snapshot.view.ranking or any(fact.HasField("game_ended") for fact in update.facts)
        if (snapshot.revealed_seed or update.revealed_seed) and not is_over:
            yield _seed_shown(history, message.sequence)
        if message.known is None:
            continue
        if (cards := shown.get(message.received.body)) is None:
            # Refusals are judged with their requests, since they may repeat cards of these.
            cards = shown[message.received.body] = cards_in(message.event, history.deck)
        for where, card in cards:
            if card not in message.known:
                yield _card_shown(message.sequence, history, card, where)
    yield from _shown_by_answers(history, log)


def _shown_by_answers(history: ViewerHistory, log: Log) -> Iterator[Found]:
    """Yield hidden cards in refusals, except those that the request itself has named."""
    for answer in history.record.answered:
        named = set(history.deck.written_in(answer.message))
        if not named or answer.at_milliseconds > history.last_received[0]:
            continue  # Without later messages it is not known what the viewer may know by then.
        sent = history.sent.get(answer.request_id, [])
        # Known at some time between request and answer, or stored by then and received later.
        since, known = sent[0].at_milliseconds if sent else 0, NOTHING_KNOWN
        until = answer.at_milliseconds + SLACK_MILLISECONDS
        for sequence, state in history.states.items():
            if state.received_milliseconds <= since:
                known = state.known
            elif log.stored_milliseconds(sequence, state.received_milliseconds) + history.delay_milliseconds <= until:
                known |= state.known
        own = {card for it in sent for _, card in cards_in(actions_pb2.Action.FromString(it.action), history.deck)}
        for card in named - known - own:
            yield _card_shown(0, history, card, "a refusal")


def _card_shown(sequence: int, history: ViewerHistory, card: int, where: str) -> Found:
    return Invariant.HIDDEN_CARD_SEEN, sequence, f"{history.name} was shown {CARDS.get(card, '??')} in {where}"


def _seed_shown(history: ViewerHistory, sequence: int) -> Found:
    return Invariant.SEED_SHOWN_EARLY, sequence, f"{history.name} was shown the seed before the end of the game"


def check_views(history: ViewerHistory) -> Iterator[Found]:
    """Yield the differences between GetView and the streams, and hidden cards in it."""
    for at, snapshot in history.views:
        sequence = snapshot.sequence
        if snapshot.revealed_seed and not snapshot.view.ranking:
            yield _seed_shown(history, sequence)
        state = history.states.get(sequence)
        if state is None:
            continue
        for where, card in cards_in(snapshot, history.deck):
            if card not in state.known:
                yield _card_shown(sequence, history, card, f"{where} of GetView")
        for part in differences(state_of(at, snapshot.view, snapshot, state.known), state):
            yield Invariant.VIEW_DIFFERS, sequence, f"{history.name}: {part} of GetView differs from the stream's"


def check_public_facts(histories: Sequence[ViewerHistory]) -> Iterator[Found]:
    """Yield the differences between two viewers' public facts."""
    infos: dict[bytes, str] = {}
    updates: dict[int, tuple[bytes, str]] = {}
    states: dict[int, tuple[bytes, str]] = {}
    digests: dict[bytes, bytes] = {}
    for history in histories:
        if history.info.table_id:
            fixed = tables_pb2.PlayedTable()
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
        if kind not in _PARTLY_PRIVATE_FACTS and not is_face_down(fact.mark_changed.mark.name):
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
