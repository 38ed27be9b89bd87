"""No viewer is shown a card that is hidden from him, nor the seed before the game is over."""

from collections.abc import Iterator

from croupier_api.v1 import table_pb2
from loadtest.judge.knowledge import NOTHING_KNOWN, Shown, cards_in, cards_written_in
from loadtest.judge.log import SLACK_MILLISECONDS
from loadtest.judge.notation import CARDS
from loadtest.judge.streams import Followed, Message, differences, moment_of
from loadtest.judge.violations import Found, Invariant


def secrets_told(one: Followed, shown: dict[bytes, Shown]) -> Iterator[Found]:
    """What a viewer was shown that he may not know; `shown` remembers messages that others got alike."""
    for message in one.messages:
        snapshot, update = message.parsed.snapshot, message.parsed.update
        is_over = snapshot.view.ranking or any(fact.HasField("game_ended") for fact in update.facts)
        if (snapshot.revealed_seed or update.revealed_seed) and not is_over:
            yield _seed_told(one, message.sequence)
        for where, card in _cards_of(message, shown) if message.known is not None else ():
            if message.known is not None and card not in message.known:
                yield _told(message.sequence, one, card, where)
    yield from _told_by_answers(one)


def _cards_of(message: Message, shown: dict[bytes, Shown]) -> Shown:
    cards = shown.get(message.body)
    if cards is None:
        parsed = message.parsed
        # What a refusal says is judged with what was sent, since it may repeat that.
        event = parsed.WhichOneof("event")
        told = cards_in(getattr(parsed, event)) if event is not None else ()
        cards = shown[message.body] = told + cards_in(parsed.legal_actions)
    return cards


def _told_by_answers(one: Followed) -> Iterator[Found]:
    """Cards that refusals name: those that the action named itself may be named again."""
    for answer in one.record.answered:
        told = set(cards_written_in(answer.message))
        if not told or answer.at_milliseconds > one.last_heard[0]:
            continue  # Whoever hears nothing any more may learn from a refusal what he holds by then.
        sent = one.sent.get(answer.request_id, [])
        known = _known_between(one, sent[0].at_milliseconds if sent else 0, answer.at_milliseconds)
        named = {card for it in sent for _, card in cards_in(table_pb2.Action.FromString(it.action))}
        for card in told - known - named:
            yield _told(0, one, card, "a refusal")


def _known_between(one: Followed, since: int, until: int) -> frozenset[int]:
    """What a viewer knew at some time in between, or was about to hear."""
    known: frozenset[int] = NOTHING_KNOWN
    for moment in one.moments.values():
        if moment.heard_milliseconds <= since:
            known = moment.known
        elif moment.heard_milliseconds <= until + SLACK_MILLISECONDS:
            known |= moment.known
    return known


def _told(sequence: int, one: Followed, card: int, where: str) -> Found:
    return Invariant.HIDDEN_CARD_SEEN, sequence, f"{one.name} was shown {CARDS.get(card, '??')} in {where}"


def _seed_told(one: Followed, sequence: int) -> Found:
    return Invariant.SEED_SHOWN_EARLY, sequence, f"{one.name} was shown the seed, and the game is not over"


def views_differ(one: Followed) -> Iterator[Found]:
    """Where GetView gave something else than the streams add up to, or what is hidden."""
    for at, snapshot in one.views:
        sequence = snapshot.sequence
        if snapshot.revealed_seed and not snapshot.view.ranking:
            yield _seed_told(one, sequence)
        moment = one.moments.get(sequence)
        if moment is None:
            continue
        for where, card in cards_in(snapshot):
            if card not in moment.known:
                yield _told(sequence, one, card, f"{where} of GetView")
        for what in differences(moment_of(at, snapshot, moment.known), moment):
            yield Invariant.VIEW_DIFFERS, sequence, f"{one.name}: {what} of GetView is not the stream's"
