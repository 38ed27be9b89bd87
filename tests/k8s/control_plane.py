"""A control plane of Kubernetes on loopback: etcd and the API server, which take objects and start none of them."""

import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from rehearsal.manifests import Object

PROGRAMS = ("etcd", "kube-apiserver", "kubectl")
START_SECONDS = 120
TOKEN = "of-a-server-that-lives-for-one-test"


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


def _keys(folder: Path) -> None:
    """The pair that the API server signs and checks its tokens with."""
    key = ec.generate_private_key(ec.SECP256R1())
    (folder / "accounts.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    (folder / "accounts.pub").write_bytes(
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def _etcd(folder: Path, port: int) -> Sequence[str]:
    clients, peers = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{_free_port()}"
    return (
        "etcd",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--unsafe-no-fsync",
    )


def _api_server(folder: Path, port: int, etcd: int) -> Sequence[str]:
    (folder / "tokens").write_text(f"{TOKEN},test,test,system:masters\n")
    return (
        "kube-apiserver",
        f"--etcd-servers=http://127.0.0.1:{etcd}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--secure-port={port}",
        f"--cert-dir={folder}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=RBAC",
        f"--token-auth-file={folder / 'tokens'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={folder / 'accounts.pub'}",
        f"--service-account-signing-key-file={folder / 'accounts.pem'}",
    )


def _kubectl(folder: Path, port: int) -> Sequence[str]:
    server = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(folder / "apiserver.crt")}
    configuration = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": server}],
        "users": [{"name": "test", "user": {"token": TOKEN}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }
    (folder / "kubeconfig").write_text(yaml.safe_dump(configuration))
    return "kubectl", f"--kubeconfig={folder / 'kubeconfig'}"


@contextmanager
def control_plane(folder: Path) -> Iterator[Sequence[str]]:
    """The words that begin every kubectl command to a control plane of its own, which keeps its files in a folder."""
    _keys(folder)
    etcd, port = _free_port(), _free_port()
    commands = (_etcd(folder, etcd), _api_server(folder, port, etcd))
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            with (folder / f"{command[0]}.log").open("wb") as log:
                started.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT))
        kubectl = _kubectl(folder, port)
        _await_ready(kubectl, started[-1], folder / "kube-apiserver.log")
        yield kubectl
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def _await_ready(kubectl: Sequence[str], server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while subprocess.run([*kubectl, "get", "--raw", "/readyz"], capture_output=True, check=False).returncode != 0:
        if server.poll() is not None or time.monotonic() > until:
            raise AssertionError(f"the API server does not get ready: {log.read_text()[-2000:]}")
        time.sleep(0.5)


def definition(thing: Object) -> Object:
    """A definition under which the API server takes an object of an operator, whatever is in it."""
    group, version = thing["apiVersion"].split("/")
    kind, plural = thing["kind"], f"{thing['kind'].lower()}s"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "scope": "Namespaced",
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}],
        },
    }
