"""`croupier replay`: the replay of a finished table, and the verification of replays."""

from collections.abc import Iterable
from pathlib import Path

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.supervisor import Note
from croupier.engine.core.replay_verification import ReplayFault, verify_replay
from croupier_api.v1 import engine_pb2
from croupier_client.aio import Client


async def export(client: Client, table_id: str, output: Path | None, link: str = "") -> Path:
    """Write the replay of a finished table to a file, by default <table_id>.jsonl, and return its name.

    A player without a seat needs a link, unless the table is public.

    Raises CroupierError, or CommandFault if it cannot be written.
    """
    text = (await client.get_replay(table_id=table_id, link=link)).replay
    file = output if output is not None else Path(f"{table_id}.jsonl")
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise CommandFault(f"{file} cannot be written: {fault.strerror}") from None
    return file


async def share(client: Client, table_id: str) -> str:
    """Return the command that reads a replay by a new link, and the day it expires; raises CroupierError."""
    created = await client.create_link(table_id=table_id, purpose=engine_pb2.LINK_PURPOSE_REPLAY)
    until = created.expiry_time.ToDatetime().date()
    return f"valid until {until}: croupier replay export {table_id} --link {created.link}"


def verify(files: Iterable[Path], say: Note) -> int:
    """Report for each file in one line whether it is true; returns the number of those that are not."""
    faults = 0
    for file in files:
        try:
            found = verify_replay(file.read_text(encoding="utf-8"))
        except ReplayFault as fault:
            faults += 1
            say(f"{file}: {fault}")
        except (OSError, UnicodeDecodeError) as fault:
            faults += 1
            say(f"{file}: cannot be read: {getattr(fault, 'strerror', None) or fault}")
        else:
            totals = ", ".join(map(str, found.totals))
            say(f"{file}: true, {found.game}, entries: {found.entries}, rounds: {found.rounds}, totals: {totals}")
    return faults
