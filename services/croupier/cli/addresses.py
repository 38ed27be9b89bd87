"""Where services that are started here listen, and the flags that tell each of them so."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from croupier.cli.data_folder import DataFolder
from croupier.cli.faults import CommandFault, misused
from croupier.cli.replicas import DOOR, ONE_OF_EACH, START_ORDER, Replicas, number_of, service_of
from croupier.runtime.addresses import is_free

HOST = "127.0.0.1"
FIRST_PORT = 7710
BLOCK = 30
"""The n-th instances of all services share the n-th block of so many ports."""
ROOM_FOR_DOOR = 10

Addresses: TypeAlias = Mapping[str, str]
"""Where one instance listens, host:port by "listen", "metrics", "control" (not the lobby) and "admin" (the door)."""

_PORT_OFFSETS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "lobby": {"listen": 0, "metrics": 9},
        "engine": {"listen": 10, "control": 11, "metrics": 19},
        "scoring": {"listen": 20, "control": 21, "metrics": 29},
        DOOR: {"listen": -10, "admin": -1, "metrics": -2},
    }
)


def addresses_from(
    first_port: int, replicas: Replicas = ONE_OF_EACH, *, with_door: bool = False
) -> dict[str, Addresses]:
    """The addresses of all instances, in a block of 30 ports for each that a service has; 0 lets each choose.

    A front door is in front of the first block. Raises CommandFault where there is no room for it.
    """
    if with_door and 0 < first_port <= ROOM_FOR_DOOR:
        raise misused(f"--port cannot be {first_port}: the front door needs the {ROOM_FOR_DOOR} ports before it")
    instances = (*replicas.all(), DOOR) if with_door else replicas.all()
    return {instance: _addresses(instance, first_port) for instance in instances}


def _addresses(instance: str, first_port: int) -> Addresses:
    first = first_port + BLOCK * (number_of(instance) - 1)
    offsets = _PORT_OFFSETS[service_of(instance)]
    return {kind: f"{HOST}:{first + offset if first_port else 0}" for kind, offset in offsets.items()}


def joined(addresses: Mapping[str, Addresses], service: str, kind: str) -> str:
    """The addresses of one kind of all instances of a service, as one text with commas."""
    return ",".join(_known(addresses, service, kind))


def _known(addresses: Mapping[str, Addresses], service: str, kind: str) -> Iterable[str]:
    return (at[kind] for instance, at in addresses.items() if service_of(instance) == service)


def check_free(wanted: Mapping[str, Addresses]) -> None:
    """Raises CommandFault naming the first address that something else listens on."""
    for instance, addresses in wanted.items():
        for address in addresses.values():
            if not is_free(address):
                raise CommandFault(
                    f"{address}, where the {instance} is to listen, is in use: stop what runs there, "
                    "or choose other ports with --port (0 for any that are free)"
                )


def service_flags(
    instance: str,
    folder: DataFolder,
    addresses: Mapping[str, Addresses],
    shuffle_seed: str | None,
    mutual_tls: bool = False,
) -> list[str]:
    """The flags of an instance; `addresses` says where it is to listen, and where those listen that started before it.

    The database is not among them: its URL may hold a password, and every user of a machine can read command lines.
    """
    listen = addresses[instance]
    flags = {
        "listen": listen["listen"],
        "metrics-listen": listen["metrics"],
        "ready-file": str(folder.ready_file(instance)),
    } | _flags_of_its_own(instance, folder, addresses)
    if service_of(instance) == "engine" and shuffle_seed is not None:
        flags["shuffle-seed"] = shuffle_seed
    if mutual_tls:
        service = service_of(instance)
        # A front door has another certificate for players, so that this one is named for what is behind it.
        use = "upstream" if service == "door" else "tls"
        files = zip(("certificate", "key", "ca"), folder.certificate_files(service), strict=True)
        flags |= {f"{use}-{part}": str(file) for part, file in files}
    return [f"--{name}={value}" for name, value in flags.items()]


def _flags_of_its_own(instance: str, folder: DataFolder, addresses: Mapping[str, Addresses]) -> dict[str, str]:
    service = service_of(instance)
    if service == DOOR:
        return _flags_of_door(folder, addresses)
    if service == "lobby":
        return {
            "signing-key": str(folder.signing_key("lobby")),
            "engine-control": joined(addresses, "engine", "control"),
        }
    flags = {"control-listen": addresses[instance]["control"], "lobby-public-key": str(folder.public_key("lobby"))}
    if service == "scoring":
        return flags | {"engine-public-key": str(folder.public_key("engine"))}
    return flags | {
        "signing-key": str(folder.signing_key("engine")),
        "scoring-control": joined(addresses, "scoring", "control"),
    }


def _flags_of_door(folder: DataFolder, addresses: Mapping[str, Addresses]) -> dict[str, str]:
    services = {service: joined(addresses, service, "listen") for service in START_ORDER}
    return {
        "admin-listen": addresses[DOOR]["admin"],
        "lobby-public-key": str(folder.public_key("lobby")),
        **services,
    }
