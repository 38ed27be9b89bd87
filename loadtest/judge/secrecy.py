"""No viewer is shown a card that is hidden from him, nor the seed before the game is over."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.judge.knowledge import NOTHING_KNOWN, Shown, cards_in, cards_written_in
from loadtest.judge.notation import CARDS
from loadtest.judge.reach import SLACK_MILLISECONDS
from loadtest.judge.streams import Followed, Message
from loadtest.judge.violations import Invariant, Violation


def secrets_told(table_id: str, one: Followed, shown: dict[bytes, Shown]) -> Iterator[Violation]:
    """What a viewer was shown that he may not know; `shown` remembers messages that others got alike."""
    for message in one.messages:
        yield from _seed_told(table_id, one, message)
        if message.known is None:
            continue
        for where, card in _cards_of(message, shown):
            if card not in message.known:
                yield _told(table_id, message.sequence, one, card, where)
    yield from _told_by_answers(table_id, one)
    yield from _told_by_views(table_id, one)


def _cards_of(message: Message, shown: dict[bytes, Shown]) -> Shown:
    cards = shown.get(message.body)
    if cards is None:
        parsed = message.parsed
        # What a refusal says is judged with what was sent, since it may repeat that.
        event = parsed.WhichOneof("event")
        told = cards_in(getattr(parsed, event)) if event is not None else ()
        cards = shown[message.body] = told + cards_in(parsed.legal_actions)
    return cards


def _seed_told(table_id: str, one: Followed, message: Message) -> Iterator[Violation]:
    snapshot, update = message.parsed.snapshot, message.parsed.update
    is_early = (snapshot.revealed_seed and not snapshot.view.ranking) or (
        update.revealed_seed and not any(fact.HasField("game_ended") for fact in update.facts)
    )
    if is_early:
        detail = f"{one.name} was shown the seed, and the game is not over"
        yield Violation(Invariant.SEED_SHOWN_EARLY, table_id, message.sequence, detail)


def _told_by_answers(table_id: str, one: Followed) -> Iterator[Violation]:
    """Cards that refusals name: those that the action named itself may be named again."""
    named: Mapping[str, set[int]] = defaultdict(set)
    sent_at: dict[str, int] = {}
    for sent in one.record.sent:
        named[sent.request_id].update(card for _, card in cards_in(table_pb2.Action.FromString(sent.action)))
        sent_at.setdefault(sent.request_id, sent.at_milliseconds)
    for answer in one.record.answered:
        told = set(cards_written_in(answer.message))
        if not told or answer.at_milliseconds > one.last_heard[0]:
            continue  # Whoever hears nothing any more may learn from a refusal what he holds by then.
        known = _known_between(one, sent_at.get(answer.request_id, 0), answer.at_milliseconds)
        for card in told - known - named[answer.request_id]:
            yield _told(table_id, 0, one, card, "a refusal")


def _known_between(one: Followed, since: int, until: int) -> frozenset[int]:
    """What a viewer knew at some time in between, or was about to hear."""
    known: frozenset[int] = NOTHING_KNOWN
    for moment in one.moments.values():
        if moment.heard_milliseconds <= since:
            known = moment.known
        elif moment.heard_milliseconds <= until + SLACK_MILLISECONDS:
            known |= moment.known
    return known


def _told_by_views(table_id: str, one: Followed) -> Iterator[Violation]:
    for viewed in one.record.viewed:
        snapshot = engine_pb2.Snapshot.FromString(viewed.snapshot)
        moment = one.moments.get(snapshot.sequence)
        if snapshot.revealed_seed and not snapshot.view.ranking:
            detail = f"GetView showed {one.name} the seed, and the game is not over"
            yield Violation(Invariant.SEED_SHOWN_EARLY, table_id, snapshot.sequence, detail)
        for where, card in cards_in(snapshot) if moment is not None else ():
            if moment is not None and card not in moment.known:
                yield _told(table_id, snapshot.sequence, one, card, f"{where} of GetView")


def _told(table_id: str, sequence: int, one: Followed, card: int, where: str) -> Violation:
    detail = f"{one.name} was shown {CARDS.get(card, '??')} in {where}"
    return Violation(Invariant.HIDDEN_CARD_SEEN, table_id, sequence, detail)


def views_differ(table_id: str, one: Followed) -> Iterator[Violation]:
    """Where GetView gave something else than the streams add up to."""
    for viewed in one.record.viewed:
        snapshot = engine_pb2.Snapshot.FromString(viewed.snapshot)
        moment = one.moments.get(snapshot.sequence)
        if moment is None:
            continue
        pairs = {
            "view": (snapshot.view, moment.view),
            "legal actions": (snapshot.legal_actions, moment.legal_actions),
            "clock": (snapshot.clock, moment.clock),
            "seed": (snapshot.revealed_seed, moment.revealed_seed),
        }
        for what, (it, own) in pairs.items():
            if it != own:
                detail = f"{one.name}: GetView's {what} is not the stream's"
                yield Violation(Invariant.VIEW_DIFFERS, table_id, snapshot.sequence, detail)
