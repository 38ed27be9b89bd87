"""A service with one defect: `python -m tests.loadtest.defects DEFECT SERVICE FLAGS` starts it in a service's place."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from croupier.cli.child import main as run_child
from croupier.cli.replicas import service_of
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
from croupier.lobby.engine_port import GameDescription
from croupier.lobby.games import GameCatalogue
from croupier.scoring.ledger import Ledger, Result, Sheet

NONE = "none"
"""The name of no defect."""
HASTE_MILLISECONDS = 500


class Every:
    """True every so many times."""

    def __init__(self, times: int) -> None:
        self._times = times
        self._count = 0

    def __call__(self) -> bool:
        self._count += 1
        return self._count % self._times == 0


def put(owner: Any, name: str, make: Callable[[Any], object]) -> None:
    """Replace an attribute of a class or a module, by what is made of the present one, until this process ends."""
    setattr(owner, name, make(getattr(owner, name)))


def charge_reserves_twice() -> None:
    """What a player draws from the reserve is taken from it twice."""

    def make(clock_after: Callable[..., ClockState]) -> object:
        def twice(clock: ClockState, config: ClockConfig, entry: Entry, seats: tuple[int, ...]) -> ClockState:
            after = clock_after(clock, config, entry, seats)
            left = zip(clock.reserves, after.reserves, strict=True)
            return after._replace(reserves=tuple(max(0, now - (before - now)) for before, now in left))

        return twice

    put(table, "clock_after", make)


def leak_resumed() -> None:
    """On resumed streams every seventh entry is told as if everything in it were for everybody."""
    is_time = Every(7)

    def make(message_of: Callable[..., bytes]) -> object:
        def open_to_all(encoder: Any, config: TableConfig, step: Step, viewer: Viewer) -> bytes:
            return message_of(encoder, config, step._replace(public=True) if is_time() else step, viewer)

        return open_to_all

    put(audience, "message_of", make)


def resume_late() -> None:
    """A stream that is resumed begins one entry after the one that was missed first."""

    def make(resume: Callable[..., Subscription]) -> object:
        def late(one: Audience, viewer: Viewer, state: TableState, missed: Iterable[Step]) -> Subscription:
            return resume(one, viewer, state, islice(missed, 1, None))

        return late

    put(Audience, "resume", make)


def shuffle_badly() -> None:
    """The first card of a shuffled pack is put under it."""

    def make(shuffle: Callable[[bytes, ShuffleNeeded], CardsShuffled]) -> object:
        def turned(key: bytes, needed: ShuffleNeeded) -> CardsShuffled:
            made = shuffle(key, needed)
            return made._replace(cards=(*made.cards[1:], made.cards[0]))

        return turned

    put(table, "shuffle", make)


def exchange() -> None:
    """Now and then another legal action is stored in place of the one that is acknowledged."""
    is_time = Every(10)

    def make(steps_of: Callable[..., list[Step]]) -> object:
        def exchanging(one: LiveTable, seat: Seat, action: Action, request_id: str, expected: int | None) -> list[Step]:
            steps = steps_of(one, seat, action, request_id, expected)
            legal = one.state.game.legal_actions(seat).actions
            if not is_time() or len(legal) < 2:
                return steps
            return steps_of(one, seat, legal[0] if legal[0] != action else legal[1], request_id, expected)

        return exchanging

    put(LiveTable, "_steps_of_player", make)


def forget_requests() -> None:
    """What was answered before is not remembered: a request that is sent again is a new one."""
    put(CachedTable, "_answered", lambda _: lambda *_: None)


def count_repeats() -> None:
    """Actions that are sent again are counted as accepted again."""

    def make(answered: Callable[..., int | None]) -> object:
        def counting(one: CachedTable, request: Any, request_id: str) -> int | None:
            known = answered(one, request, request_id)
            if known is not None:
                attrgetter("_accepted")(one).inc()
            return known

        return counting

    put(CachedTable, "_answered", make)


def take_any_card() -> None:
    """The rules of Thulla do not mind who does not follow suit."""

    def make(check: Callable[[ThullaState, Seat, Action], int]) -> object:
        def lenient(state: ThullaState, seat: Seat, action: Action) -> int:
            try:
                return check(state, seat, action)
            except IllegalAction as refusal:
                if refusal.rule == "THU-PLAY-3" and isinstance(action, Play):
                    return action.card
                raise

        return lenient

    put(ThullaState, "_check", make)


def play_early() -> None:
    """A seat is played for when it has thought for half a second."""
    put(Steward, "_when_to_act", lambda _: lambda one, _: attrgetter("_table.state.at")(one) + HASTE_MILLISECONDS)


def lose_results() -> None:
    """Results are taken and not entered."""

    async def losing(_: Ledger, __: Sheet, ___: Result) -> bool:
        return True

    put(Ledger, "enter_result", lambda _: losing)


def offer_later_rules() -> None:
    """The lobby offers a later version of all games."""

    def make(all_games: Callable[..., Any]) -> object:
        async def later(one: GameCatalogue) -> Sequence[GameDescription]:
            return [replace(game, rules_version=game.rules_version + 1) for game in await all_games(one)]

        return later

    put(GameCatalogue, "all", make)


class Defect(NamedTuple):
    """What is done to which service before it starts."""

    service: str
    make: Callable[[], None]


ENGINE = (
    charge_reserves_twice, leak_resumed, resume_late, shuffle_badly, exchange, forget_requests, count_repeats,
    take_any_card, play_early,
)  # fmt: skip
DEFECTS: Mapping[str, Defect] = MappingProxyType(
    {
        make.__name__.replace("_", "-"): Defect(service, make)
        for service, makes in (("engine", ENGINE), ("scoring", (lose_results,)), ("lobby", (offer_later_rules,)))
        for make in makes
    }
)


def main(arguments: Sequence[str]) -> int:
    """Run a service, with the defect if it is the one that has it; returns the exit code."""
    name, service, *flags = arguments
    if name != NONE and DEFECTS[name].service == service_of(service):
        DEFECTS[name].make()
    return run_child([service, *flags])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
