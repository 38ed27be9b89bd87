"""Commands of operators; each imports its work when it is called."""

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.arguments import DataDir, folder_of, say
from croupier.cli.commands.serve import run_service
from croupier.cli.faults import CommandFault, misused
from croupier.cli.launcher.addresses import HOST, MAX_PORT, USUAL_PORT
from croupier.cli.launcher.keys import AUTHORITY_DAYS, make_missing

HEALTH_SECONDS = 5.0
"""The time for an answer of a service."""


def up(
    data_dir: DataDir = None,
    port: Annotated[
        int, typer.Option(min=0, max=MAX_PORT, help="The gateway's; those above it are the services'. 0 for free ones.")
    ] = USUAL_PORT,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", envvar="CROUPIER_DATABASE", help="postgresql://... shared by all services."),
    ] = None,
    engines: Annotated[int, typer.Option(metavar="N", help="Instances of the engine; each has a block of ports.")] = 1,
    lobbies: Annotated[int, typer.Option(metavar="N", help="Instances of the lobby.")] = 1,
    scorings: Annotated[int, typer.Option(metavar="N", help="Instances of scoring.")] = 1,
    mutual_tls: Annotated[
        bool, typer.Option("--mutual-tls", help="Services use TLS and ask every caller for a certificate of DIR.")
    ] = False,
    no_gateway: Annotated[bool, typer.Option("--no-gateway", help="Only the services, without a gateway.")] = False,
    tls: Annotated[
        bool, typer.Option("--tls", help="TLS at the gateway; the first start makes a certificate.")
    ] = False,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TLS at the gateway by this certificate (PEM).")
    ] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="The private key of --certificate (PEM).")] = None,
    listen: Annotated[
        str,
        typer.Option(
            metavar="IP",
            help="The gateway's address for players; 0.0.0.0, or :: with IPv6, lets other machines in, by TLS.",
        ),
    ] = HOST,
    unpaced: Annotated[
        bool, typer.Option("--unpaced", hidden=True, help="For tests: tables are played at any speed.")
    ] = False,
    extra_flag: Annotated[
        list[str] | None, typer.Option(hidden=True, metavar="INSTANCE=FLAG", help="For tests; repeatable.")
    ] = None,
) -> None:
    """Run lobby, engine and scoring behind one gateway on this machine until Ctrl-C."""
    from croupier.cli.commands.up import up as run_up
    from croupier.cli.launcher.gateway import GatewayChoice, addresses_of_machine
    from croupier.cli.launcher.replicas import Replicas
    from croupier.cli.launcher.supervisor import SupervisorSettings

    settings = SupervisorSettings(
        note=say,
        database=database,
        replicas=Replicas(lobby=lobbies, engine=engines, scoring=scorings),
        mutual_tls=mutual_tls,
        is_paced=not unpaced,
        extra_flags=_by_instance(extra_flag or ()),
    )
    if no_gateway and listen != HOST:
        raise misused("--listen is for the gateway: leave --no-gateway out")
    gateway = None if no_gateway else GatewayChoice(tls, certificate, key, listen.strip("[]"), addresses_of_machine())
    asyncio.run(run_up(folder_of(data_dir), port, settings, gateway))


def _by_instance(extra_flags: Sequence[str]) -> dict[str, list[str]]:
    flags = [flag.partition("=")[::2] for flag in extra_flags]
    return {instance: [flag for other, flag in flags if other == instance] for instance, _ in flags}


def serve(
    context: typer.Context,
    service: Annotated[str, typer.Argument(metavar="lobby|engine|scoring|gateway", help="Which one.")],
) -> None:
    """Run one service with its own flags; --help after its name shows them."""
    if service in ("-h", "--help"):
        print(context.get_help())
        raise typer.Exit
    raise typer.Exit(run_service(service, context.args))


