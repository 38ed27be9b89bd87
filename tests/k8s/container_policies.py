"""Programs accept the commands, settings, ports, addresses and files of their containers."""

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from typer import Context
from typer._click.exceptions import UsageError
from typer.core import TyperGroup
from typer.main import get_command

from croupier.cli.__main__ import app
from croupier.engine.settings import EngineSettings
from croupier.gateway.configuration import COLLECTOR_FILE, collector_configuration
from croupier.gateway.settings import GatewaySettings
from croupier.lobby.settings import LobbySettings
from croupier.runtime.server.addresses import is_loopback
from croupier.runtime.server.program import SettingsError
from croupier.runtime.settings import ENVIRONMENT_PREFIX, Settings
from croupier.scoring.settings import ScoringSettings
from croupier_loadtest.process.load import drain_seconds
from croupier_loadtest.scenarios import SCENARIOS
from tests.k8s.building import Object
from tests.k8s.objects import (
    ENV,
    FIRST,
    MAIN,
    POD,
    PROBES,
    SERVICES,
    Break,
    container_of,
    containers,
    detects,
    each_container,
    environment,
    main_container,
    named,
    of_kind,
    pod,
    ports,
    settings_of,
    title,
    with_pods,
)

SETTINGS: Mapping[str, type[Settings]] = {
    "lobby": LobbySettings,
    "engine": EngineSettings,
    "scoring": ScoringSettings,
    "configuration": GatewaySettings,
}
"""Settings by the name of the container that reads them."""
MAX_LOAD_TEST_SECONDS = 7200
FOR_TESTS = {"clock_offset_milliseconds", "shuffle_seed"}
TARGETS = {
    "engine_control": ("engine", "control"),
    "scoring_control": ("scoring", "control"),
    "lobby": ("lobby", "grpc"),
    "engine": ("engine", "grpc"),
    "engine_websocket": ("engine", "websocket"),
    "scoring": ("scoring", "grpc"),
    "traces_endpoint": ("traces", "otlp"),
}
"""The Service and port that a setting has to name."""
RECEIVER = yaml.safe_load(collector_configuration())["receivers"]["otlp"]["protocols"]["grpc"]["endpoint"]
"""The address at which the collector beside Envoy accepts spans."""
COLLECTOR = f"{POD}/containers/collector"
MUTUAL_TLS = {"tls_certificate", "tls_key", "tls_ca"}
MUTUAL_TLS_OF_THE_GATEWAY = {"upstream_certificate", "upstream_key", "upstream_ca"}


def configured(objects: Sequence[Object]) -> Iterator[tuple[Object, Object, dict[str, str]]]:
    """Yield every container that reads settings, with its owner and the settings by name."""
    for owner, container, _ in each_container(objects):
        if container["name"] in SETTINGS:
            prefix = ENVIRONMENT_PREFIX
            given = {name: value for name, value in environment(container).items() if name.startswith(prefix)}
            yield owner, container, {name.removeprefix(prefix).lower(): value for name, value in given.items()}


@detects(
    Break("Deployment", "engine", f"{MAIN}/args", ["serve", "lobby"]),
    Break("Deployment", "gateway", f"{POD}/containers/drain/command/2", "croupier.gateway.drains"),
    Break("Job", "migrate-", f"{MAIN}/args", ["migrate", "--all"]),
)
def commands_exist(objects: Sequence[Object]) -> Iterator[str]:
    """A container of our image runs a command that exists, with options that it has."""
    for _, container, label in each_container(objects):
        if container["image"].rpartition("/")[2].startswith("croupier"):
            yield from (f"{label} {fault}" for fault in _faults_of_command(container))
        if container["name"] in SERVICES and container.get("args") != ["serve", container["name"]]:
            yield f"{label} serves something else"


def _faults_of_command(container: Object) -> Iterator[str]:
    if program := container.get("command"):
        module = program[2] if program[:2] == ["python", "-m"] else program[0]
        if importlib.util.find_spec(module) is None:
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


@detects(
    Break("Deployment", "scoring"),
    Break("Deployment", "engine", f"{ENV}/CROUPIER_LISTEN/name", "CROUPIER_LISTENS"),
    Break("Deployment", "engine", f"{ENV}/CROUPIER_SIGNING_KEY"),
    Break("Deployment", "engine", f"{ENV}/CROUPIER_DRAIN_SECONDS/name", "CROUPIER_SHUFFLE_SEED"),
)
def settings_are_accepted(objects: Sequence[Object]) -> Iterator[str]:
    """All four programs are there once; each variable is a setting, required ones are given, each value is accepted."""
    found = sorted(container["name"] for _, container, _ in configured(objects))
    if found != sorted(SETTINGS):
        yield f"instead of {sorted(SETTINGS)} there are {found}"
    for owner, container, given in configured(objects):
        kind = SETTINGS[container["name"]]
        for name in given.keys() - kind.model_fields.keys():
            yield f"{title(owner)}: {container['name']} knows no setting {name}"
        for name in given.keys() & FOR_TESTS:
            yield f"{title(owner)}: {name} is for tests only"
        try:
            settings_of(kind, environment(container))
        except SettingsError as fault:
            yield f"{title(owner)} cannot read its settings: {fault}"


