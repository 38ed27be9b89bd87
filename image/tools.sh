#!/bin/sh
# Installs missing programs that build and open images without a Docker engine, from Debian's packages.
set -eu
command -v buildah >/dev/null && command -v debootstrap >/dev/null && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "image: buildah and debootstrap are needed: apt-get install buildah debootstrap as root," \
        "or, with Docker: docker build --tag croupier ." >&2
    exit 2
fi
echo "image: installing buildah and debootstrap from Debian's packages"
apt-get update --quiet --quiet
apt-get install --quiet --quiet --yes --no-install-recommends buildah debootstrap >/dev/null
