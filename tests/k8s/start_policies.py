"""What keeps pods from starting, or from working once they have: commands, files, ports, addresses and keys."""

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from typer import Context
from typer._click.exceptions import UsageError
from typer.core import TyperGroup
from typer.main import get_command

from croupier.cli.__main__ import app
from croupier.door.settings import DoorSettings
from croupier.runtime.settings import read_settings
from rehearsal.manifests import Object
from rehearsal.plan import quantity
from tests.k8s.objects import containers, environment, main_container, named, of_kind, pod, ports, title, with_pods
from tests.k8s.reference_policies import SERVICES

READ_BY_THE_GROUP = 0o440
OWN = {"tls", "signing-key", "certificate"}
"""What nobody has of somebody else: Secrets are called by whose they are."""
WITHOUT_TEMPORARY_FILES = {"reports"}
LEADS_TO = {
    "CROUPIER_ENGINE_CONTROL": ("engine", "control"),
    "CROUPIER_SCORING_CONTROL": ("scoring", "control"),
    "CROUPIER_LOBBY": ("lobby", "grpc"),
    "CROUPIER_ENGINE": ("engine", "grpc"),
    "CROUPIER_SCORING": ("scoring", "grpc"),
}
"""Service and port that a setting has to name."""
MUTUAL_TLS = {"CROUPIER_TLS_CERTIFICATE", "CROUPIER_TLS_KEY", "CROUPIER_TLS_CA"}
MUTUAL_TLS_OF_THE_DOOR = {"CROUPIER_UPSTREAM_CERTIFICATE", "CROUPIER_UPSTREAM_KEY", "CROUPIER_UPSTREAM_CA"}


def commands_are_known(objects: Sequence[Object]) -> Iterator[str]:
    """What a container of the house is told to do is a command that there is, with options that it has."""
    for owner in with_pods(objects):
        for container in containers(owner):
            who = f"{title(owner)}: {container['name']}"
            if container["image"].rpartition("/")[2].startswith("croupier"):
                yield from (f"{who} {fault}" for fault in _faults_of_command(container))
            if container["name"] in SERVICES and container.get("args") != ["serve", container["name"]]:
                yield f"{who} serves something else"


def _faults_of_command(container: Object) -> Iterator[str]:
    if program := container.get("command"):
        if program[:2] != ["python", "-m"] or importlib.util.find_spec(program[2]) is None:
            yield f"runs {program}, which is not in the image"
        return
    command: Any = get_command(app)
    name: str | None = None
    context, arguments = Context(command), list(container.get("args", []))
    try:
        while isinstance(command, TyperGroup):
            name, command, arguments = command.resolve_command(context, arguments)
        command.make_context(name, arguments, parent=context)
    except UsageError as fault:
        yield f"is refused: {fault.format_message()}"


def all_services_are_migrated(objects: Sequence[Object]) -> Iterator[str]:
    """The Job brings everything up to date, waits for a database that is not there yet, and is tried again."""
    for job in of_kind(objects, "Job"):
        if job["metadata"]["name"].startswith("migrate") and (
            main_container(job)["args"][:-1] != ["migrate", "--retry"] or pod(job).get("restartPolicy") != "OnFailure"
        ):
            yield f"{title(job)} leaves something as it is"


def secrets_can_be_read(objects: Sequence[Object]) -> Iterator[str]:
    """Files of Secrets belong to the group of the program, and to nobody else."""
    for owner in with_pods(objects):
        security = pod(owner).get("securityContext", {})
        for volume in pod(owner).get("volumes", []):
            source = volume.get("secret") or volume.get("projected")
            if source is None:
                continue
            if source.get("defaultMode") != READ_BY_THE_GROUP:
                yield f"{title(owner)}: {volume['name']} is not for its group alone"
            if security.get("fsGroup") is None or security["fsGroup"] != security.get("runAsGroup"):
                yield f"{title(owner)} may not read {volume['name']}"


def programs_have_room_to_write(objects: Sequence[Object]) -> Iterator[str]:
    """Where the root file system is read-only there is a /tmp."""
    for owner in with_pods(objects):
        for container in containers(owner):
            mounted = {one["mountPath"] for one in container.get("volumeMounts", [])}
            if "/tmp" not in mounted and container["name"] not in WITHOUT_TEMPORARY_FILES:  # noqa: S108 - in a pod
                yield f"{title(owner)}: {container['name']} has no /tmp"


