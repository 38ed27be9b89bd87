"""A service of two versions side by side: the second engine is newer, with another game, option and rules version."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext

from croupier.cli.launcher.child import main as run_child
from croupier.games.interface import Option
from croupier.games.one_ten.game import OneTen
from croupier.games.thulla.game import Thulla
from tests.engine.toys import rules_known
from tests.games.toy import TOY

NEWER = "engine-2"
NEW_OPTION = Option("cut_twice", False, (False, True), "changes nothing")


class NewerThulla(Thulla):
    """The same game under the same version of its rules, with an option that the other engine does not have."""

    def options(self, seats: int) -> tuple[Option, ...]:
        return (*super().options(seats), NEW_OPTION)


class NewerOneTen(OneTen):
    """The same game under a later version of its rules."""

    rules_version = 2


def main(arguments: Sequence[str]) -> int:
    """Run the service that the first argument names."""
    is_newer = any(flag.endswith(f"/{NEWER}.json") for flag in arguments)
    with rules_known(TOY, NewerThulla(), NewerOneTen()) if is_newer else nullcontext():
        return run_child(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
