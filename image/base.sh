#!/bin/sh
# Makes a base image without a registry: Debian with its own Python, as small as the slim images.
# base.sh BASE BUILDER: the names of two images, the second with pip and venv. Existing images are kept. Packages
# come from the mirrors of this machine's apt, or from DEBIAN_MIRROR and DEBIAN_SECURITY_MIRROR.
set -eu
base=$1 builder=$2
release=bookworm
log=$(mktemp)
trap 'rm -f "$log"' EXIT

new_container() {
    container=$(image/buildah.sh from "$1")
    trap 'rm -f "$log"; image/buildah.sh rm "$container" >/dev/null' EXIT
    root=$(image/buildah.sh mount "$container")
}

be_slim() {
    mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
    # Without flushes to the disk, because an unfinished base is made again.
    printf '%s\n' force-unsafe-io 'path-exclude /usr/share/man/*' 'path-exclude /usr/share/locale/*' \
        'path-exclude /usr/share/doc/*' 'path-include /usr/share/doc/*/copyright' >"$root/etc/dpkg/dpkg.cfg.d/slim"
}

commit() {
    rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/var/cache/debconf/*-old "$root"/var/log/* \
        "$root"/var/lib/dpkg/*-old "$root"/usr/share/man "$root"/usr/share/info "$root"/usr/share/locale \
        "$root"/usr/share/lintian "$root"/tmp/*
    find "$root/usr/share/doc" -type f ! -name copyright -delete
    : >"$root/etc/resolv.conf"
    image/buildah.sh commit --quiet --rm "$container" "$1" >/dev/null
    trap 'rm -f "$log"' EXIT
}

install_in_root() {
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    quietly chroot "$root" sh -ec "export DEBIAN_FRONTEND=noninteractive; apt-get -qq update; apt-get -qq --yes $1"
}

quietly() {
    "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}

if ! image/buildah.sh inspect --type image "$base" >/dev/null 2>&1; then
    mirror=$(image/mirror.sh)
    security=$(image/mirror.sh security)
    echo "image: making $base with debootstrap, which takes about a minute"
    new_container scratch
    be_slim
    quietly debootstrap --variant=minbase --include=python3,ca-certificates "$release" "$root" "$mirror"
    printf 'deb %s %s main\n' "$mirror" "$release" "$mirror" "$release-updates" \
        "$security" "$release-security" >"$root/etc/apt/sources.list"
    install_in_root upgrade
    commit "$base"
fi
if ! image/buildah.sh inspect --type image "$builder" >/dev/null 2>&1; then
    new_container "$base"
    install_in_root "--no-install-recommends install python3-venv"
    commit "$builder"
fi
