"""A thinking process that does what the seed of a thought says: `python -m tests.engine.odd_thinker`.

With the name of a file it starts when that is there.
"""

import os
import sys
import time

from croupier.engine.thinking import Thought, main
from croupier.games.actions import PLAYS, Action

ANSWER, HANG, FAIL, DIE = range(4)
HOURS_SECONDS = 3_600


def think(thought: Thought) -> Action:
    if thought.seed == HANG:
        time.sleep(HOURS_SECONDS)
    if thought.seed == FAIL:
        raise ValueError("the hand is AS KH")
    if thought.seed == DIE:
        os._exit(1)
    return PLAYS[0]


if __name__ == "__main__":
    while not all(map(os.path.exists, sys.argv[1:])):
        time.sleep(0.01)
    main(think)