@detects(
    Break("Deployment", "lobby", f"{ENV}/CROUPIER_METRICS_LISTEN/value", "127.0.0.1:7719"),
    Break("Deployment", "engine", f"{ENV}/CROUPIER_HEALTH_LISTEN/value", "0.0.0.0:7728"),
    Break("Deployment", "lobby", f"{MAIN}/ports/health"),
    Break("Deployment", "gateway", f"{MAIN}/ports/0/name"),
    Break("Deployment", "gateway", f"{COLLECTOR}/env/HEALTH_LISTEN/value", "[::]:13134"),
    Break("Deployment", "gateway", f"{COLLECTOR}/env/HEALTH_LISTEN/value", "0.0.0.0:13133"),
)
def ports_are_those_of_the_settings(objects: Sequence[Object]) -> Iterator[str]:
    """A pod names exactly the ports on which its programs listen, on all addresses of IPv6 and IPv4."""
    for owner in with_pods(objects):
        given = [pair for one in containers(owner) for pair in environment(one).items()]
        listens = {name: value.rpartition(":") for name, value in given if name.endswith("LISTEN")}
        numbers = {int(port) for _, _, port in listens.values()}
        if listens and numbers != ports(owner).keys():
            yield f"{title(owner)} names the ports {sorted(ports(owner))}, and its settings {sorted(numbers)}"
        for name, (host, _, _) in listens.items():
            if host not in ("[::]", ""):
                yield f"{title(owner)} listens by {name} on {host}, which is not of both versions"
        if "" in ports(owner).values():
            yield f"{title(owner)} has a port without a name"


@detects(
    Break("Deployment", "engine", f"{MAIN}/livenessProbe/grpc/service"),
    Break("Deployment", "engine", f"{MAIN}/startupProbe/grpc/port", 7720),
    Break("Deployment", "gateway", f"{MAIN}/startupProbe/httpGet/port", "metric"),
)
def probes_ask_the_right_port(objects: Sequence[Object]) -> Iterator[str]:
    """gRPC probes call the health port, liveness without the database; other probes call a named port of the pod."""
    for owner, container, label in each_container(objects):
        probes = {kind: container[kind] for kind in PROBES if kind in container}
        for kind, probe in probes.items():
            port = next((probe[way]["port"] for way in ("httpGet", "tcpSocket") if way in probe), None)
            if port is not None and port not in ports(owner).values():
                yield f"{label}: {kind} asks {port!r}, which is no named port"
        if container["name"] in SERVICES:
            for kind, service in zip(PROBES, ("live", "", "live"), strict=True):
                asked = probes.get(kind, {}).get("grpc", {})
                if (ports(owner).get(asked.get("port")), asked.get("service", "")) != ("health", service):
                    yield f"{label}: {kind} does not ask the port health for {service!r}"


@detects(
    Break("Deployment", "engine", f"{ENV}/CROUPIER_SCORING_CONTROL/value", "dns:///scoring:7730"),
    Break("Deployment", "gateway", f"{FIRST}/env/CROUPIER_LOBBY/value", "engine:7720"),
    Break("Deployment", "gateway", f"{FIRST}/env/CROUPIER_ENGINE_WEBSOCKET/value", "engine:7720"),
)
def addresses_lead_to_the_right_port(objects: Sequence[Object]) -> Iterator[str]:
    """Each setting that names another service names its Service and the port for this caller."""
    for owner, _, given in configured(objects):
        for name in given.keys() & TARGETS.keys():
            if is_loopback(given[name]):
                continue
            service, port = TARGETS[name]
            host, _, number = given[name].removeprefix("dns:///").rpartition(":")
            there = {one["name"]: one["port"] for one in named(objects, "Service", service)["spec"]["ports"]}
            if (host, int(number)) != (service, there.get(port)):
                yield f"{title(owner)}: {name} is {given[name]}, not the port {port} of {service}"


@detects(Break("Deployment", "engine", f"{ENV}/CROUPIER_TLS_CA"))
def mutual_tls_is_everywhere_or_nowhere(objects: Sequence[Object]) -> Iterator[str]:
    """All services and the gateway have the three settings of mutual TLS, or none has."""
    wanted = dict.fromkeys(SERVICES, MUTUAL_TLS) | {"configuration": MUTUAL_TLS_OF_THE_GATEWAY}
    given = {
        container["name"]: settings.keys() & wanted[container["name"]] for _, container, settings in configured(objects)
    }
    if any(given.values()) and given != wanted:
        yield f"mutual TLS is set in part: {given}"


