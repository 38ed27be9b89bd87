"""A service with defects, which `python -m tests.loadtest.defects NAME+NAME SERVICE FLAGS` starts."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from croupier.cli.launcher.child import main as run_child
from croupier.engine.core import decide, fold
from croupier.engine.core.clock import ClockState
from croupier.engine.core.fold import TableState, Transition
from croupier.engine.core.log import TableConfig
from croupier.engine.tables import subscribers
from croupier.engine.tables.table import Table
from croupier.games.actions import Action, Play
from croupier.games.facts import Seat, Viewer
from croupier.games.interface import CardsShuffled, IllegalAction, SeatActed, ShuffleNeeded
from croupier.games.thulla import play as thulla_play
from croupier.games.thulla.state import ThullaState
from croupier.scoring.ledger import Ledger
from tests.simulation.defects import forget_request_id, resume_one_too_far

Change: TypeAlias = Callable[[Any], object]
"""Returns the replacement of an attribute."""
DEFECTS: dict[str, Callable[[], object]] = {
    "forget-requests": forget_request_id().__enter__,
    "resume-late": resume_one_too_far().__enter__,
}
"""By name, the functions that give this process a defect until it ends."""


def defect(owner: Any, name: str) -> Callable[[Change], Change]:
    """A defect that replaces an attribute of a class or a module."""

    def register(change: Change) -> Change:
        key = change.__name__.replace("_", "-")
        DEFECTS[key] = lambda: setattr(owner, name, change(getattr(owner, name)))
        return change

    return register


class Every:
    """Returns True at every n-th call."""

    def __init__(self, times: int) -> None:
        self._times = times
        self._count = 0

    def __call__(self) -> bool:
        self._count += 1
        return self._count % self._times == 0


@defect(fold, "clock_after")
def charge_reserves_twice(clock_after: Callable[..., ClockState]) -> object:
    """The time that a player uses of the reserve is charged twice."""

    def twice(clock: ClockState, *others: Any) -> ClockState:
        after = clock_after(clock, *others)
        left = zip(clock.reserves, after.reserves, strict=True)
        return after._replace(reserves=tuple(max(0, now - (before - now)) for before, now in left))

    return twice


@defect(subscribers, "encode_transition")
def leak_resumed(encode_transition: Callable[..., bytes]) -> object:
    """On resumed streams every seventh entry is sent with all its facts."""
    is_time = Every(7)

    def open_to_all(
        encoder: Any, config: TableConfig, transition: Transition, viewer: Viewer, now: int, *, is_last: bool
    ) -> bytes:
        sent = transition._replace(public=True) if is_time() else transition
        return encode_transition(encoder, config, sent, viewer, now, is_last=is_last)

    return open_to_all


@defect(fold, "shuffle")
def shuffle_badly(shuffle: Callable[[bytes, ShuffleNeeded], CardsShuffled]) -> object:
    """The first card of a shuffled pack is moved to its end."""

    def turned(key: bytes, needed: ShuffleNeeded) -> CardsShuffled:
        made = shuffle(key, needed)
        return made._replace(cards=(*made.cards[1:], made.cards[0]))

    return turned


@defect(decide, "action")
def store_another_action(decided: Callable[..., list[Transition]]) -> object:
    """At times another legal action is stored in place of the acknowledged one."""
    is_time = Every(10)

    def exchanging(
        config: TableConfig, table: TableState, now: int, acted: SeatActed, *others: Any
    ) -> list[Transition]:
        transitions = decided(config, table, now, acted, *others)
        legal = table.legal_actions(acted.seat).actions
        if not is_time() or len(legal) < 2:
            return transitions
        other = legal[0] if legal[0] != acted.action else legal[1]
        return decided(config, table, now, SeatActed(acted.seat, other), *others)

    return exchanging


@defect(Table, "append_once")
def count_repeats(append_once: Callable[..., Awaitable[int]]) -> object:
    """Repeated actions are counted as accepted again; no action is decided at once."""
    setattr(Table, "act_at_once", lambda *_: False)  # noqa: B010 - mypy allows no other way

    async def counting(one: Table, request: Any, request_id: str, *others: Any) -> int:
        if request_id in attrgetter("_folded.answers")(one)[request.seat]:
            attrgetter("_accepted")(one).inc()
        return await append_once(one, request, request_id, *others)

    return counting


@defect(thulla_play, "_checked")
def accept_any_card(check: Callable[[ThullaState, Seat, Action], int]) -> object:
    """The rules of Thulla do not require following suit."""

    def lenient(state: ThullaState, seat: Seat, action: Action) -> int:
        try:
            return check(state, seat, action)
        except IllegalAction as refusal:
            if refusal.rule == "THU-PLAY-3" and isinstance(action, Play):
                return action.card
            raise

    return lenient


@defect(Ledger, "record_result")
def lose_results(_: object) -> object:
    """Results are accepted and not recorded."""

    async def losing(_: Ledger, *__: object) -> bool:
        return True

    return losing


def main(arguments: Sequence[str]) -> int:
    """Run a service with these defects; returns the exit code."""
    names, *service = arguments
    for name in names.split("+"):
        DEFECTS[name]()
    return run_child(service)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
