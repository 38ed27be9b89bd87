#!/bin/bash
# Builds the image with buildah, which needs neither a Docker engine nor a daemon, and prints its size.
#
# build.sh IMAGE, its name. From the environment: VERSION, for its label; BASE_IMAGE, BUILDER_IMAGE, INDEX_URL, EXTRAS
# and GAMES, arguments of the Dockerfile; FRESH_BASE=1, to pull or make the base again. The bill of materials is
# written to build/image/NAME-TAG.cdx.json.
set -euo pipefail
cd "$(dirname "$0")/.."
image/tools.sh
image=$1
named_base=${BASE_IMAGE:-$(sed -n 's/^ARG BASE_IMAGE=//p' Dockerfile)}
own_base=localhost/croupier-base:bookworm own_builder=localhost/croupier-builder:bookworm

id_of() {
    image/buildah.sh images --quiet --no-trunc "$1" 2>/dev/null || echo none
}

has() {
    image/buildah.sh inspect --type image "$1" >/dev/null 2>&1
}

find_base() {
    if { [ -z "${FRESH_BASE:-}" ] && has "$named_base"; } || timeout 300 image/buildah.sh pull --quiet "$named_base" >/dev/null 2>&1; then
        base=$named_base builder=${BUILDER_IMAGE:-$named_base}
        return
    fi
    if [ -n "${BASE_IMAGE:-}" ]; then
        echo "image: BASE_IMAGE=$BASE_IMAGE cannot be pulled" >&2
        exit 1
    fi
    echo "image: $named_base cannot be pulled from here; $own_base takes its place, which no digest pins: for tests only"
    [ -z "${FRESH_BASE:-}" ] || image/buildah.sh rmi --force "$own_builder" "$own_base" >/dev/null 2>&1 || true
    image/base.sh "$own_base" "$own_builder"
    base=$own_base builder=$own_builder
}

# A machine with a private authority or index has them in these two files. The build uses them; the image contains
# neither.
of_this_machine=()
authorities=/etc/ssl/certs/ca-certificates.crt
[ ! -r "$authorities" ] || of_this_machine+=(--volume "$authorities:$authorities:ro")
[ ! -r /etc/pip.conf ] || of_this_machine+=(--secret id=pip.conf,src=/etc/pip.conf)

find_base
before=$(id_of "$image")
arguments=(--build-arg "BASE_IMAGE=$base" --build-arg "BUILDER_IMAGE=$builder" --build-arg "VERSION=${VERSION:-}"
    --build-arg "REVISION=$(git describe --always --abbrev=40 --dirty --exclude '*' 2>/dev/null || true)" --build-arg "CREATED=$(date --utc +%FT%TZ)")
[ -z "${INDEX_URL:-}" ] || arguments+=(--build-arg "INDEX_URL=$INDEX_URL")
[ -z "${EXTRAS:-}" ] || arguments+=(--build-arg "EXTRAS=$EXTRAS")
[ -z "${GAMES:-}" ] || arguments+=(--build-arg "GAMES=$GAMES")
image/buildah.sh bud --quiet --isolation=chroot --pull-never "${of_this_machine[@]}" "${arguments[@]}" --tag "$image" .
# The image that had the name before would otherwise remain without a name.
if image/buildah.sh images --quiet --no-trunc --filter dangling=true | grep --quiet --line-regexp "$before"; then
    image/buildah.sh rmi "$before" >/dev/null
fi

container=$(image/buildah.sh from --pull-never "$image")
trap 'image/buildah.sh rm "$container" >/dev/null' EXIT
mkdir -p build/image
bill=build/image/$(basename "$image" | tr : -).cdx.json
cp "$(image/buildah.sh mount "$container")/opt/croupier/sbom.cdx.json" "$bill"
size=$(image/buildah.sh images --format '{{.Size}}' "$image")
made=$(image/buildah.sh inspect --type image --format '{{.OCIv1.Created}}' "$base")
echo "image: $image, $size, over $base of ${made%% *}; what it holds: $bill"
