"""What stands in for a cluster: an address for each pod, names by a resolver of our own, folders for mounts."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rehearsal.manifests import CannotRehearse
from rehearsal.plan import Container
from rehearsal.site import Site
from tests.rehearsal.small import engine

RESOLVER = "127.9.9.1:5353"
SECRETS = {"postgres-app": {"uri": b"postgresql://u:p@127.0.0.1:5/x"}, "engine-tls": {"tls.key": b"k"}}
DOOR = Container(
    name="door",
    image="envoyproxy/envoy:1",
    command=("/usr/local/bin/envoy",),
    arguments=("--config-path", "/etc/envoy/envoy.yaml"),
    environment={},
    mounts={"/etc/envoy": "configuration"},
)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Where a pod lives."""
    return Site("127.9.9.7", tmp_path, RESOLVER, Path("/opt/envoy"))


def test_an_image_starts_what_is_installed_here(site: Site) -> None:
    (container,) = engine().pod.containers
    assert site.command(container) == [sys.executable, "-m", "croupier.cli", "serve", "engine"]
    beside = replace(container, command=("python", "-m", "croupier.door.drain"), arguments=("127.0.0.1:7709", "20"))
    assert site.command(beside) == [sys.executable, "-m", "croupier.door.drain", "127.9.9.7:7709", "20"]


def test_envoy_is_the_one_of_this_machine_and_asks_our_resolver(site: Site, tmp_path: Path) -> None:
    program, _, file, flag, more = site.command(DOOR)
    assert (program, file) == ("/opt/envoy", str(tmp_path / "configuration" / "envoy.yaml"))
    assert flag == "--config-yaml"
    assert '"address": "127.9.9.1", "port_value": 5353' in more


def test_addresses_names_and_paths_become_those_of_the_pod(site: Site, tmp_path: Path) -> None:
    (container,) = engine().pod.containers
    found = site.environment(container, SECRETS)
    assert found["CROUPIER_LISTEN"] == "127.9.9.7:7720"
    assert found["CROUPIER_SCORING_CONTROL"] == f"dns://{RESOLVER}/scoring:7731"
    assert found["CROUPIER_TLS_KEY"] == str(tmp_path / "tls" / "tls.key")
    assert found["TMPDIR"] == str(tmp_path / "temporary")


def test_what_a_secret_says_stays_as_it_is(site: Site) -> None:
    (schema,) = engine().pod.initial
    assert site.environment(schema, SECRETS)["CROUPIER_DATABASE"] == "postgresql://u:p@127.0.0.1:5/x"


def test_variables_of_whoever_rehearses_are_not_those_of_pods(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROUPIER_MOST_STREAMS", "1")
    assert "CROUPIER_MOST_STREAMS" not in site.environment(DOOR, SECRETS)


def test_volumes_have_the_files_of_their_secrets(site: Site, tmp_path: Path) -> None:
    pod = replace(engine().pod, volumes={"tls": ("engine-tls",), "temporary": ()})
    site.make_volumes(pod, SECRETS)
    assert (tmp_path / "tls" / "tls.key").read_bytes() == b"k"
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_secret_that_nobody_makes_is_told(site: Site) -> None:
    with pytest.raises(CannotRehearse, match="engine-tls is asked for, and nobody makes it"):
        site.make_volumes(replace(engine().pod, volumes={"tls": ("engine-tls",)}), {})


def test_an_entry_that_its_secret_has_not_is_told(site: Site) -> None:
    (schema,) = engine().pod.initial
    with pytest.raises(CannotRehearse, match="uri of postgres-app is asked for, which has url"):
        site.environment(schema, {"postgres-app": {"url": b"x"}})


def test_an_image_of_others_is_told(site: Site) -> None:
    with pytest.raises(CannotRehearse, match="what redis:7 starts"):
        site.command(replace(DOOR, image="redis:7", command=()))
