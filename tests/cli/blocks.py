"""Blocks of ports for tests that name them."""

import os
from itertools import chain

from croupier.cli.addresses import addresses_from
from croupier.cli.replicas import Replicas
from croupier.runtime.addresses import is_free

FIRST, LAST, ROOM = 10_000, 30_000, 100
"""Below the ports that systems give to whoever asks for any: nobody comes by one of them by chance."""


def free_block(replicas: Replicas) -> int:
    """The first port of a block in which every address of these replicas is free."""
    # Where a search begins differs, so that tests beside each other find different ones.
    begins = FIRST + os.getpid() * ROOM % (LAST - FIRST)
    for first in chain(range(begins, LAST, ROOM), range(FIRST, begins, ROOM)):
        addresses = addresses_from(first, replicas).values()
        if all(is_free(address) for own in addresses for address in own.values()):
            return first
    raise AssertionError("no block of ports is free")