@detects(
    Break("Deployment", "gateway", f"{MAIN}/volumeMounts/configuration"),
    Break("Deployment", "gateway", f"{POD}/containers/drain/args/0", "/etc/admin.sock"),
)
def the_gateway_finds_its_configuration(objects: Sequence[Object]) -> Iterator[str]:
    """Envoy reads what the init container wrote to the same volume, and `drain` asks Envoy's administration."""
    making, envoy, drain = (container_of(objects, "gateway", name) for name in ("configuration", "gateway", "drain"))
    folder = making["args"][making["args"].index("--output") + 1]
    volumes = {
        next((one["name"] for one in container["volumeMounts"] if one["mountPath"] == folder), None)
        for container in (making, envoy)
    }
    if envoy["args"][1] != f"{folder}/envoy.yaml" or len(volumes) != 1 or None in volumes:
        yield f"Envoy reads {envoy['args'][1]}, which is not what was written"
    if Path(drain["args"][0]) != settings_of(GatewaySettings, environment(making)).admin_socket:
        yield f"drain asks {drain['args'][0]}, where Envoy's administration is not"


@detects(
    Break("Deployment", "gateway", COLLECTOR),
    Break("Deployment", "gateway", f"{COLLECTOR}/args", ["--config=/etc/otelcol/config.yaml"]),
    Break("Deployment", "gateway", f"{COLLECTOR}/env/TRACES_ENDPOINT/value", "traces:4318"),
    Break("Deployment", "gateway", f"{FIRST}/env/CROUPIER_TRACES_COLLECTOR/value", "traces:4317"),
)
def the_traces_of_the_gateway_are_filtered(objects: Sequence[Object]) -> Iterator[str]:
    """Envoy sends its traces to a collector of its pod, which runs our configuration and sends on where services do."""
    making = container_of(objects, "gateway", "configuration")
    address = environment(making).get("CROUPIER_TRACES_COLLECTOR")
    endpoints = {given.get("traces_endpoint") for _, one, given in configured(objects) if one["name"] in SERVICES}
    if len(endpoints) > 1:
        yield f"traces go to several places: {endpoints}"
    if address is None:
        return
    if address != RECEIVER:
        yield f"Envoy sends its traces to {address}, which is not the collector beside it"
    beside = [one for one in pod(named(objects, "Deployment", "gateway"))["containers"] if one["name"] == "collector"]
    folder = making["args"][making["args"].index("--output") + 1]
    if [one["args"] for one in beside] != [[f"--config={folder}/{COLLECTOR_FILE}"]]:
        yield "the collector beside Envoy does not run our configuration"
    if {environment(one)["TRACES_ENDPOINT"] for one in beside} != endpoints:
        yield f"the gateway's traces do not go to {endpoints}"


@detects(
    Break("Job", "load-workers", "spec/activeDeadlineSeconds"),
    Break("Job", "load-master", "spec/activeDeadlineSeconds", 3600),
    Break("Job", "load-master", f"{MAIN}/args", ["--expect-workers-max-wait=0"]),
    Break("Job", "load-workers", "spec/parallelism", 2),
)
def the_load_test_finds_the_gateway_or_fails(objects: Sequence[Object]) -> Iterator[str]:
    """Its Jobs have a deadline that the longest scenario keeps; the master waits for as many workers as there are."""
    longest = max(one.seconds + drain_seconds(one) for one in SCENARIOS.values())
    for job in [one for one in of_kind(objects, "Job") if one["metadata"]["name"].startswith("load-")]:
        if not longest < job["spec"].get("activeDeadlineSeconds", 0) <= MAX_LOAD_TEST_SECONDS:
            yield f"{title(job)} may wait for ever, or ends before its result"
        given = named(objects, "ConfigMap", "load-")["data"]
        if job["metadata"]["name"] == "load-master":
            waits = [
                one.partition("=")[2] for one in main_container(job)["args"] if "--expect-workers-max-wait=" in one
            ]
            if [0 < int(seconds) <= MAX_LOAD_TEST_SECONDS for seconds in waits] != [True]:
                yield f"{title(job)} waits for ever for workers that do not fit"
        elif {job["spec"]["parallelism"], job["spec"]["completions"]} != {int(given["WORKERS"])}:
            yield f"{title(job)} are not the {given['WORKERS']} that the master waits for"
        name, _, port = given["GATEWAY"].rpartition("://")[2].partition(":")
        if int(port) not in [one["port"] for one in named(objects, "Service", name)["spec"]["ports"]]:
            yield f"{title(job)} finds no gateway at {given['GATEWAY']}"


@detects(
    Break("Job", "migrate-", f"{MAIN}/args", ["migrate", "--service", "lobby"]),
    Break("Deployment", "engine", f"{FIRST}/args", ["migrate"]),
)
def the_schema_is_migrated_before(objects: Sequence[Object]) -> Iterator[str]:
    """One Job migrates everything, waits for the database and is retried; services wait for it in an init container."""
    job = named(objects, "Job", "migrate-")
    arguments = main_container(job)["args"]
    is_whole = arguments[:2] == ["migrate", "--retry"] and "--service" not in arguments
    if not is_whole or pod(job)["restartPolicy"] != "OnFailure":
        yield f"{title(job)} migrates a part, or is not retried"
    for name in SERVICES:
        owner = named(objects, "Deployment", name)
        waiting = [one.get("args", []) for one in pod(owner).get("initContainers", [])]
        if not any(one[:3] == ["migrate", "--service", name] and "--wait" in one for one in waiting):
            yield f"{title(owner)} does not wait for its schema"
