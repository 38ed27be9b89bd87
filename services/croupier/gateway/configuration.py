"""Envoy's configuration: the template envoy.yaml.jinja, filled in with settings, calls and refusals."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from google.protobuf.descriptor_pb2 import MethodOptions
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from croupier.gateway.bindings import (
    SERVICES,
    allowed_methods,
    ambiguous_queries,
    call_path,
    calls,
    descriptor_set,
    json_bindings,
    open_paths,
)
from croupier.gateway.json_bodies import program
from croupier.gateway.refusals import MAX_HEADER_KIBIBYTES, MAX_HEADERS, REFUSALS
from croupier.gateway.settings import GatewaySettings
from croupier.gateway.web_table import (
    BURST_KIBIBYTES,
    FOLDER,
    KIBIBYTES_PER_SECOND,
    PAGE_HEADERS,
    PageFile,
    page_contents,
    page_files,
    page_routes,
)
from croupier.runtime.admission.network import ADDRESS_HEADER, IPV4_BITS, IPV6_BITS
from croupier.runtime.identity.tokens import ISSUER, PLAYER_AUDIENCE, load_public_key
from croupier.runtime.server.addresses import addresses_of, host_and_port, ip_of, listening_host, with_port
from croupier.runtime.server.grpc_server import MAX_REQUEST_BYTES
from croupier.runtime.server.program import SettingsError

READ_SECONDS = 10
"""Maximum seconds of a unary call that changes nothing, and of a silence in a stream of parts."""
COLLECTOR_FILE = "collector.yaml"
ENDING_STREAMS = frozenset({"GetReplay", "WatchReplay"})
"""The calls whose response is a stream of parts, which ends after the last one."""
WEBSOCKET_PATH = "/v1/tables/[^/:]+/play"
"""A regular expression of the paths at which a table is played by WebSocket."""
OWN_ORIGIN = r"https://.*|http://(localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\])(:\d+)?"
"""A regular expression of the origins that may be the gateway's own; over plain HTTP only those without a name."""


def configuration_files(settings: GatewaySettings, folder: Path | None = None) -> dict[str, bytes]:
    """Return the content of envoy.yaml and, with a folder of secrets, of the files for it, by file name.

    If calls are traced, the configuration of the collector is among them. The web table is left out unless the folder
    is known in which Envoy finds all these files. Raises ValueError for an unusable key, and SettingsError for metrics
    without an administration.
    """
    if settings.metrics_listen and settings.admin_socket is None:
        raise SettingsError("--metrics-listen needs --admin-socket: the metrics are those of Envoy's administration")
    environment = _environment()
    envoy, secret = (environment.get_template(name) for name in ("envoy.yaml.jinja", "secret.yaml.jinja"))
    page = page_files() if settings.web_table and folder is not None else ()
    files = {"envoy.yaml": envoy.render(_values(settings) | _page_values(page, folder))}
    if settings.secrets_folder is not None:
        files |= {f"{values['name']}.yaml": secret.render(values) for values in _secrets(settings)}
    if settings.traces_collector:
        files[COLLECTOR_FILE] = collector_configuration()
    return {name: text.encode() for name, text in files.items()} | page_contents(page)


def collector_configuration() -> str:
    """Return the configuration of the OpenTelemetry Collector that filters Envoy's spans, as YAML."""
    return (Path(__file__).parent / COLLECTOR_FILE).read_text()


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder that exists, and into folders below it."""
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_bytes(content)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        # Values become JSON instead of HTML.
        autoescape=False,  # noqa: S701
        finalize=partial(json.dumps, default=str, ensure_ascii=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["socket_address"] = _socket_address
    environment.filters["listening_address"] = _listening_address
    return environment


def _values(settings: GatewaySettings) -> dict[str, Any]:
    bindings = json_bindings()
    with_body = [binding for binding in bindings if binding.has_body]
    return {
        "settings": settings,
        "upstream": settings.upstream,
        "origin_matchers": _origin_matchers(settings),
        "own_origin": OWN_ORIGIN,
        "address_header": ADDRESS_HEADER,
        "rate_limits": list(_rate_limits(settings)),
        "clusters": list(_clusters(settings)),
        "calls": list(_calls()),
        "json_bindings": bindings,
        "json_methods": sorted({binding.verb for binding in bindings}),
        "body_methods": sorted({binding.verb for binding in with_body}),
        "json_bodies": program(binding.call.input_type for binding in with_body),
        "allowed_methods": allowed_methods(),
        "websocket_path": WEBSOCKET_PATH,
        "open_paths": open_paths(),
        "ambiguous_queries": ambiguous_queries(),
        "services": [service.full_name for service in SERVICES],
        "descriptor_set": base64.b64encode(descriptor_set()).decode(),
        "refusals": REFUSALS,
        "max_headers": MAX_HEADERS,
        "max_header_kibibytes": MAX_HEADER_KIBIBYTES,
        "read_seconds": READ_SECONDS,
        "max_request_bytes": MAX_REQUEST_BYTES,
        "issuer": ISSUER,
        "audience": PLAYER_AUDIENCE,
        "lobby_key_set": _key_set(load_public_key(settings.lobby_public_key)),
    }


def _page_values(page: Sequence[PageFile], folder: Path | None) -> dict[str, Any]:
    """Return the values of the page's routes, none without files."""
    limit = _bucket(KIBIBYTES_PER_SECOND, BURST_KIBIBYTES)
    return {
        "page_routes": list(page_routes(page)),
        "page_headers": PAGE_HEADERS,
        "page_paths": [file.path for file in page],
        "page_folder": folder and folder.absolute() / FOLDER,
        "page_limit": {"ipv4_bits": IPV4_BITS, "ipv6_bits": IPV6_BITS, "bucket": limit},
        "max_page_bytes": max((len(file.content) for file in page), default=0),
    }