def the_door_finds_its_configuration(objects: Sequence[Object]) -> Iterator[str]:
    """What Envoy reads is what was made before, in the same volume; what drains it asks where it listens."""
    door = named(objects, "Deployment", "door")
    parts = {one["name"]: one for one in containers(door)}
    making = parts["configuration"]["args"]
    made, read = making[making.index("--output") + 1], PurePosixPath(parts["door"]["args"][1])
    volumes = [
        {one["mountPath"]: one["name"] for one in parts[name].get("volumeMounts", [])}
        for name in ("configuration", "door")
    ]
    if (
        str(read) != f"{made}/envoy.yaml"
        or len({one.get(made) for one in volumes} - {None}) != 1
        or not all(made in one for one in volumes)
    ):
        yield f"{title(door)} reads {read}, which is not what was made"
    settings = read_settings(DoorSettings, "door", [], environment(parts["configuration"]))
    if parts.get("drain", {}).get("args", [""])[0] != settings.admin_listen:
        yield f"{title(door)}: nobody drains Envoy at {settings.admin_listen}"


def nobody_asks_for_more_than_he_may_have(objects: Sequence[Object]) -> Iterator[str]:
    """The API server refuses requests beyond limits, which no schema says."""
    for owner in with_pods(objects):
        for container in containers(owner):
            asked, most = (container.get("resources", {}).get(kind, {}) for kind in ("requests", "limits"))
            for what in asked.keys() & most.keys():
                if quantity(asked[what]) > quantity(most[what]):
                    yield f"{title(owner)}: {container['name']} asks for more {what} than it may have"


def probes_ask_ports_that_there_are(objects: Sequence[Object]) -> Iterator[str]:
    """A port that is asked by name is one of the container."""
    for owner in with_pods(objects):
        for container in containers(owner):
            for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
                probe = container.get(kind, {})
                port = (probe.get("httpGet") or probe.get("tcpSocket") or {}).get("port")
                if port is not None and port not in ports(owner).values():
                    yield f"{title(owner)}: the {kind} of {container['name']} asks {port!r}, which is no named port"


def addresses_lead_to_the_right_port(objects: Sequence[Object]) -> Iterator[str]:
    """Each setting that says where a service is names that service, and its port for this caller."""
    for owner in with_pods(objects):
        for container in containers(owner):
            for name, address in environment(container).items():
                if name in LEADS_TO:
                    service, port = LEADS_TO[name]
                    host, _, number = address.removeprefix("dns:///").rpartition(":")
                    there = {one["name"]: one["port"] for one in named(objects, "Service", service)["spec"]["ports"]}
                    if (host, int(number)) != (service, there.get(port)):
                        yield f"{title(owner)}: {name} is {address}, not the port {port} of {service}"


def keys_are_their_owners(objects: Sequence[Object]) -> Iterator[str]:
    """No service holds the key of another."""
    for owner in with_pods(objects):
        for volume in pod(owner).get("volumes", []):
            sources = [volume.get("secret", {}).get("secretName", "")]
            sources += [one["secret"]["name"] for one in volume.get("projected", {}).get("sources", [])]
            for secret in sources:
                whose, _, what = secret.partition("-")
                if what in OWN and whose != owner["metadata"]["name"]:
                    yield f"{title(owner)} holds {secret}"


def all_or_nobody_speaks_tls(objects: Sequence[Object]) -> Iterator[str]:
    """Mutual TLS is between all services and the door, whole, or not at all."""
    given = {
        name: environment(one).keys() & (MUTUAL_TLS | MUTUAL_TLS_OF_THE_DOOR)
        for owner in of_kind(objects, "Deployment")
        for one in containers(owner)
        if (name := one["name"]) in (*SERVICES, "configuration")
    }
    if any(given.values()):
        for name, settings in given.items():
            if settings != (MUTUAL_TLS_OF_THE_DOOR if name == "configuration" else MUTUAL_TLS):
                yield f"{name} does not speak mutual TLS as the others do"


POLICIES = (
    commands_are_known,
    all_services_are_migrated,
    secrets_can_be_read,
    programs_have_room_to_write,
    the_door_finds_its_configuration,
    nobody_asks_for_more_than_he_may_have,
    probes_ask_ports_that_there_are,
    addresses_lead_to_the_right_port,
    keys_are_their_owners,
    all_or_nobody_speaks_tls,
)
