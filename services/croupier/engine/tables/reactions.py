"""Reactions, which seated players send to their table. They are not part of the log."""

from collections import deque

from croupier.runtime.errors import LimitReached, MalformedRequest
from croupier_api.v1 import errors_pb2

REACTIONS = ("thumbs_up", "thumbs_down", "laugh", "cry", "wow", "angry", "clap", "heart", "think", "sleep")
MAX_REACTIONS = 5
WINDOW_MILLISECONDS = 10_000


def check_reaction(reaction: str) -> None:
    """Raise MalformedRequest unless the reaction is one of REACTIONS."""
    if reaction not in REACTIONS:
        raise MalformedRequest(
            errors_pb2.ERROR_REASON_UNKNOWN_REACTION,
            f"invalid reaction: expected {' or '.join(REACTIONS)}",
            field="reaction",
        )


class ReactionLimit:
    """The rate limit of a seat's reactions: 5 in 10 seconds."""

    def __init__(self) -> None:
        self._sent: deque[int] = deque(maxlen=MAX_REACTIONS)

    def acquire(self, now: int) -> None:
        """Count a reaction at `now` (milliseconds); raises LimitReached beyond the limit."""
        if len(self._sent) == MAX_REACTIONS and (wait := self._sent[0] + WINDOW_MILLISECONDS - now) > 0:
            raise LimitReached(
                errors_pb2.ERROR_REASON_TOO_MANY_REACTIONS,
                f"too many reactions: expected at most {MAX_REACTIONS} in {WINDOW_MILLISECONDS // 1000} seconds",
                retry_after_seconds=wait / 1000,
                metadata={"limit": "seat_requests"},
            )
        self._sent.append(now)
