#!/bin/sh
# buildah as everything here uses it: with overlay, which is quick, where the machine can, else with vfs, which copies.
# STORAGE_DRIVER chooses for it.
if [ -z "${STORAGE_DRIVER:-}" ]; then
    buildah --storage-driver=overlay info >/dev/null 2>&1 && STORAGE_DRIVER=overlay || STORAGE_DRIVER=vfs
    export STORAGE_DRIVER
fi
exec buildah "$@"