def _calls() -> Iterator[dict[str, Any]]:
    """Yield the values of the route of each call."""
    for method in calls():
        level = method.GetOptions().idempotency_level
        yield {
            "method": method,
            "path": call_path(method),
            "cluster": method.containing_service.name.removesuffix("Service").lower(),
            # Its response is a stream without an end of its own.
            "lasts": method.server_streaming and method.name not in ENDING_STREAMS,
            "is_read": level == MethodOptions.NO_SIDE_EFFECTS,
            # The contract allows retries of a call that may have taken effect.
            "is_idempotent": level != MethodOptions.IDEMPOTENCY_UNKNOWN,
        }


def _clusters(settings: GatewaySettings) -> Iterator[dict[str, Any]]:
    """Yield the values of each service, and of the collector of traces, with its addresses, host:port each."""
    services = {"lobby": settings.lobby, "engine": settings.engine, "scoring": settings.scoring}
    for name, text in services.items():
        yield _cluster(name, [{"address": address} for address in addresses_of(text)], service=name)
    yield _cluster("engine_websocket", list(_websocket_endpoints(settings)), service="engine", is_websocket=True)
    if settings.traces_collector:
        yield _cluster("traces", [{"address": settings.traces_collector}])


def _cluster(
    name: str, endpoints: list[dict[str, Any]], *, service: str = "", is_websocket: bool = False
) -> dict[str, Any]:
    # Envoy has to resolve names.
    has_names = any(ip_of(endpoint["address"]) is None for endpoint in endpoints)
    values = {"name": name, "endpoints": endpoints, "has_names": has_names}
    return values | {"service": service, "is_websocket": is_websocket}


def _websocket_endpoints(settings: GatewaySettings) -> Iterator[dict[str, Any]]:
    """Yield the endpoints for WebSockets, each with the port for gRPC of its engine, and its place on their ring."""
    for address, grpc in zip(addresses_of(settings.engine_websocket), addresses_of(settings.engine), strict=True):
        ip, (_, port) = ip_of(grpc), host_and_port(grpc)
        # All addresses of a name would have one place.
        yield {"address": address, "health_port": port, "hash_key": with_port(str(ip), port) if ip else ""}


def _secrets(settings: GatewaySettings) -> Iterator[dict[str, Any]]:
    """Yield the values of each file that names certificates; authorities have no key."""
    if settings.certificate is not None:
        yield {"name": "clients", "certificate": settings.certificate, "key": settings.key}
    if (services := settings.upstream) is not None:
        yield {"name": "gateway", "certificate": services.certificate, "key": services.key}
        yield {"name": "services", "certificate": services.ca, "key": None}


def _rate_limits(settings: GatewaySettings) -> Iterator[dict[str, Any]]:
    """Yield the values of each token bucket of requests, one for each network of so many bits."""
    address = ("address", 32, 64, settings.address_requests_per_second, settings.address_burst)
    network = ("network", IPV4_BITS, IPV6_BITS, settings.network_requests_per_second, settings.network_request_burst)
    for name, ipv4_bits, ipv6_bits, rate, burst in (address, network):
        if rate:
            yield {"name": name, "ipv4_bits": ipv4_bits, "ipv6_bits": ipv6_bits, "bucket": _bucket(rate, burst)}


def _bucket(rate: int, burst: int) -> dict[str, Any]:
    """Return a token bucket of Envoy, which it fills at most ten times a second."""
    tokens = max(rate // 10, 1)
    return {"max_tokens": burst, "tokens_per_fill": tokens, "fill_interval": f"{tokens / rate:.9f}s"}


def _origin_matchers(settings: GatewaySettings) -> list[dict[str, Any]]:
    if "*" in settings.origins:
        return [{"safe_regex": {"regex": ".*"}}]
    return [{"exact": origin} for origin in settings.origins]


def _socket_address(address: str) -> dict[str, Any]:
    host, port = host_and_port(address)
    return {"socket_address": {"address": host, "port_value": port}}


def _listening_address(address: str) -> dict[str, Any]:
    """Return the address of a listener: "::" is all addresses of IPv6, and of IPv4, as for every other server."""
    host, port = host_and_port(address)
    listening = {"address": listening_host(host), "port_value": port}
    return {"socket_address": listening | ({"ipv4_compat": True} if listening["address"] == "::" else {})}


def _key_set(key: Ed25519PublicKey) -> str:
    """Return the lobby's key as a JSON Web Key Set (RFC 8037)."""
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    x = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    return json.dumps({"keys": [{"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "x": x}]})
