"""Direct writes: what comes while the buffer of a port fills, and how a stream ends then."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from croupier.engine.tables.direct_writer import MAX_BUFFERED_BYTES, Port
from croupier.engine.tables.subscription import Subscription
from tests.waiting import settled


@dataclass
class FakePort(Port):
    """A port whose buffer has as many bytes as a test says, and how its stream ended."""

    sent: list[bytes] = field(default_factory=list)
    ends: list[Exception | None] = field(default_factory=list)
    level: int = 0

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    def buffered(self) -> int:
        return self.level

    def end(self, error: Exception | None) -> None:
        self.ends.append(error)


async def test_the_last_action_is_answered_though_its_update_has_filled_the_buffer() -> None:
    stream, port = Subscription(0, lambda: None), FakePort()
    writer = stream.write_to(port)
    await settled()
    stream.push(b"update")
    port.level = MAX_BUFFERED_BYTES + 1
    stream.close()
    stream.answer(b"answer")
    await settled()
    assert (port.sent, port.ends) == ([b"update"], [])
    port.level = 0
    writer.resume()
    await settled()
    assert (port.sent, port.ends) == ([b"update", b"answer"], [None])


async def test_a_missed_message_that_cannot_be_encoded_ends_the_stream() -> None:
    def missed() -> Iterator[bytes]:
        yield b"first"
        raise fault

    fault = ValueError("this entry cannot be encoded")
    stream, port = Subscription(0, lambda: None), FakePort()
    stream.preload(missed())
    stream.write_to(port)
    await settled()
    stream.push(b"live")
    await settled()
    assert (port.sent, port.ends) == ([b"first"], [fault])


async def test_a_stream_that_has_ended_is_not_handed_over() -> None:
    stream = Subscription(0, lambda: None)
    stream.close()
    stream.hand_over(b"notice")
    assert not stream.continues
