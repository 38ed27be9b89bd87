"""Scripts of streams: the faults of a fake service, and when they come."""

from dataclasses import dataclass
from enum import Enum, auto

import grpc


class StreamFault(Enum):
    """Faults of a stream."""

    NONE = auto()
    DROP = auto()
    """The stream fails with a status."""
    END = auto()
    """The stream ends with OK."""
    MOVE = auto()
    """The stream sends a resume notice, and ends."""
    EXPIRE = auto()
    """The same, because all access tokens end; a stream without actions alone meets it."""
    SUPERSEDE = auto()
    """The stream fails because a newer one of the same player replaces it."""
    STALL = auto()
    """The stream sends no more messages, while its connection stays open."""
    BUSY = auto()
    """An action is refused with UNAVAILABLE; the stream continues."""


@dataclass(frozen=True)
class StreamScript:
    """The course of one stream, by default without a fault."""

    fault: StreamFault = StreamFault.NONE
    at_action: int = 1
    """The number of the action that meets the fault instead of an answer; 0 is before the first message.

    A stream without actions meets the fault after its first messages.
    """
    apply_first: bool = True
    """Whether that action is carried out before the fault."""
    drop_code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    skew: int = 0
    """A number that is added to the sequence of every update by an action."""
    lose_last_answer: bool = False
    """End the stream with the game, without the answer to the last action."""
