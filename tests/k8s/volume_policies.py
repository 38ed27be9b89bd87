"""Mounted and read objects exist, and secrets are in Secrets only."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tests.k8s.building import Object
from tests.k8s.objects import (
    ENV,
    FIRST,
    MAIN,
    POD,
    SERVICES,
    Break,
    containers,
    detects,
    each_container,
    environment,
    main_container,
    named,
    of_kind,
    pod,
    quantity,
    strings,
    title,
    with_pods,
)

CERTIFICATE = {"tls.crt", "tls.key", "ca.crt"}
SECRETS: Mapping[str, set[str]] = {
    "lobby-signing-key": {"lobby.private.pem"},
    "engine-signing-key": {"engine.private.pem"},
    "public-keys": {"lobby.public.pem", "engine.public.pem"},
    "postgres-app": {"username", "password", "dbname", "uri"},
    **{f"postgres-{service}": {"username", "password", "uri"} for service in SERVICES},
    "postgres-ca": {"ca.crt"},
    "lobby-tls": CERTIFICATE,
    "engine-tls": CERTIFICATE,
    "scoring-tls": CERTIFICATE,
    "gateway-tls": CERTIFICATE,
    "gateway-certificate": {"tls.crt", "tls.key"},
}
"""Every Secret and its keys; k8s/secrets makes them, CloudNativePG those of the database."""
OWNED_SECRETS = ("tls", "signing-key", "certificate")
"""Secrets of one owner are named OWNER-tls and so on."""
READ_BY_THE_GROUP = 0o440
TEMPORARY = "/tmp"  # noqa: S108 - in a container
WITHOUT_TEMPORARY_FILES = {"reports"}
PASSWORD_IN_A_URL = re.compile(r"\w+://[^\s/:@]*:[^\s/@]+@")
NAME_OF_A_SECRET = re.compile(r"PASSWORD|TOKEN|SECRET(?!S_FOLDER)|CREDENTIAL")


def secrets_of(owner: Object, volume_name: str | None = None) -> list[str]:
    """Return the Secrets of one volume of an object's pods, or of all."""
    found = []
    for volume in pod(owner).get("volumes", []):
        if volume_name in (None, volume["name"]):
            found += [volume["secret"]["secretName"]] if "secret" in volume else []
            sources = volume.get("projected", {}).get("sources", [])
            found += [source["secret"]["name"] for source in sources if "secret" in source]
    return found


@detects(
    Break("Deployment", "engine", f"{POD}/volumes/tls/secret/secretName", "lobby-tls"),
    Break("Deployment", "engine", f"{POD}/volumes/keys/projected/defaultMode"),
    Break("Job", "migrate-", f"{ENV}/CROUPIER_DATABASE/valueFrom/secretKeyRef/key", "url"),
)
def secrets_are_those_that_exist(objects: Sequence[Object]) -> Iterator[str]:
    """Each named Secret and key is one of SECRETS for this owner, and is readable for its group only."""
    for owner in with_pods(objects):
        for name in secrets_of(owner):
            owner_name, _, suffix = name.partition("-")
            if name not in SECRETS or (suffix in OWNED_SECRETS and owner_name != owner["metadata"]["name"]):
                yield f"{title(owner)} mounts the Secret {name}"
        for volume in pod(owner).get("volumes", []):
            source = volume.get("secret") or volume.get("projected")
            security = pod(owner)["securityContext"]
            if source and (
                source.get("defaultMode") != READ_BY_THE_GROUP or security.get("fsGroup") != security["runAsGroup"]
            ):
                yield f"{title(owner)}: {volume['name']} is not readable for its group alone"
    for _, container, label in each_container(objects):
        for variable in container.get("env", []):
            wanted = variable.get("valueFrom", {}).get("secretKeyRef")
            if wanted and wanted["key"] not in SECRETS.get(wanted["name"], set()):
                yield f"{label} reads {wanted['key']} of the Secret {wanted['name']}"


