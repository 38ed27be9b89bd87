#!/bin/sh
# buildah as everything here uses it: with overlay, which is quick, where the machine can, else with vfs, which copies.
if buildah --storage-driver=overlay info >/dev/null 2>&1; then
    exec buildah --storage-driver=overlay "$@"
fi
exec buildah --storage-driver=vfs "$@"
