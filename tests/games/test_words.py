"""Every word of recorded tables has a text; those of random tables are a part of the check of coverage."""

import pytest

from croupier.conformance.description_laws import check_shown
from croupier.conformance.words import in_fact
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from tests.games.record import recorded_steps


@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=OWN_GAMES)
def test_every_word_of_recorded_tables_has_a_text_whose_placeholders_are_its_arguments(game: Game) -> None:
    check_shown(game, {one for _, facts in recorded_steps(game) for fact in facts for one in in_fact(fact)})
