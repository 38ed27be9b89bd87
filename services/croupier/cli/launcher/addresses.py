"""Addresses of the services that are started here, and the flags that each of them gets."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.data_folder import DataFolder
from croupier.cli.launcher.replicas import GATEWAY, ONE_OF_EACH, START_ORDER, Replicas, number_of, service_of
from croupier.runtime.server.addresses import listen_fault, with_port

HOST = "127.0.0.1"
USUAL_PORT = 7700
"""That of the gateway."""
MAX_PORT = 65_000
BLOCK = 30
"""The number of ports that the n-th instances of all services share."""

Addresses: TypeAlias = Mapping[str, str]
"""The addresses of one instance, host:port by "listen", "metrics", "control" (not the lobby), "websocket" (the engine).

Of a running gateway, "admin" is the Unix socket of its administration.
"""

_PORT_OFFSETS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        GATEWAY: {"listen": 0, "metrics": 8},
        "lobby": {"listen": 10, "metrics": 19},
        "engine": {"listen": 20, "control": 21, "websocket": 22, "metrics": 29},
        "scoring": {"listen": 30, "control": 31, "metrics": 39},
    }
)


def addresses_from(
    port: int, replicas: Replicas = ONE_OF_EACH, *, with_gateway: bool = False, gateway_host: str = HOST
) -> dict[str, Addresses]:
    """Return the addresses of all instances by the gateway's port; 0 lets each instance choose free ports.

    All are loopback addresses but the one at which players reach the gateway, which has `gateway_host`.

    The gateway has that port and those up to 9 above it. From 10 above it on follows a block of 30 ports for the first
    instances of all services, then one for the second instances, and so on.
    """
    services = {instance: _addresses(instance, port) for instance in replicas.all()}
    if not with_gateway:
        return services
    return services | {GATEWAY: {**_addresses(GATEWAY, port), "listen": with_port(gateway_host, port)}}


def _addresses(instance: str, port: int) -> Addresses:
    first = port + BLOCK * (number_of(instance) - 1)
    offsets = _PORT_OFFSETS[service_of(instance)]
    return {kind: f"{HOST}:{first + offset if port else 0}" for kind, offset in offsets.items()}


def joined(addresses: Mapping[str, Addresses], service: str, kind: str) -> str:
    """Return the addresses of one kind of all instances of a service, as one text with commas."""
    return ",".join(at[kind] for instance, at in addresses.items() if service_of(instance) == service)


def check_free(wanted: Mapping[str, Addresses]) -> None:
    """Raise CommandFault with the first address on which no program can listen."""
    for instance, addresses in wanted.items():
        for address in addresses.values():
            if fault := listen_fault(address):
                raise CommandFault(
                    f"{address}, where the {instance} is to listen, {fault}: "
                    "choose other ports with --port (0 for any that are free)"
                )


UNPACED = ("--min-bot-delay-milliseconds=0", "--table-entries-per-second=0", "--network-units-per-second=0")
"""Flags of an engine at which tables are played at any speed, as by tests and demonstrations."""


def service_flags(
    instance: str, folder: DataFolder, addresses: Mapping[str, Addresses], mutual_tls: bool = False
) -> list[str]:
    """Return the flags of an instance; `addresses` are its own and those of the instances that started before it.

    The database is not among them: its URL may hold a password, and every user of a machine can read command lines.
    """
    listen = addresses[instance]
    flags = {
        "listen": listen["listen"],
        "metrics-listen": listen["metrics"],
        "ready-file": str(folder.ready_file(instance)),
    } | _flags_of_its_own(instance, folder, addresses)
    if mutual_tls:
        service = service_of(instance)
        # A gateway has another certificate for players, so that this one is named for what is behind it.
        use = "upstream" if service == "gateway" else "tls"
        files = zip(("certificate", "key", "ca"), folder.certificate_files(service), strict=True)
        flags |= {f"{use}-{part}": str(file) for part, file in files}
    return [f"--{name}={value}" for name, value in flags.items()]


def _flags_of_its_own(instance: str, folder: DataFolder, addresses: Mapping[str, Addresses]) -> dict[str, str]:
    service = service_of(instance)
    if service == GATEWAY:
        listening = {service: joined(addresses, service, "listen") for service in START_ORDER}
        websocket = {"engine-websocket": joined(addresses, "engine", "websocket")}
        return {"lobby-public-key": str(folder.public_key("lobby")), **listening, **websocket}
    if service == "lobby":
        return {
            "signing-key": str(folder.signing_key("lobby")),
            "engine-control": joined(addresses, "engine", "control"),
        }
    flags = {"control-listen": addresses[instance]["control"], "lobby-public-key": str(folder.public_key("lobby"))}
    if service == "scoring":
        return flags | {"engine-public-key": str(folder.public_key("engine"))}
    return flags | {
        "websocket-listen": addresses[instance]["websocket"],
        "signing-key": str(folder.signing_key("engine")),
        "scoring-control": joined(addresses, "scoring", "control"),
    }
