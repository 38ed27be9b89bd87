"""Whether each viewer was sent exactly what the log entitles him to, and no card that is hidden from him."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from croupier.engine.fact_codec import StreamEncoder, encode_snapshot
from croupier.engine.log import TableConfig
from croupier.engine.streams import message_of
from croupier.engine.table import Step, TableState
from croupier.games.facts import SPECTATOR
from croupier_api.v1 import engine_pb2
from loadtest.faults.findings import Finding, Kind
from loadtest.faults.records import Heard, Opened, Stream
from loadtest.judge.knowledge import NOTHING_KNOWN, Shown, cards_in, known_after, shown_by
from loadtest.judge.notation import CARDS

MOST_TOLD_CHARACTERS = 600


def gaps_heard(table_id: str, stream: Stream, head: int, is_over: bool) -> Iterator[Finding]:
    """The stream begins with a snapshot and goes on entry by entry; it reaches the end of a game that is over."""
    sequence: int | None = None
    for message in stream.messages:
        # Who left and came back begins with a new snapshot; the client sees to it that no reconnect goes back.
        if not isinstance(message, Opened) and (sequence is None or message.sequence != sequence + 1):
            yield _finding(table_id, stream, message.sequence, f"came after {sequence}")
        sequence = message.sequence
    if sequence is not None and sequence > head:
        yield _finding(table_id, stream, sequence, f"was shown, and the log ends with {head}")
    if is_over and sequence != head and not stream.hampered:
        yield _finding(table_id, stream, sequence or 0, f"was the last, and the log goes on to {head}")


def _finding(table_id: str, stream: Stream, sequence: int, detail: str) -> Finding:
    return Finding(Kind.STREAM, table_id, sequence, f"seat {stream.seat}: {detail}")


class Entitlement:
    """What each viewer of a table may be sent, step by step; what several get alike is made once."""

    def __init__(self, config: TableConfig, streams: Sequence[Stream]) -> None:
        self._config = config
        self._encoder = StreamEncoder()
        self._streams = streams
        self._sent = [_by_sequence(stream) for stream in streams]

    def differences(self, made: Step) -> Iterator[Finding]:
        """What streams were sent of this step that is not what it says."""
        for stream, sent in zip(self._streams, self._sent, strict=True):
            viewer = SPECTATOR if stream.seat is None else stream.seat
            for message in sent.get(made.entry.sequence, ()):
                if isinstance(message, Heard):
                    yield from self._compare(stream, message, made, viewer)
                else:
                    yield from self._compare_snapshot(stream, message, made.after, viewer)

    def _compare(self, stream: Stream, message: Heard, made: Step, viewer: int) -> Iterator[Finding]:
        expected = engine_pb2.PlayResponse.FromString(message_of(self._encoder, self._config, made, viewer))
        update = expected.update.SerializeToString(deterministic=True)
        legal = expected.legal_actions.SerializeToString(deterministic=True)
        if update != message.update:
            came = engine_pb2.TableUpdate.FromString(message.update)
            yield _differs(self._config.table_id, stream, message.sequence, came, expected.update)
        if legal != message.legal_actions:
            yield _finding(self._config.table_id, stream, message.sequence, "came with other legal actions")

    def _compare_snapshot(self, stream: Stream, message: Opened, table: TableState, viewer: int) -> Iterator[Finding]:
        expected = encode_snapshot(self._config, table, viewer)
        if expected.SerializeToString(deterministic=True) != message.snapshot:
            came = engine_pb2.Snapshot.FromString(message.snapshot)
            yield _differs(self._config.table_id, stream, message.sequence, came, expected)


def _by_sequence(stream: Stream) -> Mapping[int, Sequence[Opened | Heard]]:
    messages: Mapping[int, list[Opened | Heard]] = defaultdict(list)
    for message in stream.messages:
        messages[message.sequence].append(message)
    return messages


def _differs(table_id: str, stream: Stream, sequence: int, came: object, expected: object) -> Finding:
    # Cards of a test's tables may be told: they are nobody's.
    texts = [" ".join(str(message).split())[:MOST_TOLD_CHARACTERS] for message in (came, expected)]
    return _finding(table_id, stream, sequence, "was sent {} in place of {}".format(*texts))


def hidden_cards(table_id: str, streams: Sequence[Stream]) -> Iterator[Finding]:
    """No viewer was sent a card that the facts he knows of did not lay before his eyes; told without the rules."""
    named: dict[bytes, Shown] = {}
    for stream in streams:
        known: frozenset[int] = NOTHING_KNOWN
        for message in stream.messages:
            if isinstance(message, Opened):
                snapshot = engine_pb2.Snapshot.FromString(message.snapshot)
                known |= shown_by(snapshot)
                shown = cards_in(snapshot)
            else:
                update = engine_pb2.TableUpdate.FromString(message.update)
                known = known_after(known, update, stream.seat)
                if message.update not in named:
                    named[message.update] = cards_in(update)
                shown = named[message.update]
            for where, card in shown:
                if card not in known:
                    detail = f"seat {stream.seat} was shown {CARDS[card]} in {where}"
                    yield Finding(Kind.HIDDEN_CARD, table_id, message.sequence, detail)
