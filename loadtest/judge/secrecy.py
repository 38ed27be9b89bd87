"""Checks that no viewer is shown a hidden card, or the seed before the end of the game."""

from collections.abc import Iterator

from croupier_api.v1 import actions_pb2
from loadtest.judge.knowledge import NOTHING_KNOWN, ShownCards, cards_in
from loadtest.judge.log import SLACK_MILLISECONDS
from loadtest.judge.notation import CARDS
from loadtest.judge.streams import ViewerHistory, differences, state_of
from loadtest.judge.violations import Found, Invariant


def check_secrecy(history: ViewerHistory, shown: dict[bytes, ShownCards]) -> Iterator[Found]:
    """Yield secrets in the messages to a viewer; `shown` caches the cards of messages that others received too."""
    for message in history.messages:
        snapshot, update = message.event.snapshot, message.event.update
        is_over = snapshot.view.ranking or any(fact.HasField("game_ended") for fact in update.facts)
        if (snapshot.revealed_seed or update.revealed_seed) and not is_over:
            yield _seed_shown(history, message.sequence)
        if message.known is None:
            continue
        if (cards := shown.get(message.body)) is None:
            # Refusals are judged with their requests, since they may repeat cards of these.
            cards = shown[message.body] = cards_in(message.event, history.deck)
        for where, card in cards:
            if card not in message.known:
                yield _card_shown(message.sequence, history, card, where)
    yield from _shown_by_answers(history)


def _shown_by_answers(history: ViewerHistory) -> Iterator[Found]:
    """Yield hidden cards in refusals, except those that the request itself has named."""
    for answer in history.record.answered:
        named = set(history.deck.written_in(answer.message))
        if not named or answer.at_milliseconds > history.last_received[0]:
            continue  # Without later messages it is not known what the viewer may know by then.
        sent = history.sent.get(answer.request_id, [])
        # Known at some time between request and answer, or about to be received.
        since, known = sent[0].at_milliseconds if sent else 0, NOTHING_KNOWN
        for state in history.states.values():
            if state.received_milliseconds <= since:
                known = state.known
            elif state.received_milliseconds <= answer.at_milliseconds + SLACK_MILLISECONDS:
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
        for part in differences(state_of(at, snapshot, state.known), state):
            yield Invariant.VIEW_DIFFERS, sequence, f"{history.name}: {part} of GetView differs from the stream's"
