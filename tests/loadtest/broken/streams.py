"""Defects of what an engine's streams and views tell."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from croupier.engine import audience, fact_codec, servicer, streams
from croupier.engine.audience import Audience
from croupier.engine.cached import CachedTable
from croupier.engine.codec import encode_legal
from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.log import TableConfig
from croupier.engine.streams import Subscription
from croupier.engine.table import Step, TableState
from croupier.games.facts import SPECTATOR, Fact, Viewer
from croupier_api.v1 import engine_pb2
from tests.loadtest.broken.defect import Every, named, now_at, put

MANY_MESSAGES = 12


def skip() -> None:
    """An update is left out now and then on streams of seats that were not to act, and the next ones come."""
    push = Subscription.push
    pushed: dict[Subscription, int] = {}

    def forgetting(stream: Subscription, message: bytes) -> None:
        told = engine_pb2.PlayResponse.FromString(message)
        if told.HasField("update") and not told.HasField("legal_actions"):
            pushed[stream] = pushed.get(stream, 0) + 1
            if pushed[stream] % MANY_MESSAGES == 0:
                return
        push(stream, message)

    put(Subscription, "push", forgetting)


def resume_late() -> None:
    """A stream that is resumed begins one entry after the one that was missed first."""
    _resume_otherwise(lambda missed: islice(missed, 1, None))


def resume_early() -> None:
    """A stream that is resumed tells the entry again that was seen last."""
    steps_after = CachedTable.steps_after
    put(CachedTable, "steps_after", lambda table, sequence: steps_after(table, max(1, sequence - 1)))


def resume_with_everything() -> None:
    """A stream that is resumed tells what was missed as if everything in it were for everybody."""
    message_of = streams.message_of

    def open_to_all(encoder: Any, config: TableConfig, step: Step, viewer: Viewer) -> bytes:
        return message_of(encoder, config, step._replace(public=True), viewer)

    put(audience, "message_of", open_to_all)


def leak_every_seventh_resumed() -> None:
    """Every seventh entry that a resumed stream tells is told as if everything in it were for everybody."""
    message_of = streams.message_of
    is_time = Every(7)

    def open_now_and_then(encoder: Any, config: TableConfig, step: Step, viewer: Viewer) -> bytes:
        return message_of(encoder, config, step._replace(public=True) if is_time() else step, viewer)

    put(audience, "message_of", open_now_and_then)


def _resume_otherwise(alter: Any) -> None:
    resume = Audience.resume

    def altered(one: Audience, viewer: Viewer, table: TableState, missed: Iterable[Step]) -> Subscription:
        return resume(one, viewer, table, alter(missed))

    put(Audience, "resume", altered)


def hush() -> None:
    """After some messages nothing comes on the stream of seat 0 of each table, not even heartbeats."""
    push = Subscription.push
    pushed: dict[Subscription, int] = {}

    def silent(stream: Subscription, message: bytes) -> None:
        pushed[stream] = pushed.get(stream, 0) + 1
        if stream.viewer != 0 or pushed[stream] <= MANY_MESSAGES:
            push(stream, message)

    put(Subscription, "push", silent)


def leak_hand() -> None:
    """Snapshots show whoever follows the lowest card of the last seat's hand."""
    view_of: Callable[..., engine_pb2.Snapshot] = now_at(fact_codec, "encode_snapshot")

    def leaking(config: TableConfig, table: TableState, viewer: Viewer) -> engine_pb2.Snapshot:
        shown, last = view_of(config, table, viewer), config.seat_count - 1
        if viewer != last and table.seats_to_act:
            hand = fact_codec.encode_view(table.game.view(last)).seats[last]
            del shown.view.seats[last].cards[:]
            shown.view.seats[last].cards.extend(hand.cards[:1])
        return shown

    put(fact_codec, "encode_snapshot", leaking)
    put(servicer, "encode_snapshot", leaking)


def leak_to_spectators() -> None:
    """Spectators are told on their streams what seat 0 is told."""
    may_know = streams.may_know

    def generous(fact: Fact, viewer: Viewer) -> bool:
        return may_know(fact, 0 if viewer == SPECTATOR else viewer)

    put(streams, "may_know", generous)


def show_seed() -> None:
    """GetView shows the seed while the game is on."""
    view_of: Callable[..., engine_pb2.Snapshot] = now_at(servicer, "encode_snapshot")

    def seeded(config: TableConfig, table: TableState, viewer: Viewer) -> engine_pb2.Snapshot:
        shown = view_of(config, table, viewer)
        shown.revealed_seed = config.seed.hex()
        return shown

    put(servicer, "encode_snapshot", seeded)


def miscount() -> None:
    """GetView counts one card too many in the hand of the seat that is to act."""
    view_of: Callable[..., engine_pb2.Snapshot] = now_at(servicer, "encode_snapshot")

    def miscounting(config: TableConfig, table: TableState, viewer: Viewer) -> engine_pb2.Snapshot:
        shown = view_of(config, table, viewer)
        for seat in table.seats_to_act:
            if seat != viewer:
                shown.view.seats[seat].card_count += 1
        return shown

    put(servicer, "encode_snapshot", miscounting)


def tell_seats_apart() -> None:
    """The stream of seat 1 tells the times of entries a millisecond later than the other streams do."""
    push = Subscription.push

    def later(stream: Subscription, message: bytes) -> None:
        told = engine_pb2.PlayResponse.FromString(message)
        if told.HasField("update") and stream.viewer == 1:
            told.update.at_milliseconds += 1
            message = told.SerializeToString()
        push(stream, message)

    put(Subscription, "push", later)


def fewer_choices() -> None:
    """A seat that may do several things is not told of the last of them."""

    def all_but_one(_: StreamEncoder, table: TableState, seat: int) -> bytes:
        legal = table.game.legal_actions(seat)
        if len(legal.actions) > 1:
            legal = legal._replace(actions=legal.actions[:-1])
        told = engine_pb2.PlayResponse(legal_actions=encode_legal(legal))
        return told.SerializeToString()

    put(StreamEncoder, "legal_actions", all_but_one)


STREAMS = named(
    "engine",
    (
        skip,
        resume_late,
        resume_early,
        resume_with_everything,
        leak_every_seventh_resumed,
        hush,
        leak_hand,
        leak_to_spectators,
        show_seed,
        miscount,
        tell_seats_apart,
        fewer_choices,
    ),
)
