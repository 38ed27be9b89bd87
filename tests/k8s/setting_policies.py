"""What the manifests set is what the services know: by the settings classes themselves."""

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from croupier.door.settings import DoorSettings
from croupier.engine.settings import EngineSettings
from croupier.lobby.settings import LobbySettings
from croupier.runtime.addresses import is_loopback
from croupier.runtime.settings import ENVIRONMENT_PREFIX, known_settings, read_settings
from croupier.scoring.settings import ScoringSettings
from rehearsal.manifests import Object
from tests.k8s.objects import containers, environment, named, of_kind, pod, ports, title, with_pods

SETTINGS: Mapping[str, type[Any]] = {
    "lobby": LobbySettings,
    "engine": EngineSettings,
    "scoring": ScoringSettings,
    "configuration": DoorSettings,
}
"""By the name of the container that reads them."""
FOR_TESTS = {"clock_offset_milliseconds", "shuffle_seed"}
ADDRESSES = {"engine_control", "scoring_control", "lobby", "engine", "scoring", "traces_endpoint"}
"""Settings that say where another service is."""
CERTIFICATE = {"tls.crt", "tls.key", "ca.crt"}
SECRETS: Mapping[str, set[str]] = {
    "lobby-signing-key": {"lobby.private.pem"},
    "engine-signing-key": {"engine.private.pem"},
    "public-keys": {"lobby.public.pem", "engine.public.pem"},
    "postgres-app": {"username", "password", "dbname", "uri"},
    "lobby-tls": CERTIFICATE,
    "engine-tls": CERTIFICATE,
    "scoring-tls": CERTIFICATE,
    "door-tls": CERTIFICATE,
    "door-certificate": {"tls.crt", "tls.key"},
}
"""Every Secret that may be named, and what is in it: k8s/secrets makes them, CloudNativePG the database's."""


def _configured(objects: Sequence[Object]) -> Iterator[tuple[Object, Object, dict[str, str], type[Any]]]:
    for owner in with_pods(objects):
        for container in containers(owner):
            if kind := SETTINGS.get(container["name"]):
                yield owner, container, _settings(container), kind


def _settings(container: Object) -> dict[str, str]:
    return {
        name.removeprefix(ENVIRONMENT_PREFIX).lower(): value
        for name, value in environment(container).items()
        if name.startswith(ENVIRONMENT_PREFIX)
    }


def settings_are_known_and_whole(objects: Sequence[Object]) -> Iterator[str]:
    """Each CROUPIER_ variable is a setting, each setting that is required is given, each value can be read."""
    for owner, container, given, kind in _configured(objects):
        for name in given.keys() - known_settings(kind).keys():
            yield f"{title(owner)}: {container['name']} knows no setting {name}"
        for name in given.keys() & FOR_TESTS:
            yield f"{title(owner)}: {name} is for tests only"
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                read_settings(kind, title(owner), [], environment(container))
            except (SystemExit, ValueError) as fault:
                yield f"{said.getvalue()}{title(owner)} cannot read its settings: {fault}"


def every_service_is_configured(objects: Sequence[Object]) -> Iterator[str]:
    """All four are there, each once."""
    found = [container["name"] for _, container, _, _ in _configured(objects)]
    if sorted(found) != sorted(SETTINGS):
        yield f"instead of {sorted(SETTINGS)} there are {sorted(found)}"


def ports_are_those_that_are_set(objects: Sequence[Object]) -> Iterator[str]:
    """What listens beyond the pod listens on a port that the pod names, and no port is named for nothing."""
    for owner, container, given, _ in _configured(objects):
        set_ports = {int(text.rpartition(":")[2]) for name, text in given.items() if name.endswith("listen")}
        if set_ports != ports(owner).keys():
            yield f"{title(owner)} names the ports {sorted(ports(owner))}, and is set to {sorted(set_ports)}"
        for name, text in given.items():
            if name.endswith("listen") and is_loopback(text):
                yield f"{title(owner)}: {container['name']} listens to nobody by {name}"


def addresses_are_those_of_services(objects: Sequence[Object]) -> Iterator[str]:
    """Where another service is said to be there is a Service with that port, unless it is in the same pod."""
    there = {
        (one["metadata"]["name"], port["port"]) for one in of_kind(objects, "Service") for port in one["spec"]["ports"]
    }
    for owner, container, given, _ in _configured(objects):
        for name in given.keys() & ADDRESSES:
            host, _, port = given[name].removeprefix("dns:///").rpartition(":")
            if (host, int(port)) not in there and not is_loopback(given[name]):
                yield f"{title(owner)}: {container['name']} looks for {name} at {given[name]}, where no Service is"


def files_are_mounted(objects: Sequence[Object]) -> Iterator[str]:
    """Each file that a setting names is in a Secret that the container mounts, or in a folder that it can write."""
    for owner, container, given, _ in _configured(objects):
        mounted = {mount["mountPath"]: mount["name"] for mount in container.get("volumeMounts", [])}
        volumes = {volume["name"]: volume for volume in pod(owner).get("volumes", [])}
        for name, text in given.items():
            path = PurePosixPath(text)
            if not path.is_absolute() or text in mounted:
                continue
            volume = volumes.get(mounted.get(str(path.parent), ""), {})
            if path.name not in set().union(*(SECRETS.get(secret, set()) for secret in _secrets(volume))):
                yield f"{title(owner)}: {container['name']} finds no {text} for {name}"


def _secrets(volume: Object) -> list[str]:
    if "secret" in volume:
        return [volume["secret"]["secretName"]]
    return [source["secret"]["name"] for source in volume.get("projected", {}).get("sources", []) if "secret" in source]


def secrets_are_those_that_are_made(objects: Sequence[Object]) -> Iterator[str]:
    """Each Secret that is named, and each key in it, is one of SECRETS."""
    for owner in with_pods(objects):
        for volume in pod(owner).get("volumes", []):
            for name in _secrets(volume):
                if name not in SECRETS:
                    yield f"{title(owner)} mounts the Secret {name}, which nobody makes"
        for container in containers(owner):
            for variable in container.get("env", []):
                wanted = variable.get("valueFrom", {}).get("secretKeyRef")
                if wanted and wanted["key"] not in SECRETS.get(wanted["name"], set()):
                    yield f"{title(owner)}: nobody makes {wanted['key']} of the Secret {wanted['name']}"


def the_doors_traces_are_handed_on(objects: Sequence[Object]) -> Iterator[str]:
    """Where Envoy tells of calls somebody of its pod listens, and tells those whom the services tell."""
    told = {owner["metadata"]["name"]: given.get("traces_endpoint") for owner, _, given, _ in _configured(objects)}
    relays = [one for one in pod(named(objects, "Deployment", "door"))["containers"] if one["name"] == "traces"]
    ways = [one["args"] for one in relays]
    collectors = {told.get(service) for service in ("lobby", "engine", "scoring")}
    if len(collectors) > 1:
        yield f"there are several collectors: {collectors}"
    if told.get("door") and ways != [[told["door"], told.get("engine")]]:
        yield f"the door tells {told['door']} of calls, which {ways} do not hand on"


POLICIES = (
    the_doors_traces_are_handed_on,
    settings_are_known_and_whole,
    every_service_is_configured,
    ports_are_those_that_are_set,
    addresses_are_those_of_services,
    files_are_mounted,
    secrets_are_those_that_are_made,
)
