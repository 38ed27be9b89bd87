"""TLS to clients and to the services.

With a folder of secrets Envoy is told by files in it which certificates to read, and reads them again when they change;
without one they stand in the configuration itself and are read once.
"""

from pathlib import Path

from croupier.door.envoy_types import Config, message
from croupier.door.settings import DoorSettings
from croupier.runtime.tls import tls_files

_SECRET_KIND = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"  # noqa: S105 - the name of a type
CLIENTS_FILE = "clients.yaml"
DOOR_FILE = "door.yaml"
SERVICES_FILE = "services.yaml"
OLDEST_TLS = "TLSv1_2"


def downstream_tls(settings: DoorSettings) -> Config:
    """What a filter chain needs for TLS to clients; nothing without a certificate."""
    if settings.certificate is None or settings.key is None:
        return {}
    common = {
        **_identity("clients", settings.certificate, settings.key, settings.secrets_folder, CLIENTS_FILE),
        "tls_params": {"tls_minimum_protocol_version": OLDEST_TLS},
        "alpn_protocols": ["h2", "http/1.1"],
    }
    context = message("transport_sockets.tls.v3.DownstreamTlsContext", common_tls_context=common)
    return {
        "transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": context},
        "transport_socket_connect_timeout": "10s",
    }


def upstream_tls(service: str, settings: DoorSettings) -> Config:
    """What a cluster needs for mutual TLS to a service, which its certificate names; nothing without certificates."""
    services = tls_files(settings.upstream)
    if services is None:
        return {}
    common = {
        **_identity("door", services.certificate, services.key, settings.secrets_folder, DOOR_FILE),
        **_authority(service, services.ca, settings.secrets_folder),
        "tls_params": {"tls_minimum_protocol_version": OLDEST_TLS},
        "alpn_protocols": ["h2"],
    }
    context = message("transport_sockets.tls.v3.UpstreamTlsContext", common_tls_context=common, sni=service)
    return {"transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": context}}


def secret_files(settings: DoorSettings) -> dict[str, Config]:
    """What the files of the folder of secrets hold, by their names."""
    files = {}
    if settings.certificate is not None and settings.key is not None:
        files[CLIENTS_FILE] = {"resources": [_certificate_secret("clients", settings.certificate, settings.key)]}
    if (services := tls_files(settings.upstream)) is not None:
        context = _authority_file(services.ca, watched=True)
        authority = {"@type": _SECRET_KIND, "name": "services", "validation_context": context}
        files[DOOR_FILE] = {"resources": [_certificate_secret("door", services.certificate, services.key)]}
        files[SERVICES_FILE] = {"resources": [authority]}
    return files


def _identity(name: str, certificate: Path, key: Path, folder: Path | None, file: str) -> Config:
    if folder is None:
        return {"tls_certificates": [_certificate_files(certificate, key)]}
    return {"tls_certificate_sds_secret_configs": [_told_by(name, folder / file)]}


def _authority(service: str, ca: Path, folder: Path | None) -> Config:
    names = [{"san_type": "DNS", "matcher": {"exact": service}}]
    if folder is None:
        return {"validation_context": {**_authority_file(ca, watched=False), "match_typed_subject_alt_names": names}}
    return {
        "combined_validation_context": {
            "default_validation_context": {"match_typed_subject_alt_names": names},
            "validation_context_sds_secret_config": _told_by("services", folder / SERVICES_FILE),
        }
    }


def _told_by(name: str, file: Path) -> Config:
    source = {"path_config_source": {"path": str(file)}, "resource_api_version": "V3"}
    return {"name": name, "sds_config": source}


def _certificate_secret(name: str, certificate: Path, key: Path) -> Config:
    files = _certificate_files(certificate, key)
    return {"@type": _SECRET_KIND, "name": name, "tls_certificate": {**files, **_watched(certificate)}}


def _certificate_files(certificate: Path, key: Path) -> Config:
    return {"certificate_chain": _whole(certificate), "private_key": _whole(key)}


def _authority_file(ca: Path, watched: bool) -> Config:
    return {"trusted_ca": _whole(ca), **(_watched(ca) if watched else {})}


def _watched(file: Path) -> Config:
    return {"watched_directory": {"path": str(file.absolute().parent)}}


def _whole(file: Path) -> Config:
    return {"filename": str(file.absolute())}
