"""What only a cluster gives, and what stands in for it here: addresses, names, mounts, images.

Everything that is substituted is substituted in this file.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rehearsal.manifests import CannotRehearse
from rehearsal.plan import Container, Key, PodPlan

Secrets = Mapping[str, Mapping[str, bytes]]
"""The files of Secrets and ConfigMaps, by name and file."""

DOOR_SETTINGS: Mapping[str, str] = {
    # Two doors have one loopback here, so that each is told where its own administration is.
    "CROUPIER_ADMIN_LISTEN": "127.0.0.1:7709",
    # All players come from one address.
    "CROUPIER_ADDRESS_REQUESTS_PER_SECOND": "0",
}
"""Variables that the door has here beyond those of the overlay."""
_OF_THIS_PROCESS = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")


@dataclass(frozen=True, slots=True)
class Site:
    """Where one pod lives: an address of its own, a folder for its volumes, and whom it asks for names."""

    address: str
    folder: Path
    resolver: str
    envoy: Path

    def command(self, container: Container) -> list[str]:
        """The command line of a container."""
        program, *rest = container.command or _entrypoint(container.image)
        arguments = [self._placed(one, container.mounts) for one in (*rest, *container.arguments)]
        if program == "/usr/local/bin/envoy":
            return [str(self.envoy), *arguments, "--config-yaml", json.dumps(envoy_names(self.resolver))]
        return [*_PROGRAMS.get(program, (program,)), *arguments]

    def environment(self, container: Container, secrets: Secrets) -> dict[str, str]:
        """The variables of a container, with those without which no program of this machine runs."""
        own = {name: os.environ[name] for name in _OF_THIS_PROCESS if name in os.environ}
        given = {**container.environment, **(DOOR_SETTINGS if container.arguments[:2] == ("door", "config") else {})}
        # What comes out of a Secret stays as it is: who made it knew where it would be used.
        here = {
            name: self._placed(value, container.mounts) if isinstance(value, str) else _entry(value, secrets).decode()
            for name, value in given.items()
        }
        temporary = self._placed("/tmp", container.mounts)  # noqa: S108 - the container's own
        return {**own, "HOME": temporary, "TMPDIR": temporary, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1", **here}

    def probe_command(self, container: Container, command: Sequence[str]) -> list[str]:
        """A command that the kubelet runs in a container."""
        return [self._placed(one, container.mounts) for one in command]

    def make_volumes(self, pod: PodPlan, secrets: Secrets) -> None:
        """Make the folders of all volumes, with the files of Secrets and ConfigMaps in them."""
        for volume, sources in pod.volumes.items():
            folder = self.folder / volume
            folder.mkdir(parents=True, mode=0o700)
            for source in sources:
                for name, content in _found(source, secrets).items():
                    (folder / name).write_bytes(content)

    def _placed(self, text: str, mounts: Mapping[str, str]) -> str:
        """A text of a container as it is to be here: its addresses, names and paths."""
        text = text.replace("0.0.0.0:", f"{self.address}:").replace("127.0.0.1:", f"{self.address}:")
        text = text.replace("dns:///", f"dns://{self.resolver}/")
        for path in sorted(mounts, key=len, reverse=True):
            if text == path or text.startswith(f"{path}/"):
                return str(self.folder / mounts[path]) + text[len(path) :]
        return text


_PROGRAMS: Mapping[str, Sequence[str]] = {
    "python": (sys.executable,),
    "croupier": (sys.executable, "-m", "croupier.cli"),
}


def _entrypoint(image: str) -> tuple[str, ...]:
    name = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    if name != "croupier":
        raise CannotRehearse(f"what {image} starts by itself is not known here")
    return ("croupier",)


def envoy_names(resolver: str) -> Mapping[str, object]:
    """What Envoy is told beside its configuration: whom to ask for names."""
    host, _, port = resolver.rpartition(":")
    return {
        "typed_dns_resolver_config": {
            "name": "envoy.network.dns_resolver.cares",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig",
                "resolvers": [{"socket_address": {"address": host, "port_value": int(port)}}],
                "dns_resolver_options": {"no_default_search_domain": True},
            },
        }
    }


def _found(name: str, secrets: Secrets) -> Mapping[str, bytes]:
    if name not in secrets:
        raise CannotRehearse(f"the Secret or ConfigMap {name} is asked for, and nobody makes it")
    return secrets[name]


def _entry(key: Key, secrets: Secrets) -> bytes:
    entries = _found(key.source, secrets)
    if key.name not in entries:
        raise CannotRehearse(f"{key.name} of {key.source} is asked for, which has {', '.join(entries) or 'nothing'}")
    return entries[key.name]
