"""`croupier games GAME --rules`: the rules page of a game."""

from rich.console import Console

from croupier.cli.terminal.rules import shown_page
from croupier.engine.api.game_texts import rules_page
from croupier.games.interface import Game
from croupier.runtime.translations import ENGLISH, language_of

WIDTH = 80


def show_rules(console: Console, game: Game, language: str = ENGLISH) -> None:
    """Print the rules of a game: laid out on a terminal, and without blanks at the ends of lines elsewhere."""
    page = shown_page(rules_page(game, language_of(language)).markdown)
    if console.is_terminal:
        console.print(page, width=WIDTH)
        return
    with console.capture() as laid_out:
        console.print(page, width=WIDTH)
    console.out(_tidied(laid_out.get()), highlight=False)


def _tidied(text: str) -> str:
    """Return a text without blanks at the ends of lines, and without several empty lines in a row."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "\n".join(line for above, line in zip(["", *lines], lines, strict=False) if above or line)
