"""A service with defects: `python -m tests.loadtest.defects NAME+NAME SERVICE FLAGS` starts it in a service's place."""

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, TypeAlias

from croupier.cli.child import main as run_child
from croupier.engine import audience, table
from croupier.engine.audience import Audience
from croupier.engine.cached import CachedTable
from croupier.engine.clock import ClockState
from croupier.engine.live import LiveTable
from croupier.engine.log import ClockConfig, Entry, TableConfig
from croupier.engine.steward import Steward
from croupier.engine.streams import Subscription
from croupier.engine.table import Step, TableState
from croupier.games.actions import Action, Play
from croupier.games.facts import Seat, Viewer
from croupier.games.interface import CardsShuffled, IllegalAction, ShuffleNeeded
from croupier.games.thulla.state import ThullaState
from croupier.scoring.ledger import Ledger, Result, Sheet

HASTE_MILLISECONDS = 1_500
Change: TypeAlias = Callable[[Any], object]
"""What is put in the place of the present one."""
DEFECTS: dict[str, Callable[[], None]] = {}
"""By name what makes this process have a defect until it ends."""


def defect(owner: Any, name: str) -> Callable[[Change], Change]:
    """A defect that replaces an attribute of a class or a module."""

    def register(change: Change) -> Change:
        key = change.__name__.replace("_", "-")
        DEFECTS[key] = lambda: setattr(owner, name, change(getattr(owner, name)))
        return change

    return register


class Every:
    """True every so many times."""

    def __init__(self, times: int) -> None:
        self._times = times
        self._count = 0

    def __call__(self) -> bool:
        self._count += 1
        return self._count % self._times == 0


@defect(table, "clock_after")
def charge_reserves_twice(clock_after: Callable[..., ClockState]) -> object:
    """What a player draws from the reserve is taken from it twice."""

    def twice(clock: ClockState, config: ClockConfig, entry: Entry, seats: tuple[int, ...]) -> ClockState:
        after = clock_after(clock, config, entry, seats)
        left = zip(clock.reserves, after.reserves, strict=True)
        return after._replace(reserves=tuple(max(0, now - (before - now)) for before, now in left))

    return twice


@defect(audience, "message_of")
def leak_resumed(message_of: Callable[..., bytes]) -> object:
    """On resumed streams every seventh entry is told as if everything in it were for everybody."""
    is_time = Every(7)

    def open_to_all(encoder: Any, config: TableConfig, step: Step, viewer: Viewer) -> bytes:
        return message_of(encoder, config, step._replace(public=True) if is_time() else step, viewer)

    return open_to_all


@defect(Audience, "resume")
def resume_late(resume: Callable[..., Subscription]) -> object:
    """A stream that is resumed begins one entry after the one that was missed first."""

    def late(one: Audience, viewer: Viewer, state: TableState, missed: Iterable[Step]) -> Subscription:
        return resume(one, viewer, state, islice(missed, 1, None))

    return late


@defect(table, "shuffle")
def shuffle_badly(shuffle: Callable[[bytes, ShuffleNeeded], CardsShuffled]) -> object:
    """The first card of a shuffled pack is put under it."""

    def turned(key: bytes, needed: ShuffleNeeded) -> CardsShuffled:
        made = shuffle(key, needed)
        return made._replace(cards=(*made.cards[1:], made.cards[0]))

    return turned


@defect(LiveTable, "_steps_of_player")
def exchange(steps_of: Callable[..., list[Step]]) -> object:
    """Now and then another legal action is stored in place of the one that is acknowledged."""
    is_time = Every(10)

    def exchanging(one: LiveTable, seat: Seat, action: Action, request_id: str, expected: int | None) -> list[Step]:
        steps = steps_of(one, seat, action, request_id, expected)
        legal = one.state.game.legal_actions(seat).actions
        if not is_time() or len(legal) < 2:
            return steps
        return steps_of(one, seat, legal[0] if legal[0] != action else legal[1], request_id, expected)

    return exchanging


@defect(CachedTable, "_answered")
def forget_requests(_: object) -> object:
    """What was answered before is not remembered: a request that is sent again is a new one."""
    return lambda *_: None


@defect(CachedTable, "_answered")
def count_repeats(answered: Callable[..., int | None]) -> object:
    """Actions that are sent again are counted as accepted again."""

    def counting(one: CachedTable, request: Any, request_id: str) -> int | None:
        known = answered(one, request, request_id)
        if known is not None:
            attrgetter("_accepted")(one).inc()
        return known

    return counting


@defect(ThullaState, "_check")
def take_any_card(check: Callable[[ThullaState, Seat, Action], int]) -> object:
    """The rules of Thulla do not mind who does not follow suit."""

    def lenient(state: ThullaState, seat: Seat, action: Action) -> int:
        try:
            return check(state, seat, action)
        except IllegalAction as refusal:
            if refusal.rule == "THU-PLAY-3" and isinstance(action, Play):
                return action.card
            raise

    return lenient


@defect(Steward, "_when_to_act")
def play_early(_: object) -> object:
    """A seat is played for when it has thought for a second and a half, whether it was served meanwhile or not."""

    async def run_out(one: Any, seat: Seat) -> None:
        await one._store(seat, one._quick_decision(seat))

    setattr(Steward, "_run_out", run_out)  # noqa: B010 - mypy lets nobody assign to a method
    return lambda one, _: one._table.state.at + HASTE_MILLISECONDS


@defect(Ledger, "enter_result")
def lose_results(_: object) -> object:
    """Results are taken and not entered."""

    async def losing(_: Ledger, __: Sheet, ___: Result) -> bool:
        return True

    return losing


def main(arguments: Sequence[str]) -> int:
    """Run a service with all of these defects that are its own; returns the exit code."""
    names, *service = arguments
    for name in names.split("+"):
        DEFECTS[name]()
    return run_child(service)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
