"""Images of others are named by an exact version, and `image/pin.py` adds their digests."""

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PINNED = """ARG BASE_IMAGE=python:3.11.16-slim-trixie@sha256:{python}
ARG BUILDER_IMAGE=${{BASE_IMAGE}}
          image: otel/opentelemetry-collector-k8s:0.159.0@sha256:{otel}
  imageName: ghcr.io/cloudnative-pg/postgresql:17.11-standard-trixie@sha256:{cnpg}
          image: croupier
images:
  - name: croupier
    newName: registry.example.org/croupier
    newTag: 0.1.0
  - name: envoyproxy/envoy
    newTag: distroless-v1.40.0
    digest: sha256:{envoy}
  - name: postgres
    newTag: 17.11-trixie
    digest: sha256:{postgres}
"""
DIGESTS = {
    "python:3.11.16-slim-trixie": "1" * 64,
    "otel/opentelemetry-collector-k8s:0.159.0": "2" * 64,
    "ghcr.io/cloudnative-pg/postgresql:17.11-standard-trixie": "3" * 64,
    "envoyproxy/envoy:distroless-v1.40.0": "4" * 64,
    "postgres:17.11-trixie": "5" * 64,
}


@pytest.fixture(scope="module")
def pin() -> ModuleType:
    """Load the program, which is in no package."""
    spec = importlib.util.spec_from_file_location("pin", ROOT / "image" / "pin.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def digest_of(image: str) -> str:
    return f"sha256:{DIGESTS[image]}"


def test_every_image_of_others_gets_the_digest_of_its_tag(pin: ModuleType) -> None:
    pinned: Callable[..., str] = pin.pinned
    names = dict(zip(("python", "otel", "cnpg", "envoy", "postgres"), DIGESTS.values(), strict=True))
    after = PINNED.format(**names)
    old = PINNED.format(**dict.fromkeys(names, "0" * 64))
    without = re.sub(r"@sha256:0+|\n *digest: sha256:0+", "", old)
    for text in (old, without, after):
        assert pinned(text, digest_of) == after


def test_images_of_others_have_an_exact_version(pin: ModuleType) -> None:
    asked: list[str] = []

    def record(image: str) -> str:
        asked.append(image)
        return f"sha256:{'0' * 64}"

    texts = [file.read_text() for file in pin.files()]
    for text in texts:
        pin.pinned(text, record)
    assert {image.partition(":")[0] for image in asked} >= {"python", "postgres", "envoyproxy/envoy"}
    for image in asked:
        assert re.search(r":[\w-]*?\d+\.\d+", image), image
    pins = re.findall(r"sha256:\w+", "".join(texts))
    assert len(pins) >= 3
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in pins)
