"""Reactions: small signs that seated players send to their table. They are not part of the log."""

from collections import deque

from croupier.runtime.errors import LimitReached, MalformedRequest

REACTIONS = ("thumbs_up", "thumbs_down", "laugh", "cry", "wow", "angry", "clap", "heart", "think", "sleep")
MOST_REACTIONS = 5
WINDOW_MILLISECONDS = 10_000


def check_reaction(reaction: str) -> None:
    """Raises MalformedRequest unless the reaction is one of the list."""
    if reaction not in REACTIONS:
        raise MalformedRequest(
            "UNKNOWN_REACTION", f"that is not a reaction: one of {', '.join(REACTIONS)} is", field="reaction"
        )


class ReactionLimit:
    """Lets a seat send 5 reactions in 10 seconds."""

    def __init__(self) -> None:
        self._sent: deque[int] = deque(maxlen=MOST_REACTIONS)

    def take(self, now: int) -> None:
        """Count a reaction at `now` (milliseconds); raises LimitReached if it is one too many."""
        if len(self._sent) == MOST_REACTIONS and (wait := self._sent[0] + WINDOW_MILLISECONDS - now) > 0:
            raise LimitReached(
                "TOO_MANY_REACTIONS",
                f"{MOST_REACTIONS} reactions in {WINDOW_MILLISECONDS // 1000} seconds are allowed: wait a moment",
                retry_after_seconds=wait / 1000,
            )
        self._sent.append(now)
