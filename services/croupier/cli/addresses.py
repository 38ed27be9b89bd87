"""Where services that are started here listen, and the flags that tell each of them so."""

import socket
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from croupier.cli.data_folder import DataFolder
from croupier.cli.faults import CommandFault

HOST = "127.0.0.1"
FIRST_PORT = 7710
START_ORDER = ("scoring", "engine", "lobby")
"""Each needs those before it; they stop the other way round."""

Addresses: TypeAlias = Mapping[str, str]
"""Where one service listens, host:port by "listen", "metrics" and, for engine and scoring, "control"."""

_PORT_OFFSETS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "lobby": {"listen": 0, "metrics": 9},
        "engine": {"listen": 10, "control": 11, "metrics": 19},
        "scoring": {"listen": 20, "control": 21, "metrics": 29},
    }
)


def addresses_from(first_port: int) -> dict[str, Addresses]:
    """The addresses of all services in a block of 30 ports; 0 lets each choose a free one."""
    return {
        service: {kind: f"{HOST}:{first_port + offset if first_port else 0}" for kind, offset in offsets.items()}
        for service, offsets in _PORT_OFFSETS.items()
    }


def check_free(wanted: Mapping[str, Addresses]) -> None:
    """Raises CommandFault naming the first address that something else listens on."""
    for service, addresses in wanted.items():
        for address in addresses.values():
            if not _is_free(address):
                raise CommandFault(
                    f"{address}, where the {service} is to listen, is in use: stop what runs there, "
                    "or choose other ports with --port (0 for any that are free)"
                )


def _is_free(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the services do: a port whose last connections are still being forgotten counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError:
            return False
    return True


def service_flags(
    service: str, folder: DataFolder, addresses: Mapping[str, Addresses], shuffle_seed: str | None
) -> list[str]:
    """The flags of a service; `addresses` says where it is to listen, and where those listen that started before it."""
    listen = addresses[service]
    flags = {
        "listen": listen["listen"],
        "metrics-listen": listen["metrics"],
        "database": folder.database_url(service),
        "ready-file": str(folder.ready_file(service)),
    } | _flags_of_its_own(service, folder, addresses)
    if service == "engine" and shuffle_seed is not None:
        flags["shuffle-seed"] = shuffle_seed
    return [f"--{name}={value}" for name, value in flags.items()]


def _flags_of_its_own(service: str, folder: DataFolder, addresses: Mapping[str, Addresses]) -> dict[str, str]:
    if service == "lobby":
        return {"signing-key": str(folder.signing_key("lobby")), "engine-control": addresses["engine"]["control"]}
    flags = {"control-listen": addresses[service]["control"], "lobby-public-key": str(folder.public_key("lobby"))}
    if service == "scoring":
        return flags | {"engine-public-key": str(folder.public_key("engine"))}
    return flags | {
        "signing-key": str(folder.signing_key("engine")),
        "scoring-control": addresses["scoring"]["control"],
    }
