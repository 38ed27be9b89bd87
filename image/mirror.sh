#!/bin/sh
# Prints the mirror of Debian in this machine's configuration of apt, or DEBIAN_MIRROR.
# mirror.sh [security]: the mirror of security updates, or DEBIAN_SECURITY_MIRROR.
set -eu
. /etc/os-release
case ${1:-} in
    security) variable=DEBIAN_SECURITY_MIRROR given=${DEBIAN_SECURITY_MIRROR:-} release=$VERSION_CODENAME-security ;;
    *) variable=DEBIAN_MIRROR given=${DEBIAN_MIRROR:-} release=$VERSION_CODENAME ;;
esac
if [ -z "$given" ] && [ "$ID" = debian ]; then
    given=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Release: $release" 'Component: main' | head -n 1)
fi
if [ -z "$given" ]; then
    echo "mirror: apt of this machine has no packages of Debian ($release); name a mirror of them in $variable" >&2
    exit 1
fi
echo "$given"