@detects(
    Break("Cluster", "postgres", "spec/managed/roles/engine/passwordSecret/name", "postgres-lobby"),
    Break("Cluster", "postgres", "spec/managed/roles/engine"),
    Break("Job", "migrate-", f"{MAIN}/args/3"),
    Break("Job", "migrate-", f"{ENV}/PGSSLMODE/value", "require"),
    Break("Deployment", "engine", f"{ENV}/CROUPIER_DATABASE/valueFrom/secretKeyRef/name", "postgres-app"),
    Break("Deployment", "engine", f"{ENV}/PGSSLMODE"),
    Break("Deployment", "engine", f"{FIRST}/env/PGSSLROOTCERT/value", "/etc/croupier/ca.crt"),
    Break("Deployment", "engine", f"{FIRST}/env/CROUPIER_DATABASE/valueFrom/secretKeyRef/name", "postgres-lobby"),
    Break("Deployment", "engine", f"{POD}/volumes/postgres-ca/secret/items"),
)
def services_have_roles_of_their_own_in_a_verified_database(objects: Sequence[Object]) -> Iterator[str]:
    """In a database by an operator each service has one role, granted by the Job, and all verify the server."""
    for cluster in of_kind(objects, "Cluster"):
        secret_of_role = {one["name"]: one["passwordSecret"]["name"] for one in cluster["spec"]["managed"]["roles"]}
        if secret_of_role != {service: f"postgres-{service}" for service in SERVICES}:
            yield f"{title(cluster)} has the roles {secret_of_role}"
        job = named(objects, "Job", "migrate-")
        if missing := {f"--grant-to={one}={one}" for one in SERVICES} - set(main_container(job)["args"]):
            yield f"{title(job)} lacks {missing}"
        wanted = {service: f"postgres-{service}" for service in SERVICES}
        for owner in (job, *(named(objects, "Deployment", service) for service in SERVICES)):
            secret = wanted.get(owner["metadata"]["name"], "postgres-app")
            for container in containers(owner):
                given = environment(container)
                if f"'{secret}'" not in given["CROUPIER_DATABASE"]:
                    yield f"{title(owner)}: {container['name']} has the role of another"
                mounts = container["volumeMounts"]
                files = [f"{one['mountPath']}/ca.crt" for one in mounts if one["name"] == "postgres-ca"]
                if given.get("PGSSLMODE") != "verify-full" or given.get("PGSSLROOTCERT") not in files:
                    yield f"{title(owner)}: {container['name']} does not verify the database"
            # The Secret has the authority's key, too.
            (volume,) = (one for one in pod(owner)["volumes"] if one["name"] == "postgres-ca")
            if volume["secret"].get("items") != [{"key": "ca.crt", "path": "ca.crt"}]:
                yield f"{title(owner)} mounts the key of the database's authority"


@detects(
    Break("Deployment", "engine", f"{POD}/volumes/temporary/emptyDir/sizeLimit"),
    Break("Deployment", "engine", f"{MAIN}/volumeMounts/temporary"),
)
def volumes_are_limited_and_temporary_files_possible(objects: Sequence[Object]) -> Iterator[str]:
    """Each emptyDir has a size limit, each container a /tmp; no variables of Services reach a program."""
    for owner in with_pods(objects):
        if pod(owner).get("enableServiceLinks") is not False:
            yield f"{title(owner)} gets variables of Services"
        for volume in pod(owner).get("volumes", []):
            if "emptyDir" in volume and not (volume["emptyDir"] or {}).get("sizeLimit"):
                yield f"{title(owner)}: the volume {volume['name']} has no size limit"
    for _, container, label in each_container(objects):
        mounted = {one["mountPath"] for one in container.get("volumeMounts", [])}
        if TEMPORARY not in mounted and container["name"] not in WITHOUT_TEMPORARY_FILES:
            yield f"{label} has no {TEMPORARY}"


@detects(
    Break("Deployment", "engine", f"{MAIN}/volumeMounts/keys/name", "key"),
    Break("Deployment", "engine", f"{MAIN}/resources/requests/memory", "4Gi"),
    Break("ConfigMap", "load-"),
)
def references_exist(objects: Sequence[Object]) -> Iterator[str]:
    """Volumes, claims and ConfigMaps that containers name exist, and requests are below limits."""
    there = {(one["kind"], one["metadata"]["name"]) for one in objects}
    for owner in with_pods(objects):
        volumes = {volume["name"]: volume for volume in pod(owner).get("volumes", [])}
        templates = {one["metadata"]["name"] for one in owner["spec"].get("volumeClaimTemplates", [])}
        claims = [
            one["persistentVolumeClaim"]["claimName"] for one in volumes.values() if "persistentVolumeClaim" in one
        ]
        wanted = {("PersistentVolumeClaim", claim) for claim in claims}
        for container in containers(owner):
            wanted |= {("ConfigMap", one["configMapRef"]["name"]) for one in container.get("envFrom", [])}
            if unknown := {one["name"] for one in container["volumeMounts"]} - volumes.keys() - templates:
                yield f"{title(owner)}: {container['name']} mounts {unknown}, which is no volume"
            for resource, limit in container["resources"]["limits"].items():
                if quantity(container["resources"]["requests"][resource]) > quantity(limit):
                    yield f"{title(owner)}: {container['name']} requests more {resource} than its limit"
        if missing := wanted - there:
            yield f"{title(owner)} needs {missing}"


@detects(
    Break("Deployment", "engine", f"{ENV}/CROUPIER_DATABASE", {"name": "X", "value": "postgresql://a:b@c/d"}),
    Break("ConfigMap", "dashboards", "kind", "Secret"),
)
def no_secret_is_in_a_manifest(objects: Sequence[Object]) -> Iterator[str]:
    """No object is a Secret, no variable holds one, no text is a private key or a URL with a password."""
    for one in objects:
        if one["kind"] == "Secret" or any(
            PASSWORD_IN_A_URL.search(text) or "PRIVATE KEY" in text for text in strings(one)
        ):
            yield f"{title(one)} holds a secret"
    for _, container, label in each_container(objects):
        for variable in container.get("env", []):
            if NAME_OF_A_SECRET.search(variable["name"]) and "value" in variable:
                yield f"{label}: {variable['name']} is in a manifest"
