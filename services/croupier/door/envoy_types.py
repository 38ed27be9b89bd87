"""How Envoy's configuration names things."""

import base64
from typing import Any, TypeAlias

from croupier.runtime.addresses import host_and_port

Config: TypeAlias = dict[str, Any]
"""A part of Envoy's configuration: what its YAML holds."""

_EXTENSIONS = "type.googleapis.com/envoy.extensions."


def typed(name: str, kind: str, **fields: Any) -> Config:
    """An extension by its name with its own configuration, `kind` being the message's name below envoy.extensions."""
    return {"name": name, "typed_config": {"@type": _EXTENSIONS + kind, **fields}}


def message(kind: str, **fields: Any) -> Config:
    """A message that says its own type."""
    return {"@type": _EXTENSIONS + kind, **fields}


def set_header(key: str, value: str) -> Config:
    """A header that is there with this value and no other."""
    return {"header": {"key": key, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}


def seconds(count: float) -> str:
    """A duration."""
    return f"{count:g}s"


def socket_address(address: str) -> Config:
    """An address host:port to listen on or to connect to."""
    host, port = host_and_port(address)
    return {"socket_address": {"address": host, "port_value": port}}


def base64_text(raw: bytes) -> str:
    """How bytes are written."""
    return base64.b64encode(raw).decode()
