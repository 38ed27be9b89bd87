"""The rules pages: `docs/rules` of the project, in a wheel `croupier/rules`."""

from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from croupier.cli.faults import CommandFault
from croupier.games.interface import Game
from croupier.games.registry import GAMES

WIDTH = 80
_PACKAGE = Path(__file__).parents[2]
FOLDERS = (_PACKAGE / "rules", _PACKAGE.parents[1] / "docs" / "rules")
"""The folders of the pages: in a wheel's package, and in the source tree of an editable installation."""


def rules_text(game: Game) -> str:
    """Return the rules page of a game as Markdown; raises CommandFault if this installation has none."""
    for folder in FOLDERS:
        page = folder / f"{game.id}.md"
        if page.is_file():
            return page.read_text(encoding="utf-8")
    raise CommandFault(f"there is no rules page of {game.name} in this installation")


def rules_page(game_id: str) -> Markdown:
    """Return the rules page of a game, or a sentence for a game that only the services know."""
    game = GAMES.get(game_id)
    return Markdown(rules_text(game) if game else "This installation has no rules page of the game.", hyperlinks=False)


def show_rules(console: Console, game: Game) -> None:
    """Print the rules of a game: laid out on a terminal, and without blanks at the ends of lines elsewhere."""
    page = rules_page(game.id)
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
