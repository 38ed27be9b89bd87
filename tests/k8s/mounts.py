"""The variables of a container on this machine, with folders of keys instead of mounts."""

import shutil
from pathlib import Path

from tests.k8s.building import build
from tests.k8s.objects import container_of, environment, named
from tests.k8s.volume_policies import SECRETS, secrets_of


def mounted(overlay: str, deployment: str, container_name: str, made: Path, folder: Path) -> dict[str, str]:
    """Return the variables of a container of an overlay, whose mounts become folders below `folder`.

    They hold the files of the Secrets that are mounted, from `made`, which `croupier keys --certificates` has filled.
    """
    objects = build(overlay)
    owner, container = named(objects, "Deployment", deployment), container_of(objects, deployment, container_name)
    places = {mount["mountPath"]: folder / mount["name"] for mount in container["volumeMounts"]}
    for place in places.values():
        place.mkdir()
        for secret in secrets_of(owner, place.name):
            source = made / "tls" / deployment if secret.endswith(("-tls", "-certificate", "-ca")) else made
            for key in SECRETS[secret]:
                shutil.copy(source / key, place / key)
    return {name: _here(value, places) for name, value in environment(container).items()}


def _here(value: str, places: dict[str, Path]) -> str:
    """Return the path on this machine of a mount, or of a path in it."""
    folder, _, name = value.rpartition("/")
    if value in places:
        return str(places[value])
    return str(places[folder] / name) if folder in places else value