def migrate(
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="The database that services share. [env var: CROUPIER_DATABASE]")
    ] = None,
    data_dir: DataDir = None,
    service: Annotated[
        list[str] | None, typer.Option(metavar="lobby|engine|scoring", help="Only this one; repeatable.")
    ] = None,
    wait: Annotated[
        int | None,
        typer.Option(metavar="SECONDS", min=0, help="Change nothing; wait until another process has migrated."),
    ] = None,
    retry: Annotated[
        int, typer.Option(metavar="SECONDS", min=0, help="Retry for so long while no database answers.")
    ] = 0,
    grant_to: Annotated[
        list[str] | None,
        typer.Option(metavar="SERVICE=ROLE", help="The role of PostgreSQL that may use its tables; repeatable."),
    ] = None,
    check_games: Annotated[
        bool,
        typer.Option("--check-games", help="Change nothing; name the unfinished tables whose rules are not installed."),
    ] = False,
) -> None:
    """Migrate the database before services of this version start."""
    from croupier.cli.commands import migrate as migration

    services = migration.checked_services(service or ())
    roles = migration.checked_roles(grant_to or (), services)
    if database is not None and data_dir is not None:
        raise misused("--database and --data-dir exclude each other: name the one with the services' data")
    url = database or os.environ.get("CROUPIER_DATABASE")
    if (retry or wait is not None or roles) and (url is None or data_dir is not None):
        raise misused("--wait, --retry and --grant-to are for a database on a server: name it with --database")
    if retry and wait is not None:
        raise misused("--wait waits for the database, too: leave --retry out")
    if roles and wait is not None:
        raise misused("--wait changes nothing: leave --grant-to out")
    if check_games:
        if service or retry or roles or wait is not None:
            raise misused("--check-games changes nothing: leave out all but --database and --data-dir")
        in_folder = None if url and data_dir is None else folder_of(data_dir)
        asyncio.run(migration.check_games(url if in_folder is None else migration.engine_url(in_folder), say))
    elif url and wait is not None:
        asyncio.run(migration.wait_for_others(url, services, wait, say))
    elif url and data_dir is None:
        asyncio.run(migration.migrate_shared(url, services, say, retry, roles))
    else:
        asyncio.run(migration.migrate_folder(folder_of(data_dir), services, say))


def keys(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder for them; existing files stay.")],
    certificates: Annotated[
        bool,
        typer.Option("--certificates", help="Also an authority, and a certificate for each service and the gateway."),
    ] = False,
    days: Annotated[
        int, typer.Option(min=1, max=AUTHORITY_DAYS, metavar="N", help="How long the certificates are valid.")
    ] = 365,
) -> None:
    """Make the keys that services sign with, and certificates for mutual TLS between them."""
    folder = folder.expanduser().absolute()
    try:
        made = make_missing(folder, days if certificates else None, datetime.now(UTC))
    except OSError as fault:
        why = (fault.strerror or str(fault)).lower()
        raise CommandFault(f"{fault.filename or folder} cannot be written ({why}): choose another folder") from None
    for path in made:
        say(f"{path} made")
    say("keep all but *.public.pem and *.crt secret" if made else f"nothing is missing in {folder}")


def health(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="The address of a service.")],
    service: Annotated[
        str, typer.Option(metavar="NAME", help="Empty: whether it is ready; live: whether it runs.")
    ] = "",
) -> None:
    """Check whether a service serves: exit code 0 if so, 1 if not."""
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    from croupier.runtime.server.addresses import check_address
    from croupier.runtime.server.channels import NO_PROXY

    try:
        check_address(address)
    except ValueError:
        raise misused(f"invalid address {address!r}: expected HOST:PORT, IPv6 as [HOST]:PORT") from None
    with grpc.insecure_channel(address, options=(NO_PROXY,)) as channel:
        ask = health_pb2_grpc.HealthStub(channel).Check
        try:
            answer = ask(health_pb2.HealthCheckRequest(service=service), timeout=HEALTH_SECONDS)
        except grpc.RpcError as fault:
            raise CommandFault(f"{address} does not report its health: {fault.code().name}") from None
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    if status != "SERVING":
        raise CommandFault(f"{address} reports {status}")
