"""The variables that a service gets from those of its supervisor: only those that it needs."""

from collections.abc import Mapping

from croupier.cli.launcher.replicas import GATEWAY

DATABASE_VARIABLE = "CROUPIER_DATABASE"
_NAMES = frozenset(("PATH", "HOME", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH"))
_PREFIXES = ("CROUPIER_", "LC_", "PYTHON", "GRPC_", "MALLOC_", "OTEL_", "SSL_CERT_")
_POSTGRESQL = "PG"
"""The prefix of the variables that the driver reads, such as PGPASSFILE and PGSSLROOTCERT."""


def child_environment(inherited: Mapping[str, str], service: str, database: str) -> dict[str, str]:
    """Return the environment of a service or the gateway, which gets neither the database's URL nor its passwords."""
    prefixes = _PREFIXES if service == GATEWAY else (*_PREFIXES, _POSTGRESQL)
    kept = {name: value for name, value in inherited.items() if name in _NAMES or name.startswith(prefixes)}
    if service == GATEWAY:
        kept.pop(DATABASE_VARIABLE, None)
        return kept
    return kept | {DATABASE_VARIABLE: database}
