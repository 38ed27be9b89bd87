"""`croupier report` as a command line; its work is imported when it is called."""

from pathlib import Path
from typing import Annotated

import typer

report_app = typer.Typer(help="Reports of load tests.", no_args_is_help=True)


@report_app.command("compare")
def report_compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A result.json, or the folder that holds one.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The result to compare with it.")],
    fail_above: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="Exit with 1 if p99 or CPU got worse by more, or violations rose."),
    ] = None,
) -> None:
    """Show two load tests side by side and which of them is better."""
    from croupier.cli.commands.report import compare
    from croupier.cli.terminal.safe_console import SafeConsole

    raise typer.Exit(compare(first, second, fail_above, SafeConsole()))
