"""The lock of a table."""

import asyncio


class TableLock:
    """A lock that is held by one call after the other, in the order in which they came.

    One that is free can be taken in a plain call, and its holder may release it in a callback: asyncio.Lock can only be
    awaited.
    """

    def __init__(self) -> None:
        self._is_held = False
        self._waiting: list[asyncio.Future[None]] = []

    def locked(self) -> bool:
        """Return whether a call holds the lock."""
        return self._is_held

    def take(self) -> None:
        """Take the lock, which must be free; raises RuntimeError otherwise."""
        if self._is_held:
            raise RuntimeError("the lock is held by another call")
        self._is_held = True

    def release(self) -> None:
        """Pass the lock on to the first call that waits, if there is one."""
        while self._waiting:
            turn = self._waiting.pop(0)
            if not turn.done():
                turn.set_result(None)
                return
        self._is_held = False

    async def __aenter__(self) -> None:
        if not self._is_held:
            self._is_held = True
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting = [other for other in self._waiting if other is not turn]
            else:
                # The lock was passed on to this call before it took notice of the cancellation.
                self.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self.release()
