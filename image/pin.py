"""Pins the images of others by digest: writes behind each tag the digest that its registry has now.

python3 image/pin.py, where registries answer; it needs skopeo. The digest is that of the index of all platforms.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS = 60
_DIGEST = r"sha256:[0-9a-f]{64}"
_NAME, _TAG = r"[\w./-]+", r"[\w.-]+"
_REFERENCE = re.compile(
    rf"(?P<start>(?:ARG BASE_IMAGE=|\bimage(?:Name)?: )(?P<image>{_NAME}:{_TAG}))(?:@{_DIGEST})?$", re.M
)
"""A whole name, in a Dockerfile or a manifest."""
_REPLACED = re.compile(
    rf"(?P<start>- name: (?P<name>{_NAME})\n(?P<indent> +)newTag: (?P<tag>{_TAG})\n)(?: +digest: {_DIGEST}\n)?"
)
"""An image of a kustomization whose name is not replaced, so that it is one of others."""


def files() -> Iterable[Path]:
    """Return the files that name images."""
    return (ROOT / "Dockerfile", *sorted((ROOT / "k8s").rglob("*.yaml")))


def pinned(text: str, digest_of: Callable[[str], str]) -> str:
    """Return the text with the digests of all images, which are asked for by NAME:TAG."""

    def with_digest(found: re.Match[str]) -> str:
        return f"{found['start']}@{digest_of(found['image'])}"

    def with_line(found: re.Match[str]) -> str:
        digest = digest_of(f"{found['name']}:{found['tag']}")
        return f"{found['start']}{found['indent']}digest: {digest}\n"

    return _REPLACED.sub(with_line, _REFERENCE.sub(with_digest, text))


def digest_in_registry(image: str) -> str:
    """Return the digest; raises CalledProcessError if the registry does not answer or has no such image."""
    command = ["skopeo", "inspect", "--format", "{{.Digest}}", f"docker://{image}"]
    asked = subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)  # noqa: S603
    return asked.stdout.strip()


def main() -> None:
    """Pin every image, and print the files that changed."""
    for file in files():
        before = file.read_text()
        after = pinned(before, digest_in_registry)
        if after != before:
            file.write_text(after)
            sys.stdout.write(f"{file.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
