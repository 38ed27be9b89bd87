"""`croupier replay`: the replay of a finished table, and the verification of replays."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from croupier.cli.faults import CommandFault, misused
from croupier.cli.launcher.supervisor import Note
from croupier.cli.printed_command import printed_command
from croupier.engine.core.replay_verification import ReplayFault, verify_replay_file
from croupier.runtime.printed_text import escaped
from croupier_api.v1 import engine_pb2
from croupier_client.aio import Client


def write(replay: str, file: Path) -> None:
    """Write a replay to a file, or to standard output for "-"; raises CommandFault if it cannot be written."""
    try:
        if file == Path("-"):
            sys.stdout.write(escaped(replay, keep="\n") if sys.stdout.isatty() else replay)
        else:
            file.write_text(replay, encoding="utf-8")
    except OSError as fault:
        raise CommandFault(f"{file} cannot be written: {fault.strerror}") from None


async def share(client: Client, table_id: str, connection: Sequence[str]) -> str:
    """Return the command that reads a replay by a new link, and the day it expires; raises CroupierError.

    `connection` are the options by which others reach the services.
    """
    created = await client.create_link(table_id=table_id, purpose=engine_pb2.LINK_PURPOSE_REPLAY)
    until = created.expiry_time.ToDatetime().date()
    command = printed_command("replay", "export", table_id, "--link", created.link, *connection)
    return f"valid until {until}: {command}"


def verify(paths: Iterable[Path], say: Note) -> int:
    """Report for each file, and each *.jsonl of a folder, whether it is true; returns the number of those that are not.

    Raises CommandFault for a folder without replays.
    """
    files = [file for path in paths for file in _replays(path)]
    faults = sum(not _is_true(file, say) for file in files)
    if len(files) > 1:
        say(f"{len(files)} replays, {faults} of them not true")
    return faults


def _replays(path: Path) -> Sequence[Path]:
    if not path.is_dir():
        return (path,)
    if not (found := sorted(path.glob("*.jsonl"))):
        raise misused(f"{path} has no replays: expected files that end with .jsonl")
    return found


def _is_true(file: Path, say: Note) -> bool:
    try:
        with file.open(encoding="utf-8") as replay:
            found = verify_replay_file(replay)
    except ReplayFault as fault:
        say(f"{file}: {fault}")
        return False
    except (OSError, UnicodeDecodeError) as fault:
        say(f"{file}: cannot be read: {getattr(fault, 'strerror', None) or fault}")
        return False
    totals = ", ".join(map(str, found.totals))
    say(f"{file}: true, {found.game}, entries: {found.entries}, rounds: {found.rounds}, totals: {totals}")
    return True
