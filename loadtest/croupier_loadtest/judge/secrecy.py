"""Checks that no viewer is shown a hidden card or the seed too early, and that all receive the same public facts."""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from croupier_api.v1 import actions_pb2, engine_pb2, facts_pb2, tables_pb2
from croupier_loadtest.judge.knowledge import NOTHING_KNOWN, ShownCards, cards_in, cards_in_hand, is_open
from croupier_loadtest.judge.log import SLACK_MILLISECONDS, Log
from croupier_loadtest.judge.notation import CARDS, Deck
from croupier_loadtest.judge.streams import ViewerHistory, ViewerState, differences, state_of
from croupier_loadtest.judge.violations import Found, Invariant

_PARTLY_PRIVATE_FACTS = frozenset({"cards_moved", "called", "contract_changed", "card_order_changed"})
_COUNTED_BY_ALL = (facts_pb2.MOVE_REASON_DEAL, facts_pb2.MOVE_REASON_DRAW, facts_pb2.MOVE_REASON_PENALTY)
"""Reasons of face-down moves that are public; others may be sent to the acting seat alone, or first."""
PileKey: TypeAlias = tuple[str, int | None]
"""A pile by its name and owner."""


def check_secrecy(
    history: ViewerHistory, histories: Sequence[ViewerHistory], log: Log, shown: dict[bytes, ShownCards]
) -> Iterator[Found]:
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
        unknown = [(where, card) for where, card in cards if card not in message.known]
        public = _seen_by_others(history, snapshot, histories) if unknown else NOTHING_KNOWN
        for where, card in unknown:
            if card not in public:
                yield _card_shown(message.sequence, history, card, where)
    yield from _shown_by_answers(history, log)


def _seen_by_others(
    history: ViewerHistory, snapshot: engine_pb2.Snapshot, histories: Sequence[ViewerHistory]
) -> frozenset[int]:
    """Return the cards in hands that a snapshot shows as all others see them, as far as others are in the record.

    A viewer who comes later learns from it which cards of a hand all know by earlier facts.
    """
    public: set[int] = set()
    for seat in range(len(snapshot.view.seats)):
        cards = cards_in_hand(snapshot.view, seat) if seat != history.seat else set()
        for other in histories:
            state = other.states.get(snapshot.sequence)
            if other is not history and other.seat != seat and state is not None:
                cards &= cards_in_hand(state.view, seat)
        public |= cards
    return frozenset(public)


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
        known = state.known.union(*[cards_in_hand(state.view, seat) for seat in range(len(state.view.seats))])
        for where, card in cards_in(snapshot, history.deck):
            if card not in known:
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
            body, before = update.SerializeToString(), history.states.get(sequence - 1)
            if body not in digests:
                if before is None and sequence > 1:
                    continue  # After a gap it is not known which piles lie face down.
                piles = before.view.piles if before is not None else ()
                face_down = {(pile.name, _owner(pile)) for pile in piles if pile.face_down}
                digests[body] = public_part(update, face_down)
            first, name = updates.setdefault(sequence, (digests[body], history.name))
            if first != digests[body]:
                yield _differs(sequence, name, history.name, "an entry")
                yield from _shown_to_one(sequence, (name, first), (history.name, digests[body]), history.deck)
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


def _shown_to_one(sequence: int, one: tuple[str, bytes], other: tuple[str, bytes], deck: Deck) -> Iterator[Found]:
    """Yield the cards of facts that only one of two viewers received, though they should be public."""
    for (name, mine), (_, theirs) in ((one, other), (other, one)):
        public = {fact.SerializeToString() for fact in engine_pb2.TableUpdate.FromString(theirs).facts}
        for fact in engine_pb2.TableUpdate.FromString(mine).facts:
            for _, card in cards_in(fact, deck) if fact.SerializeToString() not in public else ():
                detail = f"{name} alone was shown {CARDS.get(card, '??')}"
                yield Invariant.HIDDEN_CARD_SEEN, sequence, detail


def _owner(place: facts_pb2.Pile | facts_pb2.Place) -> int | None:
    return place.owner if place.HasField("owner") else None


def public_part(update: engine_pb2.TableUpdate, face_down: Collection[PileKey]) -> bytes:
    """Return the public part of an entry: all but hidden cards, calls, the contract and legal actions.

    `face_down` are the piles that lay so before it. A mark of a seat that names cards may be private to the seat.
    """
    public, hidden_piles = engine_pb2.TableUpdate(), set(face_down)
    public.CopyFrom(update)
    public.ClearField("facts")
    public.ClearField("legal_actions")
    for fact in update.facts:
        kind = fact.WhichOneof("fact")
        mark = fact.mark_changed.mark
        is_private_mark = mark.HasField("seat") and mark.value.HasField("cards")
        if kind not in _PARTLY_PRIVATE_FACTS and not is_private_mark:
            public.facts.append(fact)
        elif kind == "cards_moved":
            source, target = fact.cards_moved.source, fact.cards_moved.target
            is_from_open_pile = source.HasField("pile") and (source.pile, _owner(source)) not in hidden_piles
            if target.HasField("pile"):
                lies_hidden = hidden_piles.add if fact.cards_moved.face_down else hidden_piles.discard
                lies_hidden((target.pile, _owner(target)))
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
        is_void=view.is_void,
    )
    snapshot = engine_pb2.Snapshot(
        view=public, clock=state.clock, revealed_seed=state.revealed_seed, proposal=state.proposal
    )
    return snapshot.SerializeToString(deterministic=True)
