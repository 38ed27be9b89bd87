"""Somebody who wishes for a game, plays with whom he is matched, and wishes again."""

import time
from itertools import count

from croupier_client import CroupierError, TimedOut
from loadtest.mix import Kind, drawn, matchable
from loadtest.players.party import PAUSE_SECONDS, SEED_BYTES, USUAL_CLOCK, Person, drawn_manner, seated
from loadtest.players.world import World, tell_failure

FASHION_SECONDS = 15.0
MOST_SEATS = 4
"""People wish for tables that others wish for as well."""


async def matcher(world: World, name: str) -> None:
    """Be matched and play, until time is up."""
    client = world.guest(name)
    client_seed = world.random(f"{name} seed").randbytes(SEED_BYTES)
    for number in count(1):
        if world.is_time_up:
            return
        random = world.random(f"{name}/{number}")
        kind, seats = random.choice(_wishes(world))
        try:
            table = await client.matched(game=kind.game, seats=seats, client_seed=client_seed)
        except TimedOut:
            world.measures.count("wishes given up")
            continue
        except CroupierError as error:
            tell_failure(world.measures, "being matched", error)
            await world.sleep(PAUSE_SECONDS)
            continue
        if client.player is not None and table.seats[0].occupant.player_id == client.player.player_id:
            world.measures.count(f"quick matches {table.game}")
        person = Person(client, drawn_manner(world, random), client_seed)
        # A wish that was given up may have been matched just then: the next one brings that table, with that seed.
        client_seed = world.random(f"{name}/{number} seed").randbytes(SEED_BYTES)
        await seated(world, person, table, USUAL_CLOCK, random)


def _wishes(world: World) -> list[tuple[Kind, int]]:
    """What people wish for just now: everybody, in whichever process, of the same few games."""
    fashion = world.random(f"fashion {int(time.time() / FASHION_SECONDS)}")
    kinds = [drawn(matchable(world.manners.games), fashion) for _ in range(world.manners.wishes)]
    return [(kind, fashion.choice([seats for seats in kind.seats if seats <= MOST_SEATS])) for kind in kinds]
