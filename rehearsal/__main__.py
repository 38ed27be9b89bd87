"""`python -m rehearsal`: starts what the production overlay describes, and harms it while people play."""

import asyncio
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from croupier.door.envoy import find_envoy
from rehearsal.aftermath import cleared_away
from rehearsal.manifests import CannotRehearse, GoneWrong, rendered
from rehearsal.options import Options, read_options
from rehearsal.plan import Plan, plan_of
from rehearsal.provisions import made_secrets
from rehearsal.report import Story, checks, forget, passed, text, write
from rehearsal.script import Rehearsal

OVERLAY = Path(__file__).parents[1] / "k8s" / "overlays" / "production"
FINE, BROKEN, NOT_REHEARSED = 0, 1, 2


def main(arguments: Sequence[str]) -> int:
    """Rehearse; gives the exit code."""
    options = read_options(arguments)
    _heed_signals()
    try:
        plan = options.of_plan(plan_of(rendered(OVERLAY)))
        story = _rehearsed(options, plan)
    except GoneWrong as fault:
        print(f"rehearsal: not as it should be: {fault}", file=sys.stderr)
        return BROKEN
    except (CannotRehearse, OSError) as fault:
        print(f"rehearsal: {fault}", file=sys.stderr)
        return NOT_REHEARSED
    except KeyboardInterrupt:
        print("rehearsal: ended before it was over", file=sys.stderr)
        return NOT_REHEARSED
    found = checks(story, plan)
    write(story, found, options.results)
    print(text(story, found))
    print(f"report      {options.results / 'rehearsal.json'}", flush=True)
    return FINE if passed(found) else BROKEN


def _heed_signals() -> None:
    """Whoever ends it wants everything ended that it started; what a shell starts in its background ignores SIGINT."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        # nohup has SIGHUP ignored on purpose.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))


def _rehearsed(options: Options, plan: Plan) -> Story:
    options.results.mkdir(parents=True, exist_ok=True)
    forget(options.results)
    try:
        envoy = find_envoy()
    except ValueError as fault:
        raise CannotRehearse(str(fault)) from None
    # Also where there will be no report.
    _say(f"to repeat it: {options.command}")
    with tempfile.TemporaryDirectory(prefix="croupier-rehearsal-") as name:
        try:
            return _with_database(options, plan, envoy, Path(name))
        finally:
            _keep_logs(Path(name), options.results / "logs")


def _with_database(options: Options, plan: Plan, envoy: Path, folder: Path) -> Story:
    # Imported here: it looks for a PostgreSQL.
    from loadtest.postgres import COPIED, binaries, postgres_server

    copies = [one for one in binaries().parents if one.name.startswith(COPIED)]
    with postgres_server(plan.database_settings) as server, cleared_away(server.pid, folder, server.folder, *copies):
        url = server.create_database("croupier")
        secrets, authority = made_secrets(folder / "keys", plan, url)
        trusted = folder / "authority.pem"
        trusted.write_bytes(authority)
        rehearsal = Rehearsal(options, plan, secrets, trusted, folder, envoy, _say)
        return asyncio.run(rehearsal.story())


def _keep_logs(folder: Path, kept: Path) -> None:
    for log in folder.rglob("*.log"):
        kept.mkdir(exist_ok=True)
        shutil.copyfile(log, kept / f"{log.parent.name}-{log.name}")


def _say(line: str) -> None:
    """Progress, which is no result."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
