"""The CPU of lobby and scoring beside the engine, while people play short games and open new tables after them."""

from benchmarks.loads import SHORT_GAME, Level, engine_load, in_turn
from benchmarks.measurement import SERVER, Row, merged
from benchmarks.services import services
from croupier.cli.services import endpoints_of

LEVEL = Level(tables=200, rounds=3, seconds=7.0, think_seconds=4.0, settling_seconds=7.0)
MAX_HEAD_START = 20
"""A game has about 80 moves of four players."""
OTHERS = ("lobby", "scoring")


async def compare() -> list[Row]:
    """Measure all services with tables at random points of their games."""
    with services() as started:
        pids = {SERVER: started.pids["engine"], **{name: started.pids[name] for name in OTHERS}}
        endpoints = endpoints_of(started.addresses)
        async with engine_load(pids, endpoints, LEVEL, game=SHORT_GAME, max_head_start=MAX_HEAD_START) as load:
            rounds = (await in_turn({"services": load}))["services"]
    total, variant = merged(rounds), f"{LEVEL.tables} tables, SQLite"
    cpu = ", ".join(f"{name} {total.core_percent(name):.1f} %" for name in OTHERS)
    ratios = [sum(one.core_percent(name) for name in OTHERS) / one.core_percent() for one in rounds]
    return [
        Row(
            "lobby",
            variant,
            f"engine {total.core_percent():.1f} % of a core, {total.moves_per_second:.0f} moves/s",
        ),
        Row("lobby", variant, f"{cpu} of a core", ratios, "CPU of both to engine"),
    ]
